"""The rules, top to bottom in the order of RULES.md: deal, legal, apply, outcome, determinize.

`s` is one record of STATE_DTYPE and is changed in place. Kernels trust their arguments: an action is legal, a given
card is one that may come up. Masks of decisions are two uint64: ids 0-63 in `low`, 64-77 in `high`.
"""

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import (
    BUY,
    BUY_RESERVED,
    GOLD_FOR,
    HAND,
    NOBLE,
    PASS,
    PAY,
    RESERVE,
    RESERVE_DECK,
    RETURN,
    SLOTS,
    TAKE_GEMS,
    TAKE_MASK,
    TAKE_TWO,
)
from splendor_sim.core.cards import (
    CARD_BONUS,
    CARD_GEMS,
    CARD_PRESTIGE,
    LEVEL_START,
    NO_CARD,
    NO_NOBLE,
    NOBLE_COUNT,
    NOBLE_GEMS,
    NOBLE_PRESTIGE,
)
from splendor_sim.core.jit import affordable, kernel, met, nth_bit, popcount
from splendor_sim.core.rng import GAMMA, below, mix
from splendor_sim.core.rules import END, PAYMENT, TIE_BREAK
from splendor_sim.core.state import CHOOSING_NOBLE, MAIN, OVER, PAYING, RETURNING

KEYED = -1  # as a given card: let the game's key say which card comes up

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LEVEL_SET = np.array([(1 << int(end - start)) - 1 for start, end in zip(LEVEL_START, LEVEL_START[1:], strict=False)])
_FULL_DECK = _LEVEL_SET.astype(np.uint64)
_ALL_NOBLES = np.uint64((1 << NOBLE_COUNT) - 1)
_NOBLE_DRAWS = 256  # draws of the deal: 64 * level + cards left for cards, from here on for nobles
_TWO_SHIFT, _RESERVE_SHIFT, _BUY_SHIFT = np.uint64(TAKE_TWO), np.uint64(RESERVE), np.uint64(BUY)
_RETURN_SHIFT = np.uint64(RETURN)
_BOARD, _HAND_BITS = np.uint64((1 << SLOTS) - 1), np.uint64((1 << HAND) - 1)
_PASS_BIT = np.uint64(1 << PASS)
_WORD_BITS = 64
_HIDDEN_STEP = np.uint64(2 * int(GAMMA) % 2**64)
_IMMEDIATE, _CHOICE, _SHARED = END["immediate"], PAYMENT["choice"], TIE_BREAK["shared"]


# --- Set-up ----------------------------------------------------------------------------------------------------------


@kernel(inline=False)
def deal(s, key):
    """Set up a game; `players` and the rule fields of `s` are filled already, all else is overwritten."""
    clear(s)
    lay_out(s, key)


@kernel(inline=False)
def clear(s):
    """Bring the bank and the seats to where every game with these rules begins."""
    s.bank = np.uint64(s.gem_tokens) * (gems.EACH_1 & gems.COLOURED) + np.uint64(s.gold_tokens) * gems.ONE_GOLD
    s.turn = 0
    s.to_move = 0
    s.phase = MAIN
    s.passes = 0
    s.waiting = 0
    s.target_reached = 0
    s.pending_card = NO_CARD
    s.pending_gold = _ZERO
    s.on_offer = (1 << (SLOTS + 3)) - 1
    for level in range(3):
        s.deck[level] = _FULL_DECK[level]
    for seat in range(4):
        s.tokens[seat] = _ZERO
        s.bonuses[seat] = _ZERO
        s.prestige[seat] = 0
        s.bought[seat] = 0
        s.reserved_count[seat] = 0
        s.hidden[seat] = 0
        s.visited[seat] = 0
        for word in range(2):
            s.cards[seat, word] = _ZERO
        for number in range(HAND):
            put(s, hand_place(seat, number), NO_CARD)


@kernel(inline=False)
def lay_out(s, key):
    """Lay the nobles and the board of a cleared game, by its key."""
    s.key = key
    lay_nobles(s, np.int64(s.players) + 1)
    for level in range(3):
        for column in range(4):
            # The number of cards left is said rather than counted: the draws need not wait for each other.
            left = np.uint64(LEVEL_START[level + 1] - LEVEL_START[level] - column)
            put(s, 4 * level + column, LEVEL_START[level] + remove(s, level, keyed_place(s, level, left)))


@kernel
def lay_nobles(s, number):
    """Lay the row of nobles: `number` tiles drawn by the game's key."""
    left = _ALL_NOBLES
    for place in range(5):
        if place < number:
            n = below(mix(s.key + GAMMA * np.uint64(_NOBLE_DRAWS + place)), np.uint64(NOBLE_COUNT - place))
            tile = nth_bit(left, n)
            left ^= _ONE << np.uint64(tile)
            lay_noble(s, place, tile)
        else:
            lay_noble(s, place, NO_NOBLE)


@kernel
def lay_noble(s, place, tile):
    """Lay a noble tile, or NO_NOBLE, in a place of the row."""
    s.nobles[place] = tile
    s.noble_gems[place] = NOBLE_GEMS[tile]


@kernel
def draw(s, level, given):
    """Take a card from a deck that is not empty, the given one or the keyed one, and return its id.

    The keyed card is a pure function of (key, level, number of cards left in the deck).
    """
    if given == KEYED:
        place = keyed_place(s, level, np.uint64(popcount(s.deck[level])))
    else:
        place = given - LEVEL_START[level]
    remove(s, level, place)
    if s.deck[level] == _ZERO:
        note_deck(s, level)
    return LEVEL_START[level] + place


@kernel
def keyed_place(s, level, left):
    """The place in a deck with `left` cards of the card that the game's key lets come up."""
    return nth_bit(s.deck[level], below(mix(s.key + GAMMA * (np.uint64(64 * level) + left)), left))


@kernel
def remove(s, level, place):
    """Take the card at a place out of a deck, and return the place."""
    s.deck[level] ^= _ONE << np.uint64(place)
    return place


@kernel
def note_deck(s, level):
    """Note that the top of a deck may be reserved, or not."""
    bit = 1 << (SLOTS + level)
    if s.deck[level] != _ZERO:
        s.on_offer = np.int64(s.on_offer) | bit
    else:
        s.on_offer = np.int64(s.on_offer) & ~bit


@kernel
def put(s, place, card):
    """Lay a card id, or NO_CARD, in one of the 24 places."""
    s.card_at[place] = card
    cost = CARD_GEMS[card]
    for colour in range(5):
        s.cost_at[colour, place] = gems.count(cost, colour)


@kernel
def hand_place(seat, number):
    """The place (12-23) of a seat's reserved card number 0-2."""
    return SLOTS + HAND * seat + number


# --- What is legal ---------------------------------------------------------------------------------------------------


@kernel
def legal(s):
    """The legal decisions as (low, high); (0, 0) when the game is over."""
    seat = np.int64(s.to_move)
    phase = s.phase
    if phase == MAIN:
        return legal_main(s, seat), _ZERO
    if phase == RETURNING:
        held = gems.colours_with(s.tokens[seat], _ONE)
        return held << _RETURN_SHIFT, held >> np.uint64(_WORD_BITS - RETURN)
    if phase == CHOOSING_NOBLE:
        return _ZERO, qualifying(s, seat) << np.uint64(NOBLE - _WORD_BITS)
    if phase == PAYING:
        return _ZERO, legal_payments(s, seat) << np.uint64(GOLD_FOR - _WORD_BITS)
    return _ZERO, _ZERO


@kernel
def legal_main(s, seat):
    """The legal decisions 0-60 of a seat in phase main, as `low`; never empty."""
    low = legal_takes(s) | (legal_reserves(s, seat) << _RESERVE_SHIFT) | (legal_buys(s, seat) << _BUY_SHIFT)
    return low if low != _ZERO else _PASS_BIT


@kernel
def legal_takes(s):
    """Decisions 0-29."""
    colours = gems.colours_without_gold(s.bank, _ONE)
    twos = gems.colours_without_gold(s.bank, np.uint64(s.take_two_min))
    return TAKE_MASK[s.take_fewer, colours] | (twos << _TWO_SHIFT)


@kernel
def legal_reserves(s, seat):
    """Decisions 30-44, as bits 0-14."""
    if s.reserved_count[seat] < s.reserve_limit:
        return np.uint64(s.on_offer)
    return _ZERO


@kernel
def legal_buys(s, seat):
    """Decisions 45-59, as bits 0-14."""
    places = affordable(s.cost_at, s.bonuses[seat] + s.tokens[seat])
    return (places & _BOARD) | (((places >> np.uint64(hand_place(seat, 0))) & _HAND_BITS) << np.uint64(SLOTS))


@kernel
def place_of(seat, choice):
    """The place (0-23) of what a seat may buy: slot 0-11 or own reserved card 12-14."""
    return choice if choice < SLOTS else hand_place(seat, choice - SLOTS)


@kernel
def qualifying(s, seat):
    """Places in the row of nobles, as bits 0-4, whose requirement the seat's bonuses meet."""
    return met(s.noble_gems, s.bonuses[seat])


@kernel(inline=False)
def legal_payments(s, seat):
    """Decisions 72-77 in phase pay, as bits 0-5: gold for a colour if the whole can still be paid, and pay."""
    tokens = s.tokens[seat]
    due = gems.less(CARD_GEMS[s.pending_card], s.bonuses[seat])
    choices = _ZERO
    for colour in range(5):
        chosen = s.pending_gold + gems.one(colour)
        within = gems.count(chosen, colour) <= gems.count(due, colour)
        if within and gold_needed(due, tokens, chosen) <= gems.gold(tokens):
            choices |= _ONE << np.uint64(colour)
    if gems.less(gems.less(due, s.pending_gold), tokens & gems.COLOURED) == _ZERO:
        choices |= _ONE << np.uint64(PAY - GOLD_FOR)
    return choices


@kernel
def gold_needed(due, tokens, chosen):
    """Gold that a payment takes which uses gold for at least the chosen gems."""
    shortfall = gems.less(due, tokens & gems.COLOURED)
    return gems.total(shortfall) + gems.total(gems.less(chosen, shortfall))


@kernel
def is_legal(s, action):
    """Whether an action id (0-77) is legal."""
    low, high = legal(s)
    if action < _WORD_BITS:
        return (low >> np.uint64(action)) & _ONE != _ZERO
    return (high >> np.uint64(action - _WORD_BITS)) & _ONE != _ZERO


@kernel
def level_dealt(s, action):
    """The level (0-2) that a card comes up from if `action` is applied, -1 if none does."""
    level = -1
    if RESERVE <= action < RESERVE_DECK:
        level = (action - RESERVE) // 4
    elif RESERVE_DECK <= action < BUY:
        level = action - RESERVE_DECK
    elif BUY <= action < BUY_RESERVED:
        level = (action - BUY) // 4
    if level >= 0 and s.deck[level] == _ZERO:
        level = -1
    return level


# --- What happens ----------------------------------------------------------------------------------------------------


@kernel
def apply(s, action, given):
    """Apply a legal action id; the card that comes up is `given`, or the keyed one if that is KEYED."""
    seat = np.int64(s.to_move)
    if action <= PASS:
        apply_main(s, seat, action, given)
    elif action < NOBLE:
        give_back(s, seat, action - RETURN)
    elif action < GOLD_FOR:
        visit(s, seat, action - NOBLE)
        end_turn(s)
        return
    elif action < PAY:
        s.pending_gold += gems.one(action - GOLD_FOR)
    else:
        finish_payment(s, seat)
    if s.phase != PAYING:
        go_on(s, seat)


@kernel
def apply_main(s, seat, action, given):
    """What a main decision itself does; `go_on` comes next, unless a payment is to be chosen."""
    if action < RESERVE:
        take(s, seat, action)
    elif action < BUY:
        reserve(s, seat, action - RESERVE, given)
    elif action < PASS:
        buy(s, seat, action - BUY, given)
    else:
        s.passes += 1


@kernel
def take(s, seat, action):
    """Move the tokens of decision 0-29 from the bank to the hand."""
    taken = TAKE_GEMS[action]
    s.bank -= taken
    s.tokens[seat] += taken
    s.passes = 0


@kernel
def reserve(s, seat, choice, given):
    """Reserve slot 0-11 or the top of deck 12-14, with one gold if the bank has one."""
    number = np.int64(s.reserved_count[seat])
    if choice < SLOTS:
        card = np.int64(s.card_at[choice])
        refill(s, choice, given)
    else:
        card = draw(s, choice - SLOTS, given)
        s.hidden[seat] = np.int64(s.hidden[seat]) | (1 << number)
    put(s, hand_place(seat, number), card)
    s.reserved_count[seat] = number + 1
    if gems.gold(s.bank) > _ZERO:
        s.bank -= gems.ONE_GOLD
        s.tokens[seat] += gems.ONE_GOLD
    s.passes = 0


@kernel
def refill(s, slot, given):
    """Fill an emptied slot from the deck of its level, or leave it empty."""
    level = slot // 4
    if s.deck[level] != _ZERO:
        put(s, slot, draw(s, level, given))
    else:
        put(s, slot, NO_CARD)
        s.on_offer = np.int64(s.on_offer) & ~(1 << slot)


@kernel
def buy(s, seat, choice, given):
    """Buy the card of slot 0-11 or the reserved card 12-14: paid at once, or in phase pay if there is a choice."""
    card = np.int64(s.card_at[place_of(seat, choice)])
    if choice < SLOTS:
        refill(s, choice, given)
    else:
        drop_reserved(s, seat, choice - SLOTS)
    s.passes = 0
    tokens = s.tokens[seat]
    due = gems.less(CARD_GEMS[card], s.bonuses[seat])
    shortfall = gems.less(due, tokens & gems.COLOURED)
    gold = gems.total(shortfall)
    if s.payment == _CHOICE and gems.gold(tokens) > gold and gems.total(due) > gold:
        s.phase = PAYING
        s.pending_card = card
    else:
        pay(s, seat, due - shortfall + gold * gems.ONE_GOLD)
        gain(s, seat, card)


@kernel
def drop_reserved(s, seat, number):
    """Take a card out of the hand; the later ones move up."""
    for later in range(number, HAND - 1):
        put(s, hand_place(seat, later), np.int64(s.card_at[hand_place(seat, later + 1)]))
    put(s, hand_place(seat, HAND - 1), NO_CARD)
    s.reserved_count[seat] -= 1
    hidden = np.int64(s.hidden[seat])
    earlier = (1 << number) - 1
    s.hidden[seat] = (hidden & earlier) | ((hidden >> 1) & ~earlier)


@kernel(inline=False)
def finish_payment(s, seat):
    """Pay the pending card: gold as chosen, the rest in coloured tokens."""
    chosen = s.pending_gold
    due = gems.less(CARD_GEMS[s.pending_card], s.bonuses[seat])
    pay(s, seat, due - chosen + gems.total(chosen) * gems.ONE_GOLD)
    gain(s, seat, np.int64(s.pending_card))
    s.pending_card = NO_CARD
    s.pending_gold = _ZERO
    s.phase = MAIN


@kernel
def pay(s, seat, paid):
    """Move tokens from the hand to the bank."""
    s.tokens[seat] -= paid
    s.bank += paid


@kernel
def gain(s, seat, card):
    """Put a bought card among the seat's cards."""
    s.bonuses[seat] += gems.one(CARD_BONUS[card])
    s.cards[seat, card >> 6] |= _ONE << np.uint64(card & 63)
    s.bought[seat] += 1
    score(s, seat, np.int64(CARD_PRESTIGE[card]))
    note_waiting(s, seat)


@kernel
def score(s, seat, points):
    """Add prestige."""
    reached = np.int64(s.prestige[seat]) + points
    s.prestige[seat] = reached
    if reached >= s.target_prestige:
        s.target_reached = 1


@kernel
def note_waiting(s, seat):
    """Note whether a noble waits for the seat: the only place where the row is compared with bonuses."""
    waits = np.int64(qualifying(s, seat) != _ZERO)
    s.waiting = (np.int64(s.waiting) & ~(1 << seat)) | (waits << seat)


@kernel
def give_back(s, seat, colour):
    """Return one token to the bank."""
    token = gems.one(colour)
    s.tokens[seat] -= token
    s.bank += token


@kernel
def go_on(s, seat):
    """What follows a decision: a return while too many tokens are held, then the noble, then the next turn."""
    if must_return(s, seat):
        s.phase = RETURNING
    elif not noble_choice(s, seat):
        end_turn(s)
    else:
        s.phase = CHOOSING_NOBLE


@kernel
def must_return(s, seat):
    """Whether a seat holds too many tokens."""
    return gems.total(s.tokens[seat]) > s.token_limit


@kernel
def noble_choice(s, seat):
    """Let a noble that alone qualifies visit; return whether there are several to choose from."""
    if (np.int64(s.waiting) >> seat) & 1 == 0:
        return False
    places = qualifying(s, seat)
    if places & (places - _ONE) != _ZERO:
        return True
    visit(s, seat, nth_bit(places, _ZERO))
    return False


@kernel(inline=False)
def visit(s, seat, place):
    """A noble visits the seat; its tile is not replaced."""
    s.visited[seat] = np.int64(s.visited[seat]) | (1 << np.int64(s.nobles[place]))
    lay_noble(s, place, NO_NOBLE)
    score(s, seat, NOBLE_PRESTIGE)
    for other in range(np.int64(s.players)):
        if (np.int64(s.waiting) >> other) & 1 != 0:
            note_waiting(s, other)


@kernel
def end_turn(s):
    """Count the turn, pass the move on, and see whether the game is over."""
    s.turn += 1
    seat = np.int64(s.to_move) + 1
    if seat == s.players:
        seat = 0
    s.to_move = seat
    s.phase = MAIN
    if s.target_reached != 0 or s.passes != 0:
        if is_finished(s):
            s.phase = OVER


@kernel
def is_finished(s):
    """Whether the end conditions hold between two turns."""
    if s.target_reached != 0 and (s.to_move == 0 or s.end == _IMMEDIATE):
        return True
    return is_deadlocked(s)


# --- Who has won -----------------------------------------------------------------------------------------------------


@kernel
def is_deadlocked(s):
    """Whether every seat in succession has passed."""
    return s.passes >= s.players


@kernel
def standing(s, seat):
    """What a seat is ranked by, the more the better: prestige, then fewest bought cards unless ties are shared."""
    if s.tie_break == _SHARED:
        return np.int64(s.prestige[seat]) * 256
    return np.int64(s.prestige[seat]) * 256 - np.int64(s.bought[seat])


@kernel
def winners(s):
    """The set of seats (bits, int64) with the best standing."""
    best = standing(s, 0)
    seats = 1
    for seat in range(1, np.int64(s.players)):
        here = standing(s, seat)
        if here > best:
            best = here
            seats = 1 << seat
        elif here == best:
            seats |= 1 << seat
    return seats


@kernel
def outcome(s, shares):
    """Write each seat's share of the win to `shares` (float64[players]): 1/k for k winners, all 0 before the end."""
    seats = winners(s)
    each = 1.0 / popcount(np.uint64(seats))
    for seat in range(np.int64(s.players)):
        shares[seat] = each if s.phase == OVER and (seats >> seat) & 1 != 0 else 0.0


# --- What a seat does not know ---------------------------------------------------------------------------------------


@kernel
def unseen(s, seat, level):
    """The set of cards of a level (0-2) that a seat has not seen: the deck and the others' hidden reserved cards."""
    cards = s.deck[level]
    for other in range(np.int64(s.players)):
        for number in range(np.int64(s.reserved_count[other])):
            card = np.int64(s.card_at[hand_place(other, number)])
            if is_hidden_from(s, seat, other, number) and level_of(card) == level:
                cards |= _ONE << np.uint64(card - LEVEL_START[level])
    return cards


@kernel
def is_hidden_from(s, seat, other, number):
    """Whether a seat does not know the reserved card `number` of a seat."""
    return other != seat and (np.int64(s.hidden[other]) >> number) & 1 != 0


@kernel
def level_of(card):
    """The level (0-2) of a card id."""
    return np.int64(card >= LEVEL_START[1]) + np.int64(card >= LEVEL_START[2])


@kernel
def determinize(s, seat, key):
    """Redraw everything that a seat does not know, by `key`, which becomes the game's key.

    The result depends on what the seat knows and on `key` alone.
    """
    forget(s, seat)
    redraw(s, seat, key)


@kernel
def forget(s, seat):
    """Put the reserved cards that a seat does not know back into their decks; their places wait to be drawn anew."""
    for level in range(3):
        s.deck[level] = unseen(s, seat, level)


@kernel
def redraw(s, seat, key):
    """Draw the reserved cards that a seat does not know from decks that hold them (`forget`), and rekey the game."""
    stream = key
    s.key = mix(key + GAMMA)
    for other in range(np.int64(s.players)):
        if other != seat and s.hidden[other] != 0:
            for number in range(np.int64(s.reserved_count[other])):
                if is_hidden_from(s, seat, other, number):
                    stream += _HIDDEN_STEP
                    redraw_one(s, hand_place(other, number), mix(stream))
    for level in range(3):
        note_deck(s, level)


@kernel(inline=False)
def redraw_one(s, place, word):
    """Draw another card of its level for a place of a hand."""
    level = level_of(np.int64(s.card_at[place]))
    deck = s.deck[level]
    card = nth_bit(deck, below(word, np.uint64(popcount(deck))))
    s.deck[level] = deck ^ (_ONE << np.uint64(card))
    put(s, place, LEVEL_START[level] + card)
