"""The heuristic: a score for every legal decision, from what the seat to move knows of the position and nothing else.

What a card is worth to the seat (prestige, what its bonus saves, nobles, less its price) is found once a decision.
Buying gains that worth. Tokens and gold gain the worth of all cards that they bring nearer: how much of a card's worth
counts already while tokens are lacking is a table of the weights, `near`. Near the end come what wins, what loses and
what another seat must not get. All constants are weights (heuristic_weights.py), fitted by scripts/fit_heuristic.

Everything is float32 arithmetic in a fixed order, with no literals between: compiled and plain, the scores are equal.
"""

import numpy as np

from splendor_sim.core import gems
from splendor_sim.core.actions import (
    BUY,
    GOLD_FOR,
    NOBLE,
    PASS,
    PAY,
    RESERVE,
    RETURN,
    SLOTS,
)
from splendor_sim.core.cards import (
    CARD_BONUS,
    CARD_GEMS,
    CARD_PRESTIGE,
    NO_CARD,
    NO_NOBLE,
    NOBLE_PRESTIGE,
    read_only,
)
from splendor_sim.core.engine import (
    hand_place,
    legal_payments,
    legal_reserves,
    legal_takes,
    place_of,
    qualifying,
)
from splendor_sim.core.heuristic_vectors import (
    BOARD,
    BUYS,
    COLOUR_SUM,
    COUNTS_DTYPE,
    FLOAT,
    GOLD_LANE,
    HAS,
    MOST_MISSING,
    NEAR_NOW,
    RESERVES,
    RESERVES_END,
    SCORES_DTYPE,
    TAKES_END,
    VIEW_DTYPE,
    add_scaled,
    add_up,
    add_uses,
    count_gems,
    fill,
    rank,
    spread_takes,
    weigh,
)
from splendor_sim.core.heuristic_weights import WEIGHTS, WEIGHTS_DTYPE
from splendor_sim.core.jit import affordable, kernel, local, met, nth_bit
from splendor_sim.core.prior_weights import FITTED
from splendor_sim.core.rules import END
from splendor_sim.core.state import CHOOSING_NOBLE, MAIN, PAYING

PRIOR = read_only(np.array(list(FITTED), WEIGHTS_DTYPE))  # [players - 2], WEIGHTS of their own

_END_ZONE = 8  # a turn brings at most this much prestige: a card's 5 and a noble's 3
_F0 = np.float32(0)
_LOWEST = np.float32(-np.inf)
_IMMEDIATE = END["immediate"]
_ZERO, _ONE = np.uint64(0), np.uint64(1)


# --- The policy ------------------------------------------------------------------------------------------------------


@kernel(inline=False)
def score_decisions(s, r):
    """Write the score of every legal decision to `r.score`, whose softmax is a prior. The game is not over.

    The weights are those of the prior, which is right about all decisions, not only about the best.
    """
    score_with(s, PRIOR[np.int64(s.players) - 2], r)


@kernel(inline=False)
def choose_heuristic(s):
    """The id of the decision with the highest score, the lowest such id."""
    return choose_with(s, WEIGHTS[np.int64(s.players) - 2])


@kernel
def choose_with(s, w):
    """The decision that these weights (a record of WEIGHTS_DTYPE) score highest."""
    r = local(SCORES_DTYPE)
    return score_with(s, w, r)


@kernel(inline=False)
def score_with(s, w, r):
    """Write the scores by these weights to `r.score`, and return the id with the highest."""
    seat = np.int64(s.to_move)
    if s.phase == MAIN:
        return score_main(s, w, seat, r)
    return score_small(s, w, seat, r)


@kernel
def score_main(s, w, seat, r):
    """Score the main decisions."""
    c, v = local(COUNTS_DTYPE), local(VIEW_DTYPE)
    watch_others(s, seat, v)
    value_cards(s, w, seat, c, v)
    add_up(c, w, v)
    value_takes(s, w, seat, v)
    if v.left <= _END_ZONE:
        value_end(s, w, seat, c.buys, v)
    legal = legal_takes(s) | (legal_reserves(s, seat) << RESERVES) | (c.buys << BUYS)
    if legal == _ZERO:
        r.score[PASS] = _F0
        return PASS
    best = rank(legal, v, value_reserve(s, w, seat, v), w.scale, r)
    if best < TAKES_END:
        return best
    return best - (TAKES_END - RESERVE) if best < RESERVES_END else best - (RESERVES_END - BUY)


@kernel
def better(r, action, score, best, top):
    """Write a score, and return the better of two decisions with its score, the earlier one if they are equal."""
    r.score[action] = score
    return (action, score) if score > top else (best, top)


# --- What is seen ----------------------------------------------------------------------------------------------------


@kernel
def watch_others(s, seat, v):
    """Find how near the end is, and what others can buy now."""
    target = np.int64(s.target_prestige)
    leading = 0
    v.others_buy = _ZERO
    for other in range(np.int64(s.players)):
        leading = max(leading, np.int64(s.prestige[other]))
        if other != seat:
            v.others_buy |= affordable(s.cost_at, s.bonuses[other] + s.tokens[other]) & BOARD
    v.left = min(max(target - leading, 0), 15)


@kernel
def value_cards(s, w, seat, c, v):
    """Find what each card is worth, and what reserving and buying it gains."""
    count_gems(s, seat, c)
    colours = local(COLOUR_SUM)
    value_bonuses(s, w, seat, c, v, colours)
    weigh(c, w, colours, w.points_left * FLOAT[v.left], v.others_buy, v)


@kernel
def value_bonuses(s, w, seat, c, v, colours):
    """Find what one more bonus of each colour is worth: as such, for the nobles, and for the cards in sight."""
    bonuses = s.bonuses[seat]
    fill(colours.lane, w.bonus + w.bonus_left * FLOAT[v.left])
    for place in range(np.int64(s.players) + 1):
        lacking = gems.less(s.noble_gems[place], bonuses)
        asked = gems.colours_without_gold(lacking, _ONE)
        # A row of nothing for a taken tile: no branch.
        asked = asked if s.nobles[place] != NO_NOBLE else _ZERO
        add_scaled(colours.lane, w.noble[min(np.int64(gems.total(lacking)), 9)], HAS, asked)
    add_uses(c, w, colours)


# --- The scores ------------------------------------------------------------------------------------------------------


@kernel
def value_takes(s, w, seat, v):
    """Find what each take is worth: what the tokens gain, less what lies beyond the token limit."""
    room = np.int64(s.token_limit) - np.int64(gems.total(s.tokens[seat]))
    three = w.take_three - w.over[max(3 - room, 0)]
    two = w.take_two - w.over[max(2 - room, 0)]
    one = w.take_one - w.over[max(1 - room, 0)]
    spread_takes(v, three, two, one)


@kernel
def value_reserve(s, w, seat, v):
    """What any reserve is worth: a place in the hand, and a gold if the bank has one."""
    base = w.hand[min(np.int64(s.reserved_count[seat]), 2)]
    if gems.gold(s.bank) != _ZERO:
        base += w.gold + v.gain[GOLD_LANE]
        if gems.total(s.tokens[seat]) >= s.token_limit:
            base -= w.over[1]
    return base


@kernel(inline=False)
def value_end(s, w, seat, buys, v):
    """Near the end, add what wins, what loses, and what another seat must not get; buys: by choice, uint64."""
    may_end = s.target_reached != 0 or np.int64(s.prestige[seat]) + _END_ZONE >= s.target_prestige
    watch_end(s, seat, may_end, v)
    if v.decisive != _ZERO:
        slot = nth_bit(v.decisive, _ZERO)
        v.held[slot] += w.deny_end_reserve
        v.bought[slot] += w.deny_end
    if may_end:
        while buys != _ZERO:
            choice = nth_bit(buys, _ZERO)
            buys &= buys - _ONE
            v.bought[choice] += ending(s, w, seat, v, np.int64(s.card_at[place_of(seat, choice)]))


@kernel
def watch_end(s, seat, may_end, v):
    """Find the one slot that would end the game for others, and what they may have if this round is the last.

    may_end: whether the latter will be asked for.
    """
    decisive = _ZERO
    v.rival = 0
    for other in range(np.int64(s.players)):
        if other != seat:
            has = np.int64(s.prestige[other])
            final = has
            if has + _END_ZONE >= s.target_prestige or (may_end and other > seat):
                hand = (_ONE << np.uint64(s.reserved_count[other])) - _ONE
                hand = (hand & ~np.uint64(s.hidden[other])) << np.uint64(hand_place(other, 0))
                places = affordable(s.cost_at, s.bonuses[other] + s.tokens[other]) & (BOARD | hand)
                while places != _ZERO:
                    place = nth_bit(places, _ZERO)
                    places &= places - _ONE
                    reached = has + prestige_of(s, other, np.int64(s.card_at[place]))
                    if reached >= s.target_prestige:
                        decisive |= _ONE << np.uint64(place)
                    if other > seat and s.end != _IMMEDIATE:
                        final = max(final, reached)
            v.rival = max(v.rival, final)
    # Who has two ways to the target cannot be kept from it.
    if decisive & (decisive - _ONE) == _ZERO:
        v.decisive = decisive & BOARD


@kernel
def ending(s, w, seat, v, card):
    """What it is worth that buying a card makes this round the last, or comes in the last round."""
    prestige = prestige_of(s, seat, card)
    has = np.int64(s.prestige[seat]) + prestige
    if s.target_reached == 0 and has < s.target_prestige:
        return _F0
    score = w.final * FLOAT[prestige]
    if has > v.rival:
        return score + w.win
    if has == v.rival:
        return score + w.tie
    return score - w.lose


@kernel
def prestige_of(s, seat, card):
    """The prestige that a seat gets in the turn in which it buys a card."""
    prestige = np.int64(CARD_PRESTIGE[card])
    if met(s.noble_gems, s.bonuses[seat] + gems.one(CARD_BONUS[card])) != _ZERO:
        prestige += NOBLE_PRESTIGE
    return prestige


# --- Payments, returns, nobles ---------------------------------------------------------------------------------------


@kernel(inline=False)
def score_small(s, w, seat, r):
    """Score the decisions of the other phases."""
    if s.phase == PAYING:
        return score_payments(s, w, seat, r)
    if s.phase == CHOOSING_NOBLE:
        return score_nobles(s, w, seat, r)
    return score_returns(s, w, seat, r)


@kernel
def score_payments(s, w, seat, r):
    """Score the legal payments: gold where it must be, and coloured tokens wherever they can."""
    choices = legal_payments(s, seat)
    due = gems.less(gems.less(CARD_GEMS[s.pending_card], s.bonuses[seat]), s.pending_gold)
    short = gems.less(due, s.tokens[seat] & gems.COLOURED)
    best, top = -1, _LOWEST
    while choices != _ZERO:
        choice = nth_bit(choices, _ZERO)
        choices &= choices - _ONE
        score = w.keep_gold
        if choice != PAY - GOLD_FOR and gems.count(short, choice) == _ZERO:
            score = -w.keep_gold
        best, top = better(r, GOLD_FOR + choice, score * w.scale, best, top)
    return best


@kernel
def score_nobles(s, w, seat, r):
    """Score the nobles to choose from: first the one that another seat is nearest to."""
    places = qualifying(s, seat)
    best, top = -1, _LOWEST
    while places != _ZERO:
        place = nth_bit(places, _ZERO)
        places &= places - _ONE
        score = -w.noble_rival * FLOAT[rival_distance(s, seat, place)]
        best, top = better(r, NOBLE + place, score * w.scale, best, top)
    return best


@kernel
def rival_distance(s, seat, place):
    """The fewest bonuses that another seat lacks for a noble."""
    fewest = 20
    for other in range(np.int64(s.players)):
        if other != seat:
            fewest = min(fewest, np.int64(gems.total(gems.less(s.noble_gems[place], s.bonuses[other]))))
    return fewest


@kernel
def score_returns(s, w, seat, r):
    """Score the legal returns: what is lost as cards come to lie farther off."""
    c, v, lost = local(COUNTS_DTYPE), local(VIEW_DTYPE), local(COLOUR_SUM)
    watch_others(s, seat, v)
    value_cards(s, w, seat, c, v)
    tokens = s.tokens[seat]
    gold = np.int64(gems.gold(tokens))
    fill(lost.lane, _F0)
    for choice in range(SLOTS + np.int64(s.reserved_count[seat])):
        card = np.int64(s.card_at[place_of(seat, choice)])
        if card != NO_CARD:
            due = gems.less(CARD_GEMS[card], s.bonuses[seat])
            short = np.int64(c.missing[choice])
            missing = min(max(short - gold, 0), MOST_MISSING - 1)
            loss = max(v.worth[choice], _F0) * (w.near[NEAR_NOW + missing] - w.near[NEAR_NOW + missing + 1])
            if choice >= SLOTS:
                loss *= w.own
            if short < gold:
                loss *= w.spare
            for colour in range(5):
                if gems.count(due, colour) >= gems.count(tokens, colour):
                    lost.lane[colour] += loss
            lost.lane[gems.GOLD] += loss
    lost.lane[gems.GOLD] += w.gold_kept
    held = gems.colours_with(tokens, _ONE)
    best, top = -1, _LOWEST
    while held != _ZERO:
        colour = nth_bit(held, _ZERO)
        held &= held - _ONE
        score = -lost.lane[colour] * w.return_scale
        best, top = better(r, RETURN + colour, score * w.scale, best, top)
    return best
