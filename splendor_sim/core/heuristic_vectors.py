"""The heuristic's vectors: all cards that a seat may buy side by side, and the sums over them. For heuristic.py alone.

Each has a twin in plain Python, which says what it does. Products and sums are rounded apart, in a fixed order, with no
literals between: compiled and plain, on every target, the scores are equal.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from splendor_sim.core import gems
from splendor_sim.core.actions import (
    ACTION_COUNT,
    BUY,
    HAND,
    RESERVE,
    SLOTS,
    TAKE_GEMS,
    TAKE_ONE,
    TAKE_PAIR,
    TAKE_TWO,
)
from splendor_sim.core.cards import (
    CARD_BONUS,
    CARD_GEMS,
    CARD_PRESTIGE,
    LEVEL_START,
    NO_CARD,
    read_only,
)
from splendor_sim.core.engine import (
    legal_buys,
    place_of,
)
from splendor_sim.core.jit import JIT_DISABLED

# By decision id; kernels write the legal ones alone.
SCORES_DTYPE = np.dtype((np.record, np.dtype([("score", "f4", (ACTION_COUNT,))])))


NEAR_NOW = 3  # `near` at this place is for a card that can be paid now; before it gold is left over
MOST_MISSING = 12

# Lanes by choice: slot 0-11, own reserved card 12-14, and one that is always empty.
_CHOICES = 16
TAKES_END, RESERVES_END = 32, 48  # ranked together: takes by id, then reserves, then buys by choice

# What a seat counts for each choice; where there is no card, `asked` and `code` are 0 and the rest means nothing.
COUNTS_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("card", "i1", (_CHOICES,)),  # -1 where there is a card, else 0
                ("prestige", "u1", (_CHOICES,)),
                ("bonus", "u2", (_CHOICES,)),  # colour
                ("due", "u1", (_CHOICES,)),  # cost less bonuses
                ("missing", "u1", (_CHOICES,)),  # due less coloured tokens
                ("lacking", "u1", (_CHOICES,)),  # missing less gold, at most MOST_MISSING
                ("deep", "u1", (_CHOICES,)),  # colours of which three or more are missing
                ("asked", "u1", (_CHOICES,)),  # set of colours that are due
                ("code", "u1", (_CHOICES,)),  # how many of each colour are missing, 0, 1 or more: digits to base 3
                ("buys", "u8"),  # set of choices that can be bought
            ]
        ),
    )
)
# What one seat sees, found once a decision.
VIEW_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("worth", "f4", (_CHOICES,)),  # by choice: what owning the card is worth
                ("sought", "f4", (_CHOICES,)),  # by choice: what of it tokens bring nearer; 0 where there is no card
                ("held", "f4", (_CHOICES,)),  # by choice: what a reserve of it gains, denial included; 12-14: decks
                ("bought", "f4", (_CHOICES,)),  # by choice: what a buy gains
                ("gain", "f4", (24,)),  # what tokens gain by bringing cards nearer: _GAINS
                ("takes", "f4", (TAKES_END,)),  # by decision: what a take gains
                ("left", "i8"),  # prestige that the leading seat lacks for the target
                ("others_buy", "u8"),  # slots that another seat can buy now
                ("decisive", "u8"),  # slots whose purchase would end the game for another seat; 0 unless it is just one
                ("rival", "i8"),  # the most prestige that another seat may have if this round is the last
            ]
        ),
    )
)
COLOUR_SUM = np.dtype((np.record, np.dtype([("lane", "f4", (8,))])))  # by colour

RESERVES, BUYS = np.uint64(TAKES_END), np.uint64(RESERVES_END)
_F0, _F1 = np.float32(0), np.float32(1)
BOARD = np.uint64((1 << SLOTS) - 1)
FLOAT = read_only(np.arange(128, dtype=np.float32))  # a conversion by look-up, and no literal to widen it

# The lanes of `gain`: takes of three by decision, of one by colour, one gold, takes of two by colour.
_GAINS = [*range(TAKE_PAIR), *range(TAKE_ONE, TAKE_TWO), None, *range(TAKE_TWO, RESERVE)]
_ONES, GOLD_LANE, _TWOS = _GAINS.index(TAKE_ONE), _GAINS.index(None), _GAINS.index(TAKE_TWO)
_NOW_LANE = 23  # brings nothing nearer
_PAIR_COLOURS = [[c for c in range(5) if gems.unpack(TAKE_GEMS[t])[c]] for t in range(TAKE_PAIR, TAKE_ONE)]


def _steps_of(code: int) -> list[int]:
    """By how many tokens each lane of `gain` brings a card nearer that lacks what a `code` says."""
    lacking = [code // 3 ** (4 - colour) % 3 for colour in range(5)]
    taken = [gems.unpack(TAKE_GEMS[take]) if take is not None else [] for take in _GAINS]
    steps = [sum(map(min, lacking, take)) if take else 1 for take in taken]
    return [*steps, *[0] * (_NOW_LANE + 1 - len(steps))]


# [codes, 8]: steps counted down from 3, which is where `near` has them, of lanes n, n + 8 and n + 16 in two bits each.
_steps = 3 - np.array([_steps_of(code) for code in range(3**5)]).reshape(-1, 3, 8)
_STEPS = read_only((_steps << np.array([[0], [2], [4]])).sum(1).astype(np.uint8))
# By level: a card's place in its level times this, shifted down by eight bits, is the colour of its bonus.
_COLOUR_FACTORS = [-(-256 * 5 // int(end - start)) for start, end in zip(LEVEL_START, LEVEL_START[1:], strict=False)]
HAS = read_only(np.array([[colours >> c & 1 for c in range(8)] for colours in range(32)], np.float32))


# --- Vectors ---------------------------------------------------------------------------------------------------------
# All choices, or all lanes of a sum, at once; a loop over cards takes twice the time. Each has a twin in plain Python
# that says what it does. Products and sums are rounded apart, in the twin's order, so that every target gets the same.


def _fill_twin(sums, value):
    """Set all lanes of `sums`, float32[8]."""
    for lane in range(len(sums)):
        sums[lane] = value


def _add_scaled_twin(sums, factor, table, row):
    """Add to `sums`, float32[8], a factor times a row (uint64) of a table, float32[rows, 8]."""
    for lane in range(len(sums)):
        sums[lane] += factor * table[row, lane]


def _count_gems_twin(s, seat, c):
    """Fill all of `c` for a seat."""
    tokens, bonuses = gems.unpack(s.tokens[seat]), gems.unpack(s.bonuses[seat])
    c.buys = legal_buys(s, int(seat))
    for choice in range(_CHOICES):
        card = int(s.card_at[place_of(int(seat), choice)]) if choice < SLOTS + HAND else NO_CARD
        c.card[choice] = -(card != NO_CARD)
        c.asked[choice] = c.code[choice] = 0
        if card != NO_CARD:
            due = [max(0, cost - bonus) for cost, bonus in zip(gems.unpack(CARD_GEMS[card])[:5], bonuses, strict=False)]
            short = [max(0, number - token) for number, token in zip(due, tokens, strict=False)]
            c.prestige[choice] = CARD_PRESTIGE[card]
            c.bonus[choice] = CARD_BONUS[card]
            c.due[choice] = sum(due)
            c.missing[choice] = sum(short)
            c.lacking[choice] = min(max(0, sum(short) - tokens[gems.GOLD]), MOST_MISSING)
            c.deep[choice] = sum(number >= 3 for number in short)
            c.asked[choice] = sum((number >= 1) << colour for colour, number in enumerate(due))
            c.code[choice] = sum(min(number, 2) * 3 ** (4 - colour) for colour, number in enumerate(short))


def _add_uses_twin(c, w, colours):
    """Add to the lanes of `colours` what a bonus is worth for the cards that ask for it."""
    for colour in range(5):
        uses = [w.use[c.prestige[n]] if c.asked[n] >> colour & 1 else _F0 for n in range(_CHOICES)]
        while len(uses) > 1:
            half = len(uses) // 2
            uses = [uses[n] + uses[n + half] for n in range(half)]
        colours.lane[colour] += uses[0]


def _weigh_twin(c, w, colours, by_prestige, others_buy, v):
    """Fill `worth`, `sought`, `held` and `bought` of `v`.

    by_prestige: float32, worth of each prestige beside `points`. others_buy: uint64, slots.
    """
    for choice in range(SLOTS + HAND):
        prestige, beyond = c.prestige[choice], w.near[NEAR_NOW - 1 + c.lacking[choice]]
        worth = w.points[prestige] + by_prestige * FLOAT[prestige]
        worth += colours.lane[c.bonus[choice]]
        worth -= w.cost * FLOAT[c.due[choice]]
        sought = worth if worth > _F0 and c.card[choice] else _F0
        sought *= w.deep[c.deep[choice]]
        denied = _F0
        if int(others_buy) >> choice & 1:
            sought *= w.contested
            denied = w.deny[prestige]
        sought *= w.own if choice >= SLOTS else _F1
        v.worth[choice], v.sought[choice] = worth, sought
        v.held[choice] = w.reserve_gain * (sought * beyond) + denied
        bought = (w.buy + w.buy_gain * worth) - w.gold_paid * FLOAT[c.missing[choice]]
        v.bought[choice] = bought + (denied if choice < SLOTS else w.buy_reserved)
    for level in range(3):
        v.held[SLOTS + level] = w.deck[level]


def _add_up_twin(c, w, v):
    """Fill `gain` of `v`: what of the worths will count less what does now, even choices and odd ones summed apart."""
    for lane in range(len(v.gain)):
        sums = [_F0, _F0]
        for choice in range(SLOTS + HAND):
            step = int(_STEPS[c.code[choice], lane % 8]) >> 2 * (lane // 8) & 3
            sums[choice % 2] += w.near[c.lacking[choice] + step] * v.sought[choice]
        v.gain[lane] = sums[0] + sums[1]
    v.gain[:] -= v.gain[_NOW_LANE]


def _spread_takes_twin(v, three, two, one):
    """Fill `takes` of `v` from `gain` and from what a take of three, two and one gains as such."""
    ones, twos = v.gain[_ONES : _ONES + 5], v.gain[_TWOS : _TWOS + 5]
    v.takes[:TAKE_PAIR] = three + v.gain[:TAKE_PAIR]
    v.takes[TAKE_PAIR:TAKE_ONE] = [two + (ones[first] + ones[second]) for first, second in _PAIR_COLOURS]
    v.takes[TAKE_ONE:TAKE_TWO] = one + ones
    v.takes[TAKE_TWO:RESERVE] = two + twos


def _rank_twin(legal, v, reserve, scale, r):
    """Write the scores of the legal decisions, and return the place of the first of the best.

    legal: uint64, by place: takes by id, from TAKES_END on reserves by choice, from RESERVES_END on buys by choice;
    not 0. reserve: float32, what any reserve gains.
    """
    scores = [*v.takes * scale, *(reserve + v.held) * scale, *v.bought * scale]
    places = [place for place in range(64) if int(legal) >> place & 1]
    for start, end, first in (
        (0, TAKES_END, 0),
        (TAKES_END, RESERVES_END, RESERVE),
        (RESERVES_END, 64, BUY),
    ):
        for place in places:
            if start <= place < end:
                r.score[first + place - start] = scores[place]
    return max(places, key=lambda place: (scores[place], -place))


class _Emitter:
    """Emits operations on vectors, and loads and stores them in the fields of the records among the arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder = context, builder
        self.kinds, self.args = signature.args, args
        self.byte, self.index, self.single = ir.IntType(8), ir.IntType(32), ir.FloatType()
        features = context.codegen().magic_tuple()[2].split(",")
        self.can_permute = "+avx2" in features

    def vector(self, kind: Any, lanes: int) -> Any:
        return ir.VectorType(kind, lanes)

    def place(self, argument: int, field: str, kind: Any, at: Any = 0) -> Any:
        """A pointer to a field of a record, `at` bytes (int, or i64 value) from its start, as one to `kind`."""
        start = self.builder.bitcast(self.args[argument], self.byte.as_pointer())
        offset = ir.IntType(64)(self.kinds[argument].offset(field))
        offset = self.builder.add(offset, ir.IntType(64)(at) if isinstance(at, int) else at)
        return self.builder.bitcast(self.builder.gep(start, [offset]), kind.as_pointer())

    def load(self, argument: int, field: str, kind: Any, at: Any = 0) -> Any:
        return self.builder.load(self.place(argument, field, kind, at), align=1)

    def floats(self, argument: int, field: str, lanes: int, at: Any = 0) -> Any:
        return self.load(argument, field, self.vector(self.single, lanes), at)

    def weight(self, argument: int, field: str, lanes: int) -> Any:
        """A float of a record in every lane."""
        return self.spread(self.load(argument, field, self.single), lanes)

    def store(self, value: Any, argument: int, field: str, at: Any = 0) -> None:
        self.builder.store(value, self.place(argument, field, value.type, at), align=1)

    def spread(self, value: Any, lanes: int) -> Any:
        """A scalar in every lane."""
        vector = self.vector(value.type, lanes)
        first = self.builder.insert_element(vector(ir.Undefined), value, self.index(0))
        return self.lanes(first, [0] * lanes)

    def lanes(self, vector: Any, wanted: Any, other: Any = None) -> Any:
        """Lanes of a vector, and of a second one that is numbered on from it."""
        wanted = list(wanted)
        other = vector.type(ir.Undefined) if other is None else other
        return self.builder.shuffle_vector(vector, other, self.vector(self.index, len(wanted))(wanted))

    def join(self, first: Any, second: Any) -> Any:
        return self.lanes(first, range(2 * first.type.count), second)

    def part(self, vector: Any, start: int, end: int) -> Any:
        return self.lanes(vector, range(start, end))

    def call(self, name: str, left: Any, right: Any) -> Any:
        """Emit a call of an LLVM function of two like vectors of bytes."""
        kind = ir.FunctionType(left.type, [left.type, left.type])
        name = f"llvm.{name}.v{left.type.count}i8"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [left, right])

    def pick(self, table: Any, index: Any, entries: int) -> Any:
        """The entries of a table (eight floats, of which so many count) at an index (eight i32) for each lane."""
        if self.can_permute:
            kind = ir.FunctionType(table.type, [table.type, index.type])
            permute = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.x86.avx2.permps")
            return self.builder.call(permute, [table, index])
        found = self.lanes(table, [0] * 8)
        for entry in range(1, entries):
            here = self.builder.icmp_unsigned("==", index, index.type([entry] * 8))
            found = self.builder.select(here, self.lanes(table, [entry] * 8), found)
        return found

    def choose(self, signs: Any, left: Any, right: Any) -> Any:
        """Lanes of `left` where those of i32 are negative, else of `right`, eight at a time."""
        if not self.can_permute:
            return self.builder.select(
                self.builder.icmp_signed("<", signs, signs.type([0] * signs.type.count)), left, right
            )
        # A select before a store would become a masked store, which some processors are slow at.
        eight = self.vector(self.single, 8)
        kind = ir.FunctionType(eight, [eight] * 3)
        blend = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.x86.avx.blendv.ps.256")
        parts = []
        for start in range(0, signs.type.count, 8):
            mask = self.builder.bitcast(self.part(signs, start, start + 8), eight)
            parts.append(self.builder.call(blend, [*(self.part(x, start, start + 8) for x in (right, left)), mask]))
        while len(parts) > 1:
            parts = [self.join(parts[n], parts[n + 1]) for n in range(0, len(parts), 2)]
        return parts[0]

    def pick_four(self, table: Any, index: Any) -> Any:
        """As `pick`, from a table of four that comes twice; of the index the two low bits count."""
        if self.can_permute:
            kind = ir.FunctionType(table.type, [table.type, index.type])
            name = "llvm.x86.avx.vpermilvar.ps.256"
            return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [table, index])
        return self.pick(table, self.builder.and_(index, index.type([3] * 8)), 4)

    def pick_choices(self, argument: int, field: str, index: Any, entries: int, at: int = 0) -> Any:
        """As `pick`, from a field of floats, for all choices (index: i32[16])."""
        table = self.floats(argument, field, 8, at)
        low, high = (self.pick(table, self.part(index, start, start + 8), entries) for start in (0, 8))
        return self.join(low, high)

    def choices(self, field: str) -> Any:
        """A field of the counts, the first argument, as i32 by choice."""
        kind = ir.IntType(self.kinds[0].typeof(field).dtype.bitwidth)
        counts = self.load(0, field, self.vector(kind, _CHOICES))
        return self.builder.zext(counts, self.vector(self.index, _CHOICES))

    def numbers(self, field: str) -> Any:
        """A field of the counts as floats by choice."""
        return self.builder.sitofp(self.choices(field), self.vector(self.single, _CHOICES))

    def pick_near(self, argument: int, lacking: Any) -> Any:
        """What of a card's worth counts with one token more than now, by choice: two tables of eight."""
        found = []
        for start in (0, 8):
            index = self.builder.sub(lacking, lacking.type([start] * _CHOICES))
            found.append(self.pick_choices(argument, "near", index, 8, 4 * (NEAR_NOW - 1 + start)))
        first = self.builder.icmp_unsigned("<", lacking, lacking.type([8] * _CHOICES))
        return self.builder.select(first, *found)

    def all(self, number: int) -> Any:
        """A number in every choice, as bytes."""
        return self.vector(self.byte, _CHOICES)([number] * _CHOICES)

    def mask(self, compare: str, row: Any, number: int) -> Any:
        """255 in the choices where an unsigned comparison of a row of bytes holds, else 0."""
        return self.builder.sext(self.builder.icmp_unsigned(compare, row, self.all(number)), row.type)

    def array(self, argument: int, kind: Any) -> Any:
        """An array among the arguments as a pointer to `kind`."""
        array = self.context.make_array(self.kinds[argument])(self.context, self.builder, self.args[argument])
        return self.builder.bitcast(array.data, kind.as_pointer())

    def constant(self, name: str, table: np.ndarray) -> Any:
        """A pointer to the bytes of a table of bytes."""
        place = cgutils.global_constant(
            self.builder.module, name, cgutils.create_constant_array(self.byte, table.ravel().tolist())
        )
        return self.builder.bitcast(place, self.byte.as_pointer())

    def by_choice(self, field: str, at: int, hand: Any) -> Any:
        """Bytes of the state, the first argument, that stand by place: those of the board and of one hand.

        at: where the row starts in its field. hand: i64, where the hand starts after that of seat 0.
        """
        row = self.load(0, field, self.vector(self.byte, _CHOICES), at)
        four = self.vector(self.index, _CHOICES // 4)
        own = self.load(0, field, self.index, self.builder.add(hand, hand.type(at + SLOTS)))
        row = self.builder.insert_element(self.builder.bitcast(row, four), own, self.index(SLOTS // 4))
        return self.builder.bitcast(row, self.vector(self.byte, _CHOICES))

    def by_colour(self, field: str, seat: Any) -> list[Any]:
        """The six counts of a seat's gem vector in the state, each in every choice as bytes."""
        at = self.builder.mul(seat, seat.type(8))
        word = self.spread(self.load(0, field, ir.IntType(64), at), _CHOICES // 8)
        row = self.builder.bitcast(word, self.vector(self.byte, _CHOICES))
        return [self.lanes(row, [colour] * 8 + [colour + 8] * 8) for colour in range(6)]

    def prestige(self, most: Any, total: Any) -> Any:
        """What prestige_by_cost (vectors.py) says of the highest count and the total of each cost."""
        least = self.builder.sub(most, self.all(3))
        rest = self.builder.add(self.builder.sub(total, most), self.mask("==", most, 5))
        extra = self.builder.sext(self.builder.icmp_signed(">", rest, self.all(2)), rest.type)
        return self.builder.and_(self.mask("<", least, 5), self.builder.sub(least, extra))

    def bonus(self, card: Any) -> Any:
        """The colour of each card's bonus as i16: in every level the cards of a colour stand together, in order."""
        builder, kind = self.builder, self.vector(ir.IntType(16), _CHOICES)

        def same(number: int) -> Any:
            return kind([number] * _CHOICES)

        card = builder.zext(card, kind)
        place, factor, before = card, same(_COLOUR_FACTORS[0]), _COLOUR_FACTORS[0]
        for level in (1, 2):
            there = builder.sext(builder.icmp_signed(">=", card, same(int(LEVEL_START[level]))), kind)
            rise = int(LEVEL_START[level] - LEVEL_START[level - 1])
            place = builder.sub(place, builder.and_(there, same(rise)))
            factor = builder.add(factor, builder.and_(there, same(_COLOUR_FACTORS[level] - before)))
            before = _COLOUR_FACTORS[level]
        return builder.lshr(builder.mul(place, factor), same(8))

    def has_bit(self, words: Any, bits: list[int]) -> Any:
        """Whether each lane of i32 has its bit."""
        bits = [1 << bit for bit in bits]
        signed = [bit - (1 << 32) if bit >= 1 << 31 else bit for bit in bits]
        mask = words.type(signed)
        return self.builder.icmp_unsigned("==", self.builder.and_(words, mask), mask)

    def fold(self, vector: Any, combine: Any) -> Any:
        """All lanes combined into one scalar, half with half."""
        lanes = vector.type.count
        while lanes > 1:
            lanes //= 2
            vector = combine(self.part(vector, 0, lanes), self.part(vector, lanes, 2 * lanes))
        return self.builder.extract_element(vector, self.index(0))

    def greater(self, left: Any, right: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", left, right), left, right)


@intrinsic  # type: ignore[untyped-decorator]
def _fill(typingctx: Any, sums: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        builder.store(emit.spread(args[1], 8), emit.array(0, emit.vector(emit.single, 8)), align=4)
        return context.get_dummy_value()

    return types.void(sums, types.float32), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _add_scaled(typingctx: Any, sums: Any, factor: Any, table: Any, row: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        kind = emit.vector(emit.single, 8)
        into = emit.array(0, kind)
        part = builder.load(builder.gep(emit.array(2, kind), [args[3]]), align=4)
        part = builder.fmul(emit.spread(args[1], 8), part)
        builder.store(builder.fadd(builder.load(into, align=4), part), into, align=4)
        return context.get_dummy_value()

    return types.void(sums, types.float32, table, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _count_gems(typingctx: Any, s: Any, seat: Any, c: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        row = emit.vector(emit.byte, _CHOICES)
        hand = builder.mul(args[1], ir.IntType(64)(HAND))  # bytes from the hand of seat 0
        width = signature.args[0].typeof("cost_at").shape[1]
        card = emit.by_choice("card_at", 0, hand)
        bonuses, tokens = (emit.by_colour(field, args[1]) for field in ("bonuses", "tokens"))
        held = emit.mask("!=", card, NO_CARD)
        held = builder.and_(held, row([255] * (_CHOICES - 1) + [0]))
        most = total = due = missing = deep = asked = code = row([0] * _CHOICES)
        for colour in range(5):
            cost = emit.by_choice("cost_at", colour * width, hand)
            left = emit.call("usub.sat", cost, bonuses[colour])
            short = emit.call("usub.sat", left, tokens[colour])
            most, total = emit.call("umax", most, cost), builder.add(total, cost)
            due, missing = builder.add(due, left), builder.add(missing, short)
            deep = builder.sub(deep, emit.mask(">=", short, 3))
            asked = builder.or_(asked, builder.and_(emit.mask("!=", left, 0), emit.all(1 << colour)))
            digit = emit.call("umin", short, emit.all(2))
            code = builder.add(builder.add(code, builder.add(code, code)), digit)
        lacking = emit.call("umin", emit.call("usub.sat", missing, tokens[gems.GOLD]), emit.all(MOST_MISSING))
        found = {
            "card": held,
            "prestige": builder.and_(held, emit.prestige(most, total)),
            "bonus": emit.bonus(card),
            "due": due,
            "missing": missing,
            "lacking": lacking,
            "deep": deep,
            "asked": builder.and_(held, asked),
            "code": builder.and_(held, code),
        }
        for field, counts in found.items():
            emit.store(counts, 2, field)
        free = builder.icmp_unsigned("!=", builder.and_(held, emit.mask("==", lacking, 0)), emit.all(0))
        free = builder.bitcast(free, ir.IntType(_CHOICES))
        emit.store(builder.zext(free, ir.IntType(64)), 2, "buys")
        return context.get_dummy_value()

    return types.void(s, types.int64, c), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _add_uses(typingctx: Any, c: Any, w: Any, colours: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        uses = emit.pick_choices(1, "use", emit.choices("prestige"), 6)
        asked = emit.choices("asked")
        added = emit.vector(emit.single, 8)([0.0] * 8)
        for colour in range(5):
            here = builder.select(emit.has_bit(asked, [colour] * _CHOICES), uses, uses.type([0.0] * _CHOICES))
            added = builder.insert_element(added, emit.fold(here, builder.fadd), emit.index(colour))
        emit.store(builder.fadd(emit.floats(2, "lane", 8), added), 2, "lane")
        return context.get_dummy_value()

    return types.void(c, w, colours), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _weigh(typingctx: Any, c: Any, w: Any, colours: Any, by_prestige: Any, others_buy: Any, v: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        times, plus, minus, choose = builder.fmul, builder.fadd, builder.fsub, builder.select
        floats = emit.vector(emit.single, _CHOICES)
        none = floats([0.0] * _CHOICES)

        def weight(field: str) -> Any:
            return emit.weight(1, field, _CHOICES)

        prestige = emit.choices("prestige")
        worth = plus(
            emit.pick_choices(1, "points", prestige, 6),
            times(emit.spread(args[3], _CHOICES), builder.sitofp(prestige, floats)),
        )
        worth = plus(worth, emit.pick_choices(2, "lane", emit.choices("bonus"), 5))
        worth = minus(worth, times(weight("cost"), emit.numbers("due")))
        deep = builder.bitcast(emit.pick_choices(1, "deep", emit.choices("deep"), 6), prestige.type)
        card = builder.sext(emit.load(0, "card", emit.all(0).type), prestige.type)
        deep = builder.bitcast(builder.and_(deep, card), floats)
        sought = times(emit.greater(worth, none), deep)
        slots = emit.spread(builder.trunc(args[4], emit.index), _CHOICES)
        rivalled = emit.has_bit(slots, list(range(_CHOICES)))
        one = floats([1.0] * _CHOICES)
        sought = times(sought, choose(rivalled, weight("contested"), one))
        denied = choose(rivalled, emit.pick_choices(1, "deny", prestige, 6), none)
        # The board's choices of one vector, and those of the hand of another.
        apart = [*range(SLOTS), *range(_CHOICES + SLOTS, 2 * _CHOICES)]
        sought = times(sought, emit.lanes(one, apart, weight("own")))
        beyond = emit.pick_near(1, emit.choices("lacking"))
        held = plus(times(weight("reserve_gain"), times(sought, beyond)), denied)
        decks = emit.floats(1, "deck", 4)
        decks = emit.lanes(decks, [0] * SLOTS + [0, 1, 2, 2])
        held = emit.lanes(held, apart, decks)
        bought = minus(
            plus(weight("buy"), times(weight("buy_gain"), worth)), times(weight("gold_paid"), emit.numbers("missing"))
        )
        more = emit.lanes(denied, apart, weight("buy_reserved"))
        for field, found in {"worth": worth, "sought": sought, "held": held, "bought": plus(bought, more)}.items():
            emit.store(found, 5, field)
        return context.get_dummy_value()

    return types.void(c, w, colours, types.float32, types.uint64, v), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _add_up(typingctx: Any, c: Any, w: Any, v: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        long, parts = ir.IntType(64), range(3)
        steps = emit.constant("steps", _STEPS)
        sums = [[emit.vector(emit.single, 8)([0.0] * 8) for _ in parts] for _ in range(2)]
        for choice in range(SLOTS + HAND):
            lacking, code = (
                builder.zext(emit.load(0, field, emit.byte, choice), long) for field in ("lacking", "code")
            )
            near = emit.lanes(emit.floats(1, "near", 4, builder.mul(lacking, long(4))), [0, 1, 2, 3] * 2)
            near = builder.fmul(near, emit.spread(emit.load(2, "sought", emit.single, 4 * choice), 8))
            place = builder.gep(steps, [builder.mul(code, long(8))])
            index = builder.load(builder.bitcast(place, emit.vector(emit.byte, 8).as_pointer()), align=1)
            index = builder.zext(index, emit.vector(emit.index, 8))
            for part in parts:
                gained = emit.pick_four(near, builder.lshr(index, index.type([2 * part] * 8)))
                sums[choice % 2][part] = builder.fadd(sums[choice % 2][part], gained)
        sums = [builder.fadd(*sums_of) for sums_of in zip(*sums, strict=True)]
        now = emit.lanes(sums[2], [_NOW_LANE % 8] * 8)
        for part in parts:
            emit.store(builder.fsub(sums[part], now), 2, "gain", 32 * part)
        return context.get_dummy_value()

    return types.void(c, w, v), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _spread_takes(typingctx: Any, v: Any, three: Any, two: Any, one: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        gain = emit.floats(0, "gain", 24)
        rest = [0] * (TAKES_END - RESERVE)
        first, second = ([_ONES + pair[n] for pair in _PAIR_COLOURS] for n in (0, 1))
        ones, twos = ([start + colour for colour in range(5)] for start in (_ONES, _TWOS))
        pairs = builder.fadd(emit.lanes(gain, first), emit.lanes(gain, second))
        pairs = emit.lanes(pairs, [*range(10), *[0] * 14])
        takes = emit.lanes(gain, [*range(TAKE_PAIR), *range(24, 34), *ones, *twos, *rest], pairs)
        bases = builder.insert_element(emit.vector(emit.single, 4)(ir.Undefined), args[1], emit.index(0))
        bases = builder.insert_element(bases, args[2], emit.index(1))
        bases = builder.insert_element(bases, args[3], emit.index(2))
        base = emit.lanes(bases, [0] * 10 + [1] * 10 + [2] * 5 + [1] * 5 + rest)
        emit.store(builder.fadd(base, takes), 0, "takes")
        return context.get_dummy_value()

    return types.void(v, types.float32, types.float32, types.float32), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _rank(typingctx: Any, legal: Any, v: Any, reserve: Any, scale: Any, r: Any) -> Any:
    # What is not legal keeps its old score. All are loaded first, so that no load waits for a store under way.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, signature, args)
        held = emit.floats(1, "held", _CHOICES)
        held = builder.fadd(emit.spread(args[2], _CHOICES), held)
        scores = emit.join(emit.floats(1, "takes", TAKES_END), emit.join(held, emit.floats(1, "bought", _CHOICES)))
        scores = builder.fmul(scores, emit.spread(args[3], 64))
        halves = [builder.trunc(builder.lshr(args[0], args[0].type(shift)), emit.index) for shift in (0, 32)]
        words = emit.join(emit.spread(halves[0], 32), emit.spread(halves[1], 32))
        # The bit of each place comes to the sign.
        allowed = builder.shl(words, words.type([31 - place % 32 for place in range(64)]))
        pieces = ((0, TAKES_END, 0), (TAKES_END, RESERVES_END, RESERVE), (RESERVES_END, 64, BUY))
        olds = [emit.floats(4, "score", end - start, 4 * first) for start, end, first in pieces]
        for (start, end, first), old in zip(pieces, olds, strict=True):
            new = emit.choose(emit.part(allowed, start, end), emit.part(scores, start, end), old)
            emit.store(new, 4, "score", 4 * first)
        scores = emit.choose(allowed, scores, emit.spread(emit.single(-math.inf), 64))
        top = emit.spread(emit.fold(scores, emit.greater), 64)
        best = builder.bitcast(builder.fcmp_ordered("==", scores, top), ir.IntType(64))
        return builder.cttz(best, ir.IntType(1)(1))

    return types.int64(types.uint64, v, types.float32, types.float32, r), codegen


fill = _fill_twin if JIT_DISABLED else _fill
add_scaled = _add_scaled_twin if JIT_DISABLED else _add_scaled
count_gems = _count_gems_twin if JIT_DISABLED else _count_gems
add_uses = _add_uses_twin if JIT_DISABLED else _add_uses
weigh = _weigh_twin if JIT_DISABLED else _weigh
add_up = _add_up_twin if JIT_DISABLED else _add_up
spread_takes = _spread_takes_twin if JIT_DISABLED else _spread_takes
rank = _rank_twin if JIT_DISABLED else _rank
