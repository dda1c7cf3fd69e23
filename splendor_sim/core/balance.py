"""The balance counters: what `statistics="full"` counts beside the totals. Integers alone, so that blocks add up.

Wins are counted in twelfths, so that a win shared by two, three or four seats is a whole number.
"""

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import ACTION_COUNT, BUY, RESERVE_DECK, SLOTS
from splendor_sim.core.cards import CARD_COUNT, CARD_PRESTIGE, NO_CARD, NO_NOBLE, NOBLE_COUNT, NOBLE_PRESTIGE
from splendor_sim.core.engine import hand_place, place_of, winners
from splendor_sim.core.jit import kernel, nth_bit, popcount
from splendor_sim.core.state import OVER

TWELFTHS = 12
STAGES = ("up to 5 cards", "6 to 8 cards", "9 cards and more")  # of the seat that decides, bought before
TURNS = 1024  # turns told apart in `gained`; the last stands for all later ones

_by_agent_and_seat = (4, 4)

# All counts are int64, over all games that were counted. Agents are by their place in the run's list.
BALANCE_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("decisions", "i8", (4, len(STAGES), ACTION_COUNT)),  # [agent, stage, decision id]
                ("bank_colours", "i8", (64,)),  # turns begun with just this set of colours in the bank
                # By agent and seat, sums over games and sums of squares.
                ("turns", "i8", _by_agent_and_seat),
                ("turns_squared", "i8", _by_agent_and_seat),
                ("held", "i8", _by_agent_and_seat),  # tokens held at the end
                ("held_squared", "i8", _by_agent_and_seat),
                ("returned", "i8", _by_agent_and_seat),  # tokens returned
                ("returned_squared", "i8", _by_agent_and_seat),
                ("gold_paid", "i8", _by_agent_and_seat),
                ("gold_paid_squared", "i8", _by_agent_and_seat),
                # By card. What follows from these is not counted again: a card was dealt if it was bought or left over,
                # bonuses and a winner's prestige are sums over cards.
                ("card_left_on_board", "i8", (CARD_COUNT,)),  # at the end
                ("card_left_in_hand", "i8", (CARD_COUNT,)),  # reserved and not bought
                ("card_reserved_open", "i8", (CARD_COUNT,)),
                ("card_reserved_blind", "i8", (CARD_COUNT,)),
                ("card_bought", "i8", (4, 4, CARD_COUNT)),  # [agent, seat, card]
                ("card_won", "i8", (4, 4, CARD_COUNT)),  # twelfths of wins of the seat that had bought it
                ("card_turn", "i8", (CARD_COUNT,)),  # sum over purchases of the turns finished before, of all seats
                ("card_turn_squared", "i8", (CARD_COUNT,)),
                # By noble.
                ("noble_left", "i8", (NOBLE_COUNT,)),  # laid out and still there at the end
                ("noble_visited", "i8", (4, 4, NOBLE_COUNT)),  # [agent, seat, tile]
                ("noble_won", "i8", (4, 4, NOBLE_COUNT)),  # twelfths of wins of the seat that it had visited
                ("noble_turn", "i8", (NOBLE_COUNT,)),  # sum over visits of the turns finished before, of all seats
                ("noble_turn_squared", "i8", (NOBLE_COUNT,)),
                ("gained", "i8", (TURNS,)),  # prestige gained, by the turns finished before
            ]
        ),
    )
)

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_STAGE = np.array([0] * 6 + [1] * 3 + [2] * (CARD_COUNT + 1 - 9))  # by number of bought cards


# --- While a game is played ------------------------------------------------------------------------------------------
# `b` is a record of BALANCE_DTYPE, `game` one of playout.GAME_DTYPE.


@kernel
def count_decision(b, s, game, seat, action):
    """Count a decision that is about to be applied."""
    b.decisions[game.agents[seat], _STAGE[s.bought[seat]], action] += 1


@kernel
def count_main(b, s, game, seat, action):
    """Count a main decision that is about to be applied, and the turn that begins with it."""
    count_decision(b, s, game, seat, action)
    b.bank_colours[gems.colours_with(s.bank, _ONE)] += 1


@kernel
def count_reserve(b, s, seat, action):
    """Count the card that has just been reserved."""
    card = s.card_at[hand_place(seat, np.int64(s.reserved_count[seat]) - 1)]
    if action < RESERVE_DECK:
        b.card_reserved_open[card] += 1
    else:
        b.card_reserved_blind[card] += 1


@kernel
def count_purchase(b, s, game, seat, action):
    """Count the card that is about to be bought."""
    card = s.card_at[place_of(seat, action - BUY)]
    turn = np.int64(s.turn)
    b.card_bought[game.agents[seat], seat, card] += 1
    b.card_turn[card] += turn
    b.card_turn_squared[card] += turn * turn
    b.gained[min(turn, TURNS - 1)] += np.int64(CARD_PRESTIGE[card])


@kernel
def count_visit(b, game, seat, new, turn):
    """Count the visit of a noble after so many finished turns; `new` is the set of its tile, empty if none came."""
    if new != 0:
        tile = nth_bit(np.uint64(new), _ZERO)
        b.noble_visited[game.agents[seat], seat, tile] += 1
        b.noble_turn[tile] += turn
        b.noble_turn_squared[tile] += turn * turn
        b.gained[min(turn, TURNS - 1)] += NOBLE_PRESTIGE


# --- When it has ended -----------------------------------------------------------------------------------------------


@kernel(inline=False)
def count_end(b, s, game):
    """Count what there is at the end of a game, or when it is truncated."""
    players = np.int64(s.players)
    won = winners(s) if s.phase == OVER else 0
    share = 0
    if won != 0:
        share = TWELFTHS // popcount(np.uint64(won))
    count_left(b, s)
    for seat in range(players):
        agent = game.agents[seat]
        mine = share * ((won >> seat) & 1)
        turns = (np.int64(s.turn) + players - 1 - seat) // players
        held = np.int64(gems.total(s.tokens[seat]))
        b.turns[agent, seat] += turns
        b.turns_squared[agent, seat] += turns * turns
        b.held[agent, seat] += held
        b.held_squared[agent, seat] += held * held
        b.returned[agent, seat] += game.returned[seat]
        b.returned_squared[agent, seat] += game.returned[seat] * game.returned[seat]
        b.gold_paid[agent, seat] += game.gold_paid[seat]
        b.gold_paid_squared[agent, seat] += game.gold_paid[seat] * game.gold_paid[seat]
        for number in range(np.int64(s.reserved_count[seat])):
            b.card_left_in_hand[s.card_at[hand_place(seat, number)]] += 1
        if mine != 0:
            count_won(b, s, agent, seat, mine)


@kernel
def count_left(b, s):
    """Count the cards and nobles that nobody got."""
    for slot in range(SLOTS):
        if s.card_at[slot] != NO_CARD:
            b.card_left_on_board[s.card_at[slot]] += 1
    for place in range(np.int64(s.players) + 1):
        if s.nobles[place] != NO_NOBLE:
            b.noble_left[s.nobles[place]] += 1


@kernel
def count_won(b, s, agent, seat, mine):
    """Count the cards and nobles of a seat that has won; `mine` is its share of the win, in twelfths."""
    for word in range(2):
        left = s.cards[seat, word]
        while left != _ZERO:
            b.card_won[agent, seat, 64 * word + nth_bit(left, _ZERO)] += mine
            left &= left - _ONE
    left = np.uint64(s.visited[seat])
    while left != _ZERO:
        b.noble_won[agent, seat, nth_bit(left, _ZERO)] += mine
        left &= left - _ONE
