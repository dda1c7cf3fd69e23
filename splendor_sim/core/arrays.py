"""Kernels over arrays of states: deal, legal masks, step, observe, determinize, play to the end; and over one game.

`states` is a contiguous STATE_DTYPE[n]. Row numbers are game numbers: where randomness is due, row i draws from the
streams of game i. What is to be refused is found before anything changes, by the kernels `first_...`.
"""

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import ACTION_COUNT, HAND, SLOTS, UP_TO
from splendor_sim.core.cards import CARD_COUNT, CARD_GEMS, LEVEL_START, NO_CARD, NO_NOBLE, NOBLE_GEMS, read_only
from splendor_sim.core.engine import (
    KEYED,
    apply,
    deal,
    determinize,
    hand_place,
    is_legal,
    lay_noble,
    legal,
    level_dealt,
    level_of,
    outcome,
    put,
    qualifying,
)
from splendor_sim.core.jit import kernel
from splendor_sim.core.observation import observe
from splendor_sim.core.policies import choose
from splendor_sim.core.rng import AGENT, DEAL, DETERMINIZE, GAMMA, PLAYOUT, mix, stream_of
from splendor_sim.core.state import MAX_PLAYERS, OVER, PAYING

# What `play` answers.
PLAYED, NOT_LEGAL, NO_SUCH_DEAL = 0, 1, 2

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64
_DECK_SIZE = LEVEL_START[1:] - LEVEL_START[:-1]
_NO_SUCH_CARD = read_only(np.array([~((1 << int(size)) - 1) & (1 << 64) - 1 for size in _DECK_SIZE], np.uint64))
_ABOVE_7 = np.uint64(0xFFFF_F8F8_F8F8_F8F8)  # the bits that are set in no gem vector of tokens
_ABOVE_18 = np.uint64(0xFFFF_FFE0_E0E0_E0E0)  # the bits that are set in no gem vector of bonuses


# --- Many games ------------------------------------------------------------------------------------------------------


@kernel
def deal_rows(states, first, seed):
    """Set up game `first` + i of a run in row i; the players and rule fields are filled already. seed: uint64."""
    for row in range(len(states)):
        deal(states[row], stream_of(seed, first + row, DEAL))


@kernel
def mask_rows(states, masks):
    """Write the legal decisions to masks: bool[n, 78]."""
    for row in range(len(states)):
        low, high = legal(states[row])
        for action in range(_WORD_BITS):
            masks[row, action] = (low >> np.uint64(action)) & _ONE != _ZERO
        for action in range(_WORD_BITS, ACTION_COUNT):
            masks[row, action] = (high >> np.uint64(action - _WORD_BITS)) & _ONE != _ZERO


@kernel
def step_rows(states, actions, rewards, terminated):
    """Apply a legal action in each row; rewards (float64[n, players], zeroed) take the win shares of what ends now."""
    for row in range(len(states)):
        s = states[row]
        apply(s, actions[row], KEYED)
        if s.phase == OVER:
            terminated[row] = True
            outcome(s, rewards[row])


@kernel
def observe_rows(states, seats, observations):
    """Fill in zeroed observations (OBSERVATION_DTYPE[n]) for seats: int64[n]."""
    for row in range(len(states)):
        observe(states[row], seats[row], observations[row])


@kernel
def determinize_rows(states, seats, seed):
    """Redraw what each row's seat (int64[n]) does not know. seed: uint64."""
    for row in range(len(states)):
        determinize(states[row], seats[row], stream_of(seed, row, DETERMINIZE))


@kernel
def playout_rows(states, first, policy, seed, max_turns, shares):
    """Play each row to its end or to max_turns finished turns; row i is game `first` + i. seed: uint64.

    shares: float64[n, players], zeroed; takes the win shares, all 0 where the game was stopped.
    """
    streams = np.empty(MAX_PLAYERS, np.uint64)
    for row in range(len(states)):
        s = states[row]
        game = first + row
        s.key = stream_of(seed, game, PLAYOUT)
        for seat in range(MAX_PLAYERS):
            streams[seat] = stream_of(seed, game, AGENT + seat)
        while s.phase != OVER and s.turn < max_turns:
            mover = np.int64(s.to_move)
            streams[mover] += GAMMA
            apply(s, choose(policy, s, mix(streams[mover])), KEYED)
        if s.phase == OVER:
            outcome(s, shares[row])


# --- One game: states[0] ---------------------------------------------------------------------------------------------


@kernel
def legal_words(states):
    """The legal decisions as (low, high)."""
    return legal(states[0])


@kernel
def dealing_level(states, action):
    """The level (0-2) that a card comes up from with an action id 0-77, -1 if none does, -2 if it is not legal."""
    s = states[0]
    if not is_legal(s, action):
        return -2
    return level_dealt(s, action)


@kernel
def lay(states, cards, tiles):
    """Lay cards (int64[24] ids or NO_CARD) in the places and tiles (int64[5] or NO_NOBLE) in the row of nobles."""
    for place in range(len(cards)):
        put(states[0], place, cards[place])
    for place in range(len(tiles)):
        lay_noble(states[0], place, tiles[place])


@kernel
def play(states, action, given):
    """Apply an action id 0-77 if it is legal and `given` is KEYED or a card that may come up; say PLAYED or why not."""
    s = states[0]
    if not is_legal(s, action):
        return NOT_LEGAL
    if given != KEYED:
        level = level_dealt(s, action)
        if level < 0 or not 0 <= given < CARD_COUNT or level_of(given) != level:
            return NO_SUCH_DEAL
        if (s.deck[level] >> np.uint64(given - LEVEL_START[level])) & _ONE == _ZERO:
            return NO_SUCH_DEAL
    apply(s, action, given)
    return PLAYED


# --- What is refused -------------------------------------------------------------------------------------------------


@kernel
def first_unfit(states):
    """The first row that kernels cannot trust to be the state of a game, or -1."""
    for row in range(len(states)):
        if not is_fit(states[row]):
            return row
    return -1


@kernel
def first_refused(states, actions):
    """The first row that is unfit, or whose action (int64) is no id or not legal, or -1."""
    for row in range(len(states)):
        action = actions[row]
        if not (is_fit(states[row]) and 0 <= action < ACTION_COUNT and is_legal(states[row], action)):
            return row
    return -1


@kernel
def is_fit(s):
    """Whether kernels can trust a record to be the state of a game: nothing is looked up or shifted out of range."""
    if not (2 <= s.players <= MAX_PLAYERS and s.to_move < s.players and s.phase <= OVER):
        return False
    if not (rules_fit(s) and tokens_fit(s) and cards_fit(s) and nobles_fit(s)):
        return False
    low, high = legal(s)
    return (low | high == _ZERO) == (s.phase == OVER)


@kernel
def rules_fit(s):
    """Whether the rule fields lie where kernels look things up by them."""
    return (
        s.gem_tokens <= 7
        and s.gold_tokens <= 7
        and s.token_limit >= 3
        and s.reserve_limit <= 3
        and s.take_two_min >= 2
        and s.take_two_min <= 7
        and s.take_fewer <= UP_TO
    )


@kernel
def tokens_fit(s):
    """Whether bank and hands hold the tokens of the set-up, and no count of gems is out of range."""
    all_counts, held, bonuses = s.bank, s.bank, _ZERO
    for seat in range(MAX_PLAYERS):
        held += s.tokens[seat]
        all_counts |= s.tokens[seat]
        bonuses |= s.bonuses[seat]
    laid = np.uint64(s.gem_tokens) * (gems.EACH_1 & gems.COLOURED) + np.uint64(s.gold_tokens) * gems.ONE_GOLD
    return held == laid and (all_counts | s.pending_gold) & _ABOVE_7 == _ZERO and bonuses & _ABOVE_18 == _ZERO


@kernel
def cards_fit(s):
    """Whether decks, board and hands hold cards, and `on_offer` and the counts say so."""
    on_offer = 0
    for level in range(3):
        if s.deck[level] & _NO_SUCH_CARD[level] != _ZERO:
            return False
        if s.deck[level] != _ZERO:
            on_offer |= 1 << (SLOTS + level)
    for slot in range(SLOTS):
        if not place_fits(s, slot):
            return False
        if s.card_at[slot] != NO_CARD:
            on_offer |= 1 << slot
    for seat in range(MAX_PLAYERS):
        held = np.int64(s.reserved_count[seat])
        if held > HAND or np.int64(s.hidden[seat]) >> held != 0:
            return False
        for number in range(HAND):
            place = hand_place(seat, number)
            if not place_fits(s, place) or (s.card_at[place] != NO_CARD) != (number < held):
                return False
    return s.on_offer == on_offer and (s.pending_card < NO_CARD or (s.pending_card == NO_CARD and s.phase != PAYING))


@kernel
def place_fits(s, place):
    """Whether one of the 24 places holds a card or NO_CARD, with its cost."""
    card = s.card_at[place]
    if card > NO_CARD:
        return False
    cost = _ZERO
    for colour in range(5):
        cost |= np.uint64(s.cost_at[colour, place]) << np.uint64(8 * colour)
    return cost == CARD_GEMS[card]


@kernel
def nobles_fit(s):
    """Whether the row holds tiles, and `waiting` says for whom one waits."""
    for place in range(5):
        if s.nobles[place] > NO_NOBLE or s.noble_gems[place] != NOBLE_GEMS[s.nobles[place]]:
            return False
    waiting = 0
    for seat in range(np.int64(s.players)):
        if qualifying(s, seat) != _ZERO:
            waiting |= 1 << seat
    return s.waiting == waiting
