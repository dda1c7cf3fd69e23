"""Many games as arrays of states: deal, legal masks, step, observe, determinize, play to the end.

`states` is a one-dimensional array of STATE_DTYPE, a record a game; games with different numbers of players and
different rules may stand in one array. Where a result has a column a seat, there are as many as the largest game has
players, and 0 in those that a smaller game lacks. Every refusal comes before anything is changed.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splendor_sim.core import arrays
from splendor_sim.core.actions import ACTION_COUNT, ACTION_NAMES, IllegalActionError
from splendor_sim.core.observation import OBSERVATION_DTYPE, OBSERVATION_SIZE
from splendor_sim.core.policies import POLICIES
from splendor_sim.core.rng import check_seed
from splendor_sim.core.rules import Rules, check_players
from splendor_sim.core.state import OVER, STATE_DTYPE

States = NDArray[Any]  # STATE_DTYPE[n]

_SOON = 0.1  # seconds, about, between two looks at the keyboard


class StateError(ValueError):
    """An array that is none of states, or a seat, a number of games, a policy or a limit that does not fit it."""


def deal(n: int, players: int = 2, seed: int = 7, rules: Any = "official") -> States:
    """Return the opening of games 0 to n - 1 of a run: STATE_DTYPE[n].

    Raises StateError, RulesError or SeedError for what is out of range.
    """
    options = Rules.of(rules).for_players(players)
    word = np.uint64(check_seed(seed))
    states = np.zeros(_whole(n, 0, "n, the number of games,"), STATE_DTYPE)
    states["players"] = check_players(players)
    for name, value in options.items():
        states[name] = value
    arrays.deal_rows(states, 0, word)
    return states


def legal_mask(states: States) -> NDArray[np.bool_]:
    """Return which decisions are legal: bool[n, 78] by decision id, all False where the game is over.

    Raises StateError if states are no array of states.
    """
    states = _readable(states)
    _check_fit(states)
    masks = np.zeros((len(states), ACTION_COUNT), np.bool_)
    arrays.mask_rows(states, masks)
    return masks


def step(states: States, actions: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Apply one legal decision id a row, in place, and return (rewards, terminated).

    actions: whole numbers [n]. rewards: float64[n, players], each seat's share of the win where the game ended with
    this step (1, or 1/k for k winners), else 0. terminated: bool[n]. The cards to come follow from each game's key.
    Raises IllegalActionError with the row if an action is not legal or a game is over already, StateError if states or
    actions are no such arrays; nothing is changed then.
    """
    work = _writable(states)
    chosen = _actions(actions, len(work))
    row = arrays.first_refused(work, chosen)
    if row >= 0:
        _check_fit(work)
        _refuse_action(work, chosen, row)
    rewards = np.zeros((len(work), _most_players(work)))
    terminated = np.zeros(len(work), np.bool_)
    arrays.step_rows(work, chosen, rewards, terminated)
    _write_back(states, work)
    return rewards, terminated


def observe(states: States, seat: int | ArrayLike | None = None) -> NDArray[np.uint8]:
    """Return what a seat sees: uint8[n, OBSERVATION_SIZE]; `.view(OBSERVATION_DTYPE)` gives its fields names.

    seat: None for the seat to move, a seat for all rows, or seats [n]. The layout is that of OBSERVATION_DTYPE.
    Raises StateError if states are no array of states, or a seat is none of its game.
    """
    states = _readable(states)
    _check_fit(states)
    seats = states["to_move"].astype(np.int64) if seat is None else _seats(seat, states)
    observations = np.zeros(len(states), OBSERVATION_DTYPE)
    arrays.observe_rows(states, seats, observations)
    return observations.view(np.uint8).reshape(len(states), OBSERVATION_SIZE)


def determinize(states: States, seat: int | ArrayLike, seed: int) -> States:
    """Return copies in which everything that a seat does not know is drawn anew, and the keys are new.

    seat: a seat for all rows, or seats [n]. Row i depends on what its seat knows and on (seed, i) alone.
    Raises StateError if states are no array of states or a seat is none of its game, SeedError for a wrong seed.
    """
    states = _readable(states)
    _check_fit(states)
    seats = _seats(seat, states)
    word = np.uint64(check_seed(seed))
    copies = copied(states)
    arrays.determinize_rows(copies, seats, word)
    return copies


def playout(states: States, seed: int, policy: str = "random", max_turns: int = 1000) -> NDArray[np.float64]:
    """Play every game to its end, in place, and return the shares of the win: float64[n, players].

    The cards to come and the decisions of row i follow from (seed, i), not from the game's key; what is hidden in hands
    stays as it is, so determinize first where that matters. A game with max_turns finished turns is stopped: its shares
    are all 0. Raises StateError if states are no array of states or policy or max_turns are wrong, SeedError likewise.
    """
    work = _writable(states)
    _check_fit(work)
    if not isinstance(policy, str) or policy not in POLICIES:
        raise StateError(f"policy must be {' or '.join(map(repr, POLICIES))}, not {policy!r}")
    number = POLICIES[policy]
    limit = _whole(max_turns, 1, "max_turns")
    word = np.uint64(check_seed(seed))
    shares = np.zeros((len(work), _most_players(work)))
    first, size = 0, 1
    while first < len(work):
        block, began = slice(first, first + size), time.perf_counter()
        arrays.playout_rows(work[block], first, number, word, limit, shares[block])
        first += size
        size = size * 4 if time.perf_counter() - began < _SOON / 4 else max(1, size // 2)
    _write_back(states, work)
    return shares


def copied(states: States) -> States:
    """Return a copy of an array of states; numpy's own `copy` goes field by field, which takes much longer."""
    if not states.flags.c_contiguous:
        states = states.copy()
    copies: States = states.view(np.uint8).copy().view(STATE_DTYPE)
    return copies


# --- Arrays as kernels want them: of one layout, so that each kernel is compiled once ---------------------------------


def _checked(states: Any) -> States:
    if not isinstance(states, np.ndarray):
        raise StateError(f"states must be an array of STATE_DTYPE, as ss.deal returns, not {type(states).__name__}")
    if states.dtype != STATE_DTYPE:
        raise StateError(f"states must be an array of STATE_DTYPE, as ss.deal returns, not of {_name(states.dtype)}")
    if states.ndim != 1:
        raise StateError(f"states must have one dimension, not {states.ndim}; for one game take states[i : i + 1]")
    plain: States = np.asarray(states).view(STATE_DTYPE)
    return plain


def _is_plain(states: States) -> bool:
    # As words, since numpy does not ask records to lie at the address of a word, but kernels do.
    return states.flags.c_contiguous and states.flags.writeable and states.view(np.uint64).flags.aligned


def _readable(states: Any) -> States:
    """States as kernels read them: the same memory where it can be, else a copy."""
    states = _checked(states)
    return states if _is_plain(states) else copied(states)


def _writable(states: Any) -> States:
    """States as kernels change them: the same memory where it can be, else a copy for `_write_back`."""
    checked = _checked(states)
    if not checked.flags.writeable:
        raise StateError("states are read-only and would be changed in place; pass states.copy()")
    return checked if _is_plain(checked) else copied(checked)


def _write_back(states: States, work: States) -> None:
    if not np.may_share_memory(states, work):
        states[...] = work


def _check_fit(states: States) -> None:
    row = arrays.first_unfit(states)
    if row >= 0:
        raise StateError(
            f"row {row} is no state of a game (players {states['players'][row]}, phase {states['phase'][row]}); "
            "states come from ss.deal, Game.state or from_position"
        )


def _most_players(states: States) -> int:
    return int(states["players"].max(initial=0))


def _actions(actions: Any, n: int) -> NDArray[np.int64]:
    given = np.asarray(actions)
    if given.size == 0 and not isinstance(actions, np.ndarray):
        given = given.astype(np.int64)  # an empty list counts as one of whole numbers
    if given.dtype.kind not in "iu":
        raise StateError(f"actions must be whole numbers (decision ids), not {_name(given.dtype)}")
    if given.shape != (n,):
        raise StateError(f"actions must have the shape ({n},), one a row, not {given.shape}")
    if given.dtype == np.uint64:
        given = np.minimum(given, np.uint64(ACTION_COUNT))  # what is out of range stays so as int64
    return np.ascontiguousarray(given, np.int64)


def _refuse_action(states: States, actions: NDArray[np.int64], row: int) -> None:
    action = int(actions[row])
    if not 0 <= action < ACTION_COUNT:
        raise IllegalActionError(f"row {row}: a decision's id lies in 0-{ACTION_COUNT - 1}, not {action}")
    if states["phase"][row] == OVER:
        raise IllegalActionError(f"row {row}: the game is over; leave such rows out, or deal them anew")
    legal = np.flatnonzero(legal_mask(states[row : row + 1])[0]).tolist()
    names = ", ".join(f"{each} {ACTION_NAMES[each]!r}" for each in legal)
    raise IllegalActionError(f"row {row}: {action} {ACTION_NAMES[action]!r} is not legal; legal are {names}")


def _seats(seat: Any, states: States) -> NDArray[np.int64]:
    given = np.asarray(seat)
    if given.size == 0 and not isinstance(seat, np.ndarray):
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise StateError(f"seat must be a whole number or an array of them, not {seat!r}")
    if given.ndim and given.shape != (len(states),):
        raise StateError(f"seat must be one number or have the shape ({len(states)},), not {given.shape}")
    seats = np.broadcast_to(given, (len(states),))
    wrong = np.flatnonzero((seats < 0) | (seats >= states["players"]))
    if len(wrong):
        row = int(wrong[0])
        raise StateError(f"row {row}: seat must lie in 0-{states['players'][row] - 1}, not {seats[row]}")
    return np.ascontiguousarray(seats, np.int64).copy()


def _whole(value: Any, least: int, what: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not least <= value < 2**62:
        raise StateError(f"{what} must be a whole number of {least} or more, not {value!r}")
    return int(value)


def _name(dtype: np.dtype[Any]) -> str:
    return "another structured type" if dtype.names else str(dtype)
