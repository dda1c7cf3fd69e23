"""The one kernel decorator, its compile cache, and the bit helpers that need the compiler's own instructions."""

import functools
import hashlib
import importlib.resources
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite import ir
from numba.core import caching, cgutils, config, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

JIT_DISABLED = bool(config.DISABLE_JIT)
if JIT_DISABLED:
    # Kernels count on uint64 wrapping round, as compiled code does; numpy's scalars would warn of it.
    np.seterr(over="ignore")


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, inline: bool) -> Callable[[F], F]: ...
def kernel(function: Any = None, *, inline: bool = True) -> Any:
    """Compile `function` with the project's options: no GIL, cached on disk, divisions unchecked, inlined.

    A call between compiled functions that is not inlined costs several ns. `inline=False` leaves it to the compiler,
    for what is large or rare: it keeps callers small.
    """
    if function is None:
        return functools.partial(kernel, inline=inline)
    if JIT_DISABLED:
        return function
    dispatcher = numba.njit(function, nogil=True, error_model="numpy", forceinline=inline)
    if _cache_folder() is not None:
        dispatcher._cache = _KernelCache(function)
    return dispatcher


def is_ready(dispatcher: Any, *arguments: Any) -> bool:
    """Whether a call with such arguments starts at once: compiled in this process or on disk, or never to be."""
    if JIT_DISABLED:
        return True
    signature = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
    if signature in dispatcher.overloads:
        return True
    return isinstance(dispatcher._cache, _KernelCache) and dispatcher._cache.holds(signature)


# --- The cache -------------------------------------------------------------------------------------------------------
# Numba's own cache watches only the file of the cached function, so an edit of a helper in another file would leave a
# stale caller (numba#1833, numba#8851). Here the stamp of every kernel is the hash of all kernel sources.


@functools.cache
def _sources_stamp() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version_info[:2]}".encode())
    sources = importlib.resources.files(__package__).iterdir()  # works inside a zip too
    for source in sorted(sources, key=lambda file: file.name):
        if source.name.endswith(".py"):
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def _cache_folder() -> str | None:
    """The first folder that can be written: NUMBA_CACHE_DIR, beside the sources, the user's cache; else None."""
    if config.CACHE_DIR:
        candidates = [os.path.join(config.CACHE_DIR, "splendor_sim")]
    else:
        user = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        candidates = [str(Path(__file__).parent / "__pycache__"), os.path.join(user, "splendor_sim")]
    for folder in candidates:
        try:
            os.makedirs(folder, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    warnings.warn(
        "splendor_sim: no folder for compiled kernels can be written (" + ", ".join(candidates) + "), so every start "
        "compiles them again; set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


class _KernelLocator(caching._CacheLocator):  # type: ignore[misc]
    """Says to Numba where a kernel's compiled form lies and which stamp it carries."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_KernelLocator":
        return cls()

    def get_cache_path(self) -> str:
        return _cache_folder() or ""

    def get_source_stamp(self) -> str:
        return _sources_stamp()

    def get_disambiguator(self) -> str:
        # Kernels with bounds checks are other kernels; and versions in use side by side never share a file.
        return _sources_stamp()[:12] + ("-checked" if config.BOUNDSCHECK else "")


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with the stamp of all kernel sources, and never fatal."""

    _impl_class = _KernelCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load; what a torn file does not give is compiled anew (numba#10434)."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save, or go on without: a full disk must not stop a game."""
        try:
            super().save_overload(sig, data)
        except Exception:
            self._forget()

    def holds(self, signature: Any) -> bool:
        """Whether the index on disk is of the sources of today and names a compiled form for these types."""
        try:
            return any(key[0] == signature for key in self._cache_file._load_index())
        except Exception:
            return False

    def _forget(self) -> None:
        try:
            self.flush()
        except OSError:
            self.disable()


# --- Bits ------------------------------------------------------------------------------------------------------------
# Each has a twin in plain Python, which runs with the JIT disabled and says what it does.


def _popcount_twin(word: Any) -> Any:
    """Return the number of set bits of a uint64, as int64."""
    return np.int64(int(word).bit_count())


@intrinsic  # type: ignore[untyped-decorator]
def _popcount(typingctx: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


def _nth_bit_twin(word: Any, n: Any) -> Any:
    """Return the position (int64) of set bit number `n` (from 0) of a uint64 that has more than `n`."""
    rest = int(word)
    for _ in range(int(n)):
        rest &= rest - 1
    return np.int64((rest & -rest).bit_length() - 1)


@intrinsic  # type: ignore[untyped-decorator]
def _nth_bit(typingctx: Any, word: Any, n: Any) -> Any:
    # pdep deposits one bit at the place sought; processors without it, or with a slow one, go the portable way.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        if _has_fast_pdep(context):
            deposit = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(word, [word, word]), "llvm.x86.bmi.pdep.64"
            )
            found = builder.call(deposit, [builder.shl(word(1), args[1]), args[0]])
            return builder.cttz(found, ir.IntType(1)(1))
        return _emit_nth_bit(builder, args[0], args[1])

    return types.int64(types.uint64, types.uint64), codegen


def _has_fast_pdep(context: Any) -> bool:
    _, cpu, features = context.codegen().magic_tuple()
    return "+bmi2" in features.split(",") and cpu not in ("znver1", "znver2")


def _emit_nth_bit(builder: Any, bits: Any, n: Any) -> Any:
    """Emit the search without pdep: halve the word six times, going where bit number `n` lies."""
    word = ir.IntType(64)
    place = word(0)
    for width in (32, 16, 8, 4, 2, 1):
        low = builder.ctpop(builder.and_(bits, word((1 << width) - 1)))
        above = builder.icmp_unsigned(">=", n, low)
        n = builder.select(above, builder.sub(n, low), n)
        bits = builder.select(above, builder.lshr(bits, word(width)), bits)
        place = builder.select(above, builder.add(place, word(width)), place)
    return place


def _affordable_twin(cost_at: Any, means: Any) -> Any:
    """Return in which of the 24 places lies a card that bonuses and tokens together (a gem vector) can pay.

    Bits beyond the 24 mean nothing.
    """
    gold = int(means) >> 40 & 0xFF
    mask = 0
    for place in range(cost_at.shape[1]):
        shortfall = sum(max(0, int(cost_at[colour, place]) - (int(means) >> 8 * colour & 0xFF)) for colour in range(5))
        mask |= (shortfall <= gold) << place
    return np.uint64(mask)


@intrinsic  # type: ignore[untyped-decorator]
def _affordable(typingctx: Any, cost_at: Any, means: Any) -> Any:
    # A row of costs, one colour of all places, is one vector of bytes; the bytes behind the last place mean nothing
    # (state.py sees to it that there are some). Only portable vector operations, so every target can compile it.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, index = ir.IntType(8), ir.IntType(32)
        row = ir.VectorType(byte, 32)
        width = signature.args[0].shape[1]
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        words = ir.VectorType(ir.IntType(64), 4)
        hand = builder.insert_element(words(ir.Undefined), args[1], index(0))
        hand = builder.shuffle_vector(hand, words(ir.Undefined), ir.VectorType(index, 4)([0] * 4))
        hand = builder.bitcast(hand, row)

        def spread(colour: int) -> Any:
            lanes = ir.VectorType(index, 32)([colour + 8 * (lane // 8) for lane in range(32)])
            return builder.shuffle_vector(hand, row(ir.Undefined), lanes)

        def call(name: str, left: Any, right: Any) -> Any:
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(row, [row, row]), name)
            return builder.call(function, [left, right])

        total = None
        for colour in range(5):
            pointer = builder.bitcast(builder.gep(data, [index(colour * width)]), row.as_pointer())
            short = call("llvm.usub.sat.v32i8", builder.load(pointer, align=1), spread(colour))
            # No sum exceeds 255: costs are at most 7 a colour, 64 in all where there is no card.
            total = short if total is None else builder.add(total, short)
        beyond = call("llvm.usub.sat.v32i8", total, spread(5))
        enough = builder.icmp_unsigned("==", beyond, row([0] * 32))
        return builder.zext(builder.bitcast(enough, index), ir.IntType(64))

    return types.uint64(cost_at, types.uint64), codegen


def _met_twin(noble_gems: Any, bonuses: Any) -> Any:
    """Return which of the five places of the row hold a noble whose requirement the bonuses meet, as bits."""
    mask = 0
    for place, noble in enumerate(noble_gems):
        asked = [(int(noble) >> shift & 0xFF, int(bonuses) >> shift & 0xFF) for shift in range(0, 40, 8)]
        mask |= all(number <= have for number, have in asked) << place
    return np.uint64(mask)


@intrinsic  # type: ignore[untyped-decorator]
def _met(typingctx: Any, noble_gems: Any, bonuses: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, index = ir.IntType(64), ir.IntType(32)
        words, octets = ir.VectorType(word, 8), ir.VectorType(ir.IntType(8), 64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        asked = builder.load(builder.bitcast(data, octets.as_pointer()), align=8)
        have = builder.insert_element(words(ir.Undefined), args[1], index(0))
        have = builder.shuffle_vector(have, words(ir.Undefined), ir.VectorType(index, 8)([0] * 8))
        subtract = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(octets, [octets, octets]), "llvm.usub.sat.v64i8"
        )
        lacking = builder.bitcast(builder.call(subtract, [asked, builder.bitcast(have, octets)]), words)
        mask = builder.bitcast(builder.icmp_unsigned("==", lacking, words([0] * 8)), ir.IntType(8))
        return builder.and_(builder.zext(mask, word), word(0x1F))

    return types.uint64(noble_gems, types.uint64), codegen


# --- Scratch ---------------------------------------------------------------------------------------------------------


def _local_twin(dtype: Any) -> Any:
    """Return one record of a dtype on the stack of the calling function, not set to anything; never return it."""
    return np.zeros(1, dtype)[0]


@intrinsic  # type: ignore[untyped-decorator]
def _local(typingctx: Any, dtype: Any) -> Any:
    # np.empty would ask the allocator, which costs more than many a kernel.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        record = signature.return_type
        bytes_ = ir.ArrayType(ir.IntType(8), record.size)
        place = cgutils.alloca_once(builder, bytes_)
        place.align = 64
        return builder.bitcast(place, context.get_value_type(record))

    return dtype.dtype(dtype), codegen


local = _local_twin if JIT_DISABLED else _local
popcount = _popcount_twin if JIT_DISABLED else _popcount
nth_bit = _nth_bit_twin if JIT_DISABLED else _nth_bit
met = _met_twin if JIT_DISABLED else _met
affordable = _affordable_twin if JIT_DISABLED else _affordable
