"""From a state to its end, and blocks of games with their counters."""

from typing import Any

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import BUY, GOLD_FOR, NOBLE, PASS, PAY, RESERVE, RETURN
from splendor_sim.core.balance import (
    count_decision,
    count_end,
    count_main,
    count_purchase,
    count_reserve,
    count_visit,
)
from splendor_sim.core.counters import count_game, record_game
from splendor_sim.core.engine import (
    KEYED,
    apply,
    apply_main,
    buy,
    clear,
    end_turn,
    finish_payment,
    give_back,
    lay_out,
    legal_main,
    legal_payments,
    must_return,
    noble_choice,
    qualifying,
    reserve,
    take,
    visit,
)
from splendor_sim.core.jit import kernel, nth_bit, popcount
from splendor_sim.core.policies import RANDOM, choose_noisily
from splendor_sim.core.rng import AGENT, DEAL, GAMMA, below, mix, stream_of
from splendor_sim.core.settings import SEARCH
from splendor_sim.core.state import MAIN, OVER, PAYING

_ONE = np.uint64(1)
_LANES = 3  # games that play_random_block has under way together

# What goes with a game under way, outside its state. A record, since slices of arrays would be counted as references.
GAME_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("streams", "u8", (4,)),  # by seat: the agent's random stream
                ("reserves", "i8", (4,)),  # by seat: reserve decisions so far
                ("returned", "i8", (4,)),  # by seat: tokens returned so far; counted for the balance counters alone
                ("gold_paid", "i8", (4,)),  # by seat: gold paid so far; counted for the balance counters alone
                ("index", "i8"),  # of the game in its run
                ("agents", "i8", (4,)),  # by seat: which agent sits there
                ("sink", "i8"),  # which record of the balance counters it is counted in
                ("chosen", "i8"),  # the main decision of this turn
            ]
        ),
    )
)


def block_kernel(settings: Any) -> Any:
    """Return the kernel that plays blocks for such agents (SETTINGS_DTYPE[agents]): all play the same games."""
    policies = settings["policy"].tolist()
    if SEARCH in policies:
        from splendor_sim.core.search_block import play_search_block  # is compiled for those alone who ask for it

        return play_search_block
    return play_random_block if all(policy == RANDOM for policy in policies) else play_any_block


@kernel
def play_any_block(
    template, settings, seed, first, count, orders, paired, max_turns, totals, turn_counts, balance, records
):
    """Play games `first` to `first + count - 1` of a run and add them to the totals.

    template: STATE_DTYPE[1] with players and rules filled in. settings: SETTINGS_DTYPE[agents]. seed: uint64.
    orders: int64[k, players], the agents by seat, which the games go through in turn. paired: k games in succession,
    all orders, have one deal. totals: TOTALS_DTYPE[1]. turn_counts: int64[max_turns + 1].
    balance: BALANCE_DTYPE[2], of which the first is added to, or None.
    records: RECORD_DTYPE[count], one a game in the order of their indices, or None.
    """
    states = template.copy()
    games = np.empty(1, GAME_DTYPE)
    s, game = states[0], games[0]
    clear(s)
    cleared = states.copy()
    seated = pack_orders(orders)
    k = len(seated)
    for index in range(first, first + count):
        states[0] = cleared[0]
        start(s, game, seed, index, seated[index % k], index // k if paired else index)
        game.sink = 0
        while s.phase != OVER and s.turn < max_turns:
            seat = np.int64(s.to_move)
            agent = settings[game.agents[seat]]
            action = choose_noisily(agent.policy, agent.epsilon, s, next_word(game, seat))
            if balance is None:
                if RESERVE <= action < BUY:
                    game.reserves[seat] += 1
                apply(s, action, KEYED)
            else:
                apply_with_balance(s, game, seat, action, balance[0])
        end_game(s, game, totals, turn_counts, balance, records, first)


@kernel
def apply_with_balance(s, game, seat, action, b):
    """Apply a decision of any kind and count it."""
    turn = np.int64(s.turn)
    visited = s.visited[seat]
    gold = np.int64(gems.gold(s.tokens[seat]))
    if s.phase == MAIN:
        count_main(b, s, game, seat, action)
    else:
        count_decision(b, s, game, seat, action)
    if BUY <= action < PASS:
        count_purchase(b, s, game, seat, action)
    apply(s, action, KEYED)
    if RESERVE <= action < BUY:
        game.reserves[seat] += 1
        count_reserve(b, s, seat, action)
    elif BUY <= action < PASS or action == PAY:
        game.gold_paid[seat] += gold - np.int64(gems.gold(s.tokens[seat]))
    elif RETURN <= action < NOBLE:
        game.returned[seat] += 1
    count_visit(b, game, seat, s.visited[seat] ^ visited, turn)


@kernel(inline=False)
def pack_orders(orders):
    """The agents by seat of each order, a byte a seat from the lowest on: int64[k].

    A loop over games then passes numbers alone; arrays would be counted as references.
    """
    seated = np.zeros(len(orders), np.int64)
    for order in range(len(orders)):
        for seat in range(orders.shape[1]):
            seated[order] |= orders[order, seat] << (8 * seat)
    return seated


@kernel(inline=False)
def start(s, game, seed, index, seated, deal):
    """Lay out a deal in a cleared state as game `index` of a run, and start its agents' streams and its counts.

    seated: the agents by seat as `pack_orders` packs them.
    """
    lay_out(s, stream_of(seed, deal, DEAL))
    game.index = index
    for seat in range(np.int64(s.players)):
        game.agents[seat] = (seated >> (8 * seat)) & 255
        game.streams[seat] = stream_of(seed, index, AGENT + seat)
        game.reserves[seat] = 0
        game.returned[seat] = 0
        game.gold_paid[seat] = 0


@kernel(inline=False)
def end_game(s, game, totals, turn_counts, balance, records, first):
    """Count and record a game that is over or truncated; `first` is the index of the block's first game."""
    count_game(s, game.agents, game.reserves, totals[0], turn_counts)
    if balance is not None:
        count_end(balance[0], s, game)
    if records is not None:
        record_game(s, game, records[game.index - first])


@kernel
def next_word(game, seat):
    """The next random word of a seat's stream: one a decision."""
    game.streams[seat] += GAMMA
    return mix(game.streams[seat])


# --- Random play, fast -----------------------------------------------------------------------------------------------
# The same games as play_any_block with random agents, in less time. Several games are under way, and each stage of a
# turn is done for all of them before the next stage: the choices, which wait on long chains of arithmetic, overlap, and
# the branches that no processor can predict come after them.


@kernel
def play_random_block(
    template, settings, seed, first, count, orders, paired, max_turns, totals, turn_counts, balance, records
):
    """Play a block as play_any_block does, all agents being random.

    A lane whose game has ended goes on with the next game of the block, so that every game is played to its end,
    short or long; past the block's last game it plays on uncounted until the others are done.
    """
    lanes = min(_LANES, count)
    states = np.empty(lanes + 1, template.dtype)
    games = np.empty(lanes, GAME_DTYPE)
    states[lanes] = template[0]
    clear(states[lanes])
    seated = pack_orders(orders)
    k = len(seated)
    for lane in range(lanes):
        states[lane] = states[lanes]
        index = first + lane
        start(states[lane], games[lane], seed, index, seated[index % k], index // k if paired else index)
        games[lane].sink = 0
    next_index = first + lanes
    left = count
    while left > 0:
        for lane in range(lanes):
            s, game = states[lane], games[lane]
            seat = np.int64(s.to_move)
            game.chosen = random_bit(legal_main(s, seat), next_word(game, seat))
        for lane in range(lanes):
            game = games[lane]
            apply_chosen(states[lane], game, None if balance is None else balance[game.sink])
        for lane in range(lanes):
            s, game = states[lane], games[lane]
            finish_turn_randomly(s, game, None if balance is None else balance[game.sink])
            if s.phase == OVER or s.turn >= max_turns:
                if game.index < first + count:
                    end_game(s, game, totals, turn_counts, balance, records, first)
                    left -= 1
                states[lane] = states[lanes]
                start(s, game, seed, next_index, seated[next_index % k], next_index // k if paired else next_index)
                game.sink = np.int64(next_index >= first + count)
                next_index += 1


@kernel
def apply_chosen(s, game, b):
    """Apply the chosen main decision and count it."""
    seat = np.int64(s.to_move)
    action = game.chosen
    if b is None:
        game.reserves[seat] += np.int64((action >= RESERVE) & (action < BUY))  # no branch: it could not be predicted
        apply_main(s, seat, action, KEYED)
    else:
        count_main(b, s, game, seat, action)
        if action < RESERVE:
            take(s, seat, action)
        elif action < BUY:
            reserve(s, seat, action - RESERVE, KEYED)
            game.reserves[seat] += 1
            count_reserve(b, s, seat, action)
        elif action < PASS:
            gold = np.int64(gems.gold(s.tokens[seat]))
            count_purchase(b, s, game, seat, action)
            buy(s, seat, action - BUY, KEYED)
            game.gold_paid[seat] += gold - np.int64(gems.gold(s.tokens[seat]))
        else:
            s.passes += 1


@kernel
def random_bit(mask, word):
    """The position of a set bit of a mask, chosen uniformly by a random word."""
    return nth_bit(mask, below(word, np.uint64(popcount(mask))))


@kernel
def finish_turn_randomly(s, game, b):
    """Do all small decisions of a turn, each uniformly, and end the turn."""
    seat = np.int64(s.to_move)
    visited = s.visited[seat]
    if s.phase == PAYING:
        pay_randomly(s, game, seat, b)
    while must_return(s, seat):
        held = gems.colours_with(s.tokens[seat], _ONE)
        colour = random_bit(held, next_word(game, seat))
        if b is not None:
            count_decision(b, s, game, seat, RETURN + colour)
            game.returned[seat] += 1
        give_back(s, seat, colour)
    if noble_choice(s, seat):
        place = random_bit(qualifying(s, seat), next_word(game, seat))
        if b is not None:
            count_decision(b, s, game, seat, NOBLE + place)
        visit(s, seat, place)
    if b is not None:
        count_visit(b, game, seat, s.visited[seat] ^ visited, np.int64(s.turn))
    end_turn(s)


@kernel(inline=False)
def pay_randomly(s, game, seat, b):
    """Go through phase pay, each decision uniformly."""
    gold = np.int64(gems.gold(s.tokens[seat]))
    while s.phase == PAYING:
        choice = random_bit(legal_payments(s, seat), next_word(game, seat))
        if b is not None:
            count_decision(b, s, game, seat, GOLD_FOR + choice)
        if choice == PAY - GOLD_FOR:
            finish_payment(s, seat)
        else:
            s.pending_gold += gems.one(choice)
    game.gold_paid[seat] += gold - np.int64(gems.gold(s.tokens[seat]))
