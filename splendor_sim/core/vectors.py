"""Vector instructions over all places of a state at once, each with a twin in plain Python that says what it does."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.extending import intrinsic

from splendor_sim.core.jit import JIT_DISABLED

_SLOTS, _HAND = 12, 3  # places of the board, places of a seat's hand; those of seat 0 follow the board
_FOUR_COUNTS = typeof((np.int64(0),) * 4)
_LANES = 32  # a row of 24 places and eight bytes that mean nothing


def prestige_by_cost(cost: list[int]) -> int:
    """Return the prestige of a card with this cost (counts by colour): in this game the one follows from the other."""
    most, rest = max(cost), sum(cost) - max(cost)
    if most < 3 or most > 7:
        return 0
    return most - 3 + (rest - (most == 5) >= 3)


def _survey_twin(cost_at: Any, means: Any, bonuses: Any, seat: Any) -> Any:
    """Return what the cards of the board and of a seat's hand are worth to the seat, as four int64.

    cost_at: uint8[5, 24] as in a state. means: gem vector of bonuses and tokens. bonuses: gem vector. With `missing`
    the tokens that the seat lacks for a card after gold, and `due` its cost less bonuses:

    1. the most prestige of a card that lacks none;
    2. the most of prestige + 3 - missing, at least 0;
    3. the sum of prestige * (8 - due) over cards with less than 8 due;
    4. the sum of 4 - due over cards with less than 4 due.
    """
    at_once = worth = by_prestige = cheap = 0
    for place in [*range(_SLOTS), *range(_SLOTS + _HAND * int(seat), _SLOTS + _HAND * (int(seat) + 1))]:
        cost = [int(cost_at[colour, place]) for colour in range(5)]
        lacking = sum(max(0, number - (int(means) >> 8 * colour & 0xFF)) for colour, number in enumerate(cost))
        missing = max(0, lacking - (int(means) >> 40 & 0xFF))
        due = sum(max(0, number - (int(bonuses) >> 8 * colour & 0xFF)) for colour, number in enumerate(cost))
        prestige = prestige_by_cost(cost)
        at_once = max(at_once, prestige if missing == 0 else 0)
        worth = max(worth, prestige + 3 - missing)
        by_prestige += prestige * max(0, 8 - due)
        cheap += max(0, 4 - due)
    return np.int64(at_once), np.int64(worth), np.int64(by_prestige), np.int64(cheap)


@intrinsic  # type: ignore[untyped-decorator]
def _survey(typingctx: Any, cost_at: Any, means: Any, bonuses: Any, seat: Any) -> Any:
    # As in `affordable` (jit.py): a row of costs is a vector of bytes. No byte overflows: costs sum to 14 at most, 64
    # where there is no card.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _Lanes(builder)
        width = signature.args[0].shape[1]
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        rows = [lanes.load(data, colour * width) for colour in range(5)]
        own, bought = lanes.words(args[1]), lanes.words(args[2])
        mine = lanes.places_of(args[3])
        most, total, lacking, due = rows[0], rows[0], None, None
        for colour, row in enumerate(rows):
            if colour:
                most = lanes.call("umax", most, row)
                total = builder.add(total, row)
            short = lanes.call("usub.sat", row, lanes.spread(own, colour))
            lacking = short if lacking is None else builder.add(lacking, short)
            left = lanes.call("usub.sat", row, lanes.spread(bought, colour))
            due = left if due is None else builder.add(due, left)
        missing = lanes.call("usub.sat", lacking, lanes.spread(own, 5))
        prestige = builder.and_(mine, lanes.prestige(most, total))
        free = lanes.mask("==", missing, lanes.all(0))
        at_once = lanes.greatest(builder.and_(free, prestige))
        worth = builder.and_(mine, lanes.call("usub.sat", builder.add(prestige, lanes.all(3)), missing))
        near = lanes.call("usub.sat", lanes.all(8), due)
        cheap = builder.and_(mine, lanes.call("usub.sat", lanes.all(4), due))
        found = [at_once, lanes.greatest(worth), lanes.sum(builder.mul(prestige, near)), lanes.sum(cheap)]
        return context.make_tuple(builder, signature.return_type, found)

    return _FOUR_COUNTS(cost_at, types.uint64, types.uint64, types.int64), codegen


class _Lanes:
    """Emits operations on vectors with a byte for each place."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.byte, self.index, self.long = ir.IntType(8), ir.IntType(32), ir.IntType(64)
        self.row = ir.VectorType(self.byte, _LANES)
        self.wide = ir.VectorType(ir.IntType(16), _LANES)

    def all(self, number: int) -> Any:
        return self.row([number] * _LANES)

    def load(self, data: Any, offset: int) -> Any:
        pointer = self.builder.gep(data, [self.index(offset)])
        return self.builder.load(self.builder.bitcast(pointer, self.row.as_pointer()), align=1)

    def words(self, gems: Any) -> Any:
        """Emit a gem vector in each of four words."""
        words = ir.VectorType(self.long, _LANES // 8)
        first = self.builder.insert_element(words(ir.Undefined), gems, self.index(0))
        zeros = ir.VectorType(self.index, _LANES // 8)([0] * (_LANES // 8))
        return self.builder.bitcast(self.builder.shuffle_vector(first, words(ir.Undefined), zeros), self.row)

    def spread(self, words: Any, colour: int) -> Any:
        """Emit the count of one colour in every lane, from what `words` gave."""
        lanes = ir.VectorType(self.index, _LANES)([colour + 8 * (lane // 8) for lane in range(_LANES)])
        return self.builder.shuffle_vector(words, self.row(ir.Undefined), lanes)

    def places_of(self, seat: Any) -> Any:
        """Emit 255 in the lanes of the board and of a seat's hand, 0 in all others."""
        hands = [range(start, start + _HAND) for start in range(_SLOTS, _SLOTS + 4 * _HAND, _HAND)]
        masks = [[255 * (lane < _SLOTS or lane in hand) for lane in range(_LANES)] for hand in hands]
        table = cgutils.global_constant(self.builder.module, "places", ir.ArrayType(self.row, 4)(masks))
        return self.builder.load(self.builder.gep(table, [self.index(0), seat]), align=1)

    def prestige(self, most: Any, total: Any) -> Any:
        """Emit what prestige_by_cost returns."""
        builder = self.builder
        least = builder.sub(most, self.all(3))
        # One colour of five alone leaves 255 here, which as a signed byte is below 3. True is 255, or less 1.
        rest = builder.add(builder.sub(total, most), self.mask("==", most, self.all(5)))
        extra = builder.icmp_signed(">", rest, self.all(2))
        card = self.mask("<", least, self.all(5))
        return builder.and_(card, builder.sub(least, builder.sext(extra, self.row)))

    def mask(self, compare: str, left: Any, right: Any) -> Any:
        """Emit 255 where an unsigned comparison holds, else 0."""
        return self.builder.sext(self.builder.icmp_unsigned(compare, left, right), self.row)

    def call(self, name: str, left: Any, right: Any) -> Any:
        kind = ir.FunctionType(self.row, [self.row, self.row])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.v{_LANES}i8")
        return self.builder.call(function, [left, right])

    def greatest(self, row: Any) -> Any:
        """Emit the greatest lane, as int64."""
        kind = ir.FunctionType(self.byte, [self.row])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.vector.reduce.umax.v{_LANES}i8")
        return self.builder.zext(self.builder.call(function, [row]), self.long)

    def sum(self, row: Any) -> Any:
        """Emit the sum of all lanes, below 2**16, as int64."""
        kind = ir.FunctionType(ir.IntType(16), [self.wide])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.vector.reduce.add.v{_LANES}i16")
        return self.builder.zext(self.builder.call(function, [self.builder.zext(row, self.wide)]), self.long)


survey = _survey_twin if JIT_DISABLED else _survey
