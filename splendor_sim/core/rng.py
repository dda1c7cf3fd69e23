"""Keyed random streams in the manner of SplitMix64 (Steele, Lea and Flood, 2014): pure functions of 64-bit integers.

A stream is a uint64 that its holder carries: `stream += GAMMA`, then `mix(stream)` is the next random word.
"""

from typing import Any

import numpy as np

from splendor_sim.core.jit import kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)

# Purposes: streams of one game that must not meet. An agent at seat s draws from AGENT + s.
DEAL, DETERMINIZE, SEARCH, PLAYOUT, AGENT = 1, 2, 3, 4, 16

_M1, _M2, _M3 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0xD1342543DE82EF95)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mix(word):
    """A random-looking word for a word, one to one (the finalizer of SplitMix64)."""
    word = (word ^ (word >> _S30)) * _M1
    word = (word ^ (word >> _S27)) * _M2
    return word ^ (word >> _S31)


@kernel
def stream_of(seed, index, purpose):
    """The stream of game `index` of a run with `seed` (uint64) for a purpose; each argument is mixed in by itself."""
    word = mix(seed + GAMMA)
    word = mix((word ^ np.uint64(index)) * _M3 + GAMMA)
    return mix((word ^ np.uint64(purpose)) * _M3 + GAMMA)


@kernel
def below(word, n):
    """A number from 0 to n - 1 (uint64, n < 2**32) from a random word; the bias is under n / 2**32."""
    return ((word >> _S32) * n) >> _S32


def check_seed(seed: Any) -> int:
    """Return a seed as int; raise SeedError if it is no whole number from 0 to 2**64 - 1."""
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, int | np.integer):
        raise SeedError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    if not 0 <= seed < 2**64:
        raise SeedError(f"a seed lies in 0 to 2**64 - 1, not {int(seed)}")
    return int(seed)


class SeedError(ValueError):
    """A seed that is no whole number from 0 to 2**64 - 1."""
