"""OBSERVATION_DTYPE: what one seat sees of a game, as counts and flags of one byte each, and the kernel that fills it.

Seats are ordered from the viewer on, in the order of play: index 0 is the viewer, 1 the seat that plays next. A seat
that does not exist is 0 throughout. Nothing hidden is in it: states that differ only in what the viewer cannot know
give equal observations.
"""

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import ACTION_COUNT, HAND, SLOTS
from splendor_sim.core.cards import (
    CARD_BONUS,
    CARD_COUNT,
    CARD_GEMS,
    CARD_PRESTIGE,
    LEVEL_START,
    NO_CARD,
    NO_NOBLE,
    NOBLE_GEMS,
)
from splendor_sim.core.engine import hand_place, is_hidden_from, legal, level_of, unseen
from splendor_sim.core.jit import kernel, popcount
from splendor_sim.core.state import MAX_PLAYERS, PAYING, PHASE_NAMES, RULE_FIELDS

_HELD = (MAX_PLAYERS, HAND)  # by seat and place in the hand, oldest first

# Every field is uint8, in plain counts; a card's colours and its bonus are in the order w u g r k.
_FIELDS = np.dtype(
    [
        # The table.
        ("players", "u1"),  # 2-4
        ("phase", "u1", (len(PHASE_NAMES),)),  # one-hot: main, pay, return, noble, over
        ("passes", "u1"),  # turns in succession that were passed
        ("rounds", "u1"),  # finished rounds, at most 255
        ("bank", "u1", (6,)),  # w u g r k j
        ("deck_sizes", "u1", (3,)),  # by level
        # By card id, 1 if the viewer has not seen it: in a deck or hidden in another hand, which are not told apart.
        ("unseen", "u1", (CARD_COUNT,)),
        ("board_card", "u1", (SLOTS,)),  # by slot 4 * (level - 1) + column: card id + 1, 0 where empty
        ("board_cost", "u1", (SLOTS, 5)),
        ("board_bonus", "u1", (SLOTS, 5)),  # one-hot, all 0 where empty
        ("board_prestige", "u1", (SLOTS,)),
        ("noble", "u1", (5,)),  # the row: tile id + 1, 0 where taken or never laid
        ("noble_requirement", "u1", (5, 5)),  # by place: bonuses required
        ("pending_card", "u1"),  # phase pay: id + 1 of the card that is being bought, else 0 here and below
        ("pending_cost", "u1", (5,)),
        ("pending_bonus", "u1", (5,)),  # one-hot
        ("pending_prestige", "u1"),
        ("pending_gold_for", "u1", (5,)),  # gold chosen so far in place of a token
        # The seats, from the viewer on.
        ("seated", "u1", (MAX_PLAYERS,)),  # 1 where somebody sits
        ("to_move", "u1", (MAX_PLAYERS,)),  # one-hot
        ("starts", "u1", (MAX_PLAYERS,)),  # one-hot: the seat that began the game, with which each round begins
        ("tokens", "u1", (MAX_PLAYERS, 6)),  # w u g r k j
        ("bonuses", "u1", (MAX_PLAYERS, 5)),
        ("prestige", "u1", (MAX_PLAYERS,)),
        ("bought", "u1", (MAX_PLAYERS,)),  # number of bought cards
        ("nobles", "u1", (MAX_PLAYERS,)),  # number of nobles that visited
        ("reserved_count", "u1", (MAX_PLAYERS,)),
        ("reserved_level", "u1", (*_HELD, 3)),  # one-hot, all 0 where no card is held
        ("reserved_hidden", "u1", _HELD),  # 1 for a card from a deck, of which the other seats know the level alone
        ("reserved_card", "u1", _HELD),  # card id + 1, 0 if none is held or it is hidden from the viewer; as below
        ("reserved_cost", "u1", (*_HELD, 5)),
        ("reserved_bonus", "u1", (*_HELD, 5)),  # one-hot
        ("reserved_prestige", "u1", _HELD),
        # What holds for the game, and what the viewer may do.
        ("rules", "u1", (len(RULE_FIELDS),)),  # as in the state, in its order: gem_tokens ... end
        ("legal", "u1", (ACTION_COUNT,)),  # by decision id; all 0 unless the viewer is to move
    ]
)
OBSERVATION_DTYPE = np.dtype((np.record, _FIELDS))
OBSERVATION_SIZE = OBSERVATION_DTYPE.itemsize

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64
_LAST_COUNT = 255


@kernel
def observe(s, viewer, o):
    """Fill in a zeroed observation `o` of OBSERVATION_DTYPE for a seat."""
    observe_table(s, viewer, o)
    observe_board(s, o)
    for ahead in range(np.int64(s.players)):
        observe_seat(s, viewer, ahead, o)
    observe_rules(s, o)
    if viewer == s.to_move:
        low, high = legal(s)
        for action in range(ACTION_COUNT):
            if action < _WORD_BITS:
                o.legal[action] = (low >> np.uint64(action)) & _ONE
            else:
                o.legal[action] = (high >> np.uint64(action - _WORD_BITS)) & _ONE


@kernel
def observe_table(s, viewer, o):
    """Players, phase, counts, bank, decks, what is unseen, and the pending payment."""
    o.players = s.players
    o.phase[s.phase] = 1
    o.passes = s.passes
    o.rounds = min(np.int64(s.turn) // np.int64(s.players), _LAST_COUNT)
    for colour in range(6):
        o.bank[colour] = gems.count(s.bank, colour)
    for level in range(3):
        o.deck_sizes[level] = popcount(s.deck[level])
        cards = unseen(s, viewer, level)
        first = LEVEL_START[level]
        for bit in range(LEVEL_START[level + 1] - first):
            o.unseen[first + bit] = (cards >> np.uint64(bit)) & _ONE
    if s.phase == PAYING:
        card = np.int64(s.pending_card)
        o.pending_card = card + 1
        o.pending_bonus[CARD_BONUS[card]] = 1
        o.pending_prestige = CARD_PRESTIGE[card]
        for colour in range(5):
            o.pending_cost[colour] = gems.count(CARD_GEMS[card], colour)
            o.pending_gold_for[colour] = gems.count(s.pending_gold, colour)


@kernel
def observe_board(s, o):
    """The cards of the board and the row of nobles."""
    for slot in range(SLOTS):
        card = np.int64(s.card_at[slot])
        if card != NO_CARD:
            o.board_card[slot] = card + 1
            o.board_bonus[slot, CARD_BONUS[card]] = 1
            o.board_prestige[slot] = CARD_PRESTIGE[card]
            for colour in range(5):
                o.board_cost[slot, colour] = gems.count(CARD_GEMS[card], colour)
    for place in range(np.int64(s.players) + 1):
        tile = np.int64(s.nobles[place])
        if tile != NO_NOBLE:
            o.noble[place] = tile + 1
            for colour in range(5):
                o.noble_requirement[place, colour] = gems.count(NOBLE_GEMS[tile], colour)


@kernel
def observe_seat(s, viewer, ahead, o):
    """The seat that is `ahead` places after the viewer."""
    seat = (viewer + ahead) % np.int64(s.players)
    o.seated[ahead] = 1
    if seat == s.to_move:
        o.to_move[ahead] = 1
    if seat == 0:
        o.starts[ahead] = 1
    for colour in range(6):
        o.tokens[ahead, colour] = gems.count(s.tokens[seat], colour)
    for colour in range(5):
        o.bonuses[ahead, colour] = gems.count(s.bonuses[seat], colour)
    o.prestige[ahead] = s.prestige[seat]
    o.bought[ahead] = s.bought[seat]
    o.nobles[ahead] = popcount(np.uint64(s.visited[seat]))
    o.reserved_count[ahead] = s.reserved_count[seat]
    for number in range(np.int64(s.reserved_count[seat])):
        card = np.int64(s.card_at[hand_place(seat, number)])
        o.reserved_level[ahead, number, level_of(card)] = 1
        o.reserved_hidden[ahead, number] = (np.int64(s.hidden[seat]) >> number) & 1
        if not is_hidden_from(s, viewer, seat, number):
            o.reserved_card[ahead, number] = card + 1
            o.reserved_bonus[ahead, number, CARD_BONUS[card]] = 1
            o.reserved_prestige[ahead, number] = CARD_PRESTIGE[card]
            for colour in range(5):
                o.reserved_cost[ahead, number, colour] = gems.count(CARD_GEMS[card], colour)


@kernel
def observe_rules(s, o):
    """The rule fields, in the order of RULE_FIELDS."""
    o.rules[0] = s.gem_tokens
    o.rules[1] = s.gold_tokens
    o.rules[2] = s.target_prestige
    o.rules[3] = s.token_limit
    o.rules[4] = s.reserve_limit
    o.rules[5] = s.take_two_min
    o.rules[6] = s.take_fewer
    o.rules[7] = s.payment
    o.rules[8] = s.tie_break
    o.rules[9] = s.end
