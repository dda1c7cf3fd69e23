"""From a state to its end, and blocks of games with their counters."""

from typing import Any

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import BUY, GOLD_FOR, PAY, RESERVE
from splendor_sim.core.counters import count_game
from splendor_sim.core.engine import (
    KEYED,
    apply,
    apply_main,
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
    visit,
)
from splendor_sim.core.jit import kernel, nth_bit, popcount
from splendor_sim.core.policies import RANDOM, choose
from splendor_sim.core.rng import AGENT, DEAL, GAMMA, below, mix, stream_of
from splendor_sim.core.state import OVER, PAYING

_ONE = np.uint64(1)
_LANES = 3  # games that play_random_block has under way together

# What goes with a game under way, outside its state. A record, since slices of arrays would be counted as references.
_GAME_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("streams", "u8", (4,)),  # by seat: the agent's random stream
                ("reserves", "i8", (4,)),  # by seat: reserve decisions so far
                ("index", "i8"),  # of the game in its run
                ("chosen", "i8"),  # the main decision of this turn
            ]
        ),
    )
)


def block_kernel(policies: Any) -> Any:
    """Return the kernel that plays blocks for these policies (int64[players]): both play the same games."""
    return play_random_block if all(policy == RANDOM for policy in policies) else play_any_block


@kernel
def play_any_block(template, policies, seed, first, count, rotate, max_turns, totals, turn_counts):
    """Play games `first` to `first + count - 1` of a run and add them to the totals.

    template: STATE_DTYPE[1] with players and rules filled in. policies: int64[players], by agent. seed: uint64.
    rotate: agent a sits at seat (game + a) % players, else at seat a. totals: TOTALS_DTYPE[1].
    turn_counts: int64[max_turns + 1].
    """
    states = template.copy()
    games = np.empty(1, _GAME_DTYPE)
    s, game = states[0], games[0]
    players = np.int64(s.players)
    clear(s)
    cleared = states.copy()
    for index in range(first, first + count):
        first_agent = index % players if rotate else 0
        states[0] = cleared[0]
        start(s, game, seed, index)
        while s.phase != OVER and s.turn < max_turns:
            seat = np.int64(s.to_move)
            agent = seat - first_agent
            if agent < 0:
                agent += players
            action = choose(policies[agent], s, next_word(game, seat))
            if RESERVE <= action < BUY:
                game.reserves[seat] += 1
            apply(s, action, KEYED)
        count_game(s, first_agent, game.reserves, totals[0], turn_counts)


@kernel(inline=False)
def start(s, game, seed, index):
    """Lay out game `index` of a run in a cleared state and start its agents' streams and its counts."""
    lay_out(s, stream_of(seed, index, DEAL))
    game.index = index
    for seat in range(np.int64(s.players)):
        game.streams[seat] = stream_of(seed, index, AGENT + seat)
        game.reserves[seat] = 0


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
def play_random_block(template, policies, seed, first, count, rotate, max_turns, totals, turn_counts):
    """Play a block as play_any_block does, all agents being random.

    A lane whose game has ended goes on with the next game of the block, so that every game is played to its end,
    short or long; past the block's last game it plays on uncounted until the others are done.
    """
    lanes = min(_LANES, count)
    states = np.empty(lanes + 1, template.dtype)
    games = np.empty(lanes, _GAME_DTYPE)
    states[lanes] = template[0]
    clear(states[lanes])
    players = np.int64(template[0].players)
    for lane in range(lanes):
        states[lane] = states[lanes]
        start(states[lane], games[lane], seed, first + lane)
    next_index = first + lanes
    left = count
    while left > 0:
        for lane in range(lanes):
            s, game = states[lane], games[lane]
            seat = np.int64(s.to_move)
            game.chosen = random_bit(legal_main(s, seat), next_word(game, seat))
        for lane in range(lanes):
            apply_counted(states[lane], games[lane])
        for lane in range(lanes):
            s, game = states[lane], games[lane]
            finish_turn_randomly(s, game)
            if s.phase == OVER or s.turn >= max_turns:
                if game.index < first + count:
                    first_agent = game.index % players if rotate else 0
                    count_game(s, first_agent, game.reserves, totals[0], turn_counts)
                    left -= 1
                states[lane] = states[lanes]
                start(s, game, seed, next_index)
                next_index += 1


@kernel
def apply_counted(s, game):
    """Apply the chosen main decision and count it."""
    seat = np.int64(s.to_move)
    action = game.chosen
    game.reserves[seat] += np.int64((action >= RESERVE) & (action < BUY))  # no branch: it could not be predicted
    apply_main(s, seat, action, KEYED)


@kernel
def random_bit(mask, word):
    """The position of a set bit of a mask, chosen uniformly by a random word."""
    return nth_bit(mask, below(word, np.uint64(popcount(mask))))


@kernel
def finish_turn_randomly(s, game):
    """Do all small decisions of a turn, each uniformly, and end the turn."""
    seat = np.int64(s.to_move)
    while s.phase == PAYING:
        decision = GOLD_FOR + random_bit(legal_payments(s, seat), next_word(game, seat))
        if decision == PAY:
            finish_payment(s, seat)
        else:
            s.pending_gold += gems.one(decision - GOLD_FOR)
    while must_return(s, seat):
        held = gems.colours_with(s.tokens[seat], _ONE)
        give_back(s, seat, random_bit(held, next_word(game, seat)))
    if noble_choice(s, seat):
        visit(s, seat, random_bit(qualifying(s, seat), next_word(game, seat)))
    end_turn(s)
