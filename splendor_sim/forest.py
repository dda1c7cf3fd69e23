"""Forest: many trees searched together, whose leaves a function of the user's values, such as a network."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splendor_sim import batch
from splendor_sim.core import forest as many
from splendor_sim.core import search as trees
from splendor_sim.core.actions import ACTION_COUNT
from splendor_sim.core.rng import SEARCH, check_seed, stream_of
from splendor_sim.core.settings import EXPLORATION
from splendor_sim.core.state import OVER, STATE_DTYPE
from splendor_sim.search import SearchError

MOST_LEAVES = 200  # of a tree in one batch
_EDGES = 24  # room a node; what does not fit makes a leaf again


@dataclass(frozen=True, eq=False)
class Leaves:
    """A batch of leaves to value.

    states: STATE_DTYPE[m], determinized: a value may look at all of it, or at `observations` alone. tree: int64[m],
    the row of the tree each is of. seat: int64[m], who decides there.
    """

    states: NDArray[Any]
    tree: NDArray[np.int64]
    seat: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def observations(self) -> NDArray[np.uint8]:
        """What the seat that decides sees: uint8[m, OBSERVATION_SIZE], as `observe` gives it."""
        return batch.observe(self.states)

    @cached_property
    def masks(self) -> NDArray[np.bool_]:
        """Which decisions are legal: bool[m, 78]."""
        return batch.legal_mask(self.states)


class Forest:
    """Many information-set trees, searched in steps: `select` leaves, value them, `update` the trees with the values.

    states: STATE_DTYPE[n], a game each, copied; a finished game has no leaves. room: nodes of a tree; a simulation
    makes one at most, and what `advance` keeps counts too. A full tree gives no more leaves. exploration: weight of the
    prior against values. uniform: part of the prior that all decisions share evenly. Randomness follows from the seed;
    the tree of row 0 is that of `search` with one thread. Raises SearchError, StateError or SeedError.

        forest = ss.Forest(ss.deal(64, seed=1), seed=1)
        for _ in range(100):
            leaves = forest.select(4)
            logits, values = network(leaves.observations)     # [m, 78] and [m, players], seats by their numbers
            forest.update(logits, values)
        forest.advance(forest.sample(temperature=1.0))
    """

    def __init__(
        self,
        states: Any,
        seed: int = 0,
        *,
        room: int = 4096,
        exploration: float = EXPLORATION["evaluation"],
        uniform: float = 0.0,
    ) -> None:
        batch.legal_mask(states)  # refuses what is no array of states
        if not isinstance(room, int | np.integer) or not 16 <= room <= trees.MOST_NODES:
            raise SearchError(f"room must be a whole number of nodes from 16 to {trees.MOST_NODES:,}, not {room!r}")
        self.exploration = _in_range("exploration", exploration, 0, 1000)
        self.uniform = _in_range("uniform", uniform, 0, 1)
        self._seed = check_seed(seed)
        self.states = batch.copied(states)
        n = len(states)
        self._planted = 0
        self._known = batch.copied(states)
        self._trees = np.zeros(n, trees.TREE_DTYPE)
        # Empty pages take no memory until a tree grows into them.
        self._nodes = np.empty((n, room), trees.NODE_DTYPE)
        self._edges = np.empty((n, max(256, _EDGES * room)), trees.EDGE_DTYPE)
        self._spare = np.empty(room, trees.NODE_DTYPE), np.empty(max(256, _EDGES * room), trees.EDGE_DTYPE)
        self._leaves = batch.copied(states[:0])
        self._paths = np.zeros(0, trees.PATH_DTYPE)
        self._owners = np.zeros(0, np.int64)
        self._count = 0  # leaves under way
        self._has_logits: bool | None = None
        self._plant(range(n))

    def __len__(self) -> int:
        return len(self.states)

    @property
    def players(self) -> int:
        """The most seats of a game."""
        return int(self.states["players"].max(initial=0))

    @property
    def is_over(self) -> NDArray[np.bool_]:
        """Which games are over: bool[n]."""
        over: NDArray[np.bool_] = self.states["phase"] == OVER
        return over

    # --- Search ------------------------------------------------------------------------------------------------------

    def select(self, most: int = 1) -> Leaves:
        """Collect up to `most` leaves of every tree, which `update` is to value before the next are collected.

        A leaf under way counts as a visit without a value, and is neither expanded nor chosen again. Simulations that
        end with the game are valued at once, so a batch may be smaller than asked for, or empty.
        Raises SearchError if leaves are under way, or `most` is none of 1 to 200.
        """
        if self._count:
            raise SearchError(f"{self._count:,} leaves are under way; update them first")
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or not 1 <= most <= MOST_LEAVES:
            raise SearchError(f"most leaves of a tree must be a whole number from 1 to {MOST_LEAVES}, not {most!r}")
        needed = len(self) * int(most) + 1
        if len(self._paths) < needed:
            self._leaves = np.zeros(needed, STATE_DTYPE)
            self._paths = np.zeros(needed, trees.PATH_DTYPE)
            self._owners = np.zeros(needed, np.int64)
        late = np.float32(trees.EVEN_PRIOR if self._has_logits else self.uniform)
        self._count = int(
            many.select_leaves(
                *self._trees_and_roots(),
                most,
                np.float32(self.exploration),
                late,
                self._leaves,
                self._paths,
                self._owners,
            )
        )
        states = batch.copied(self._leaves[: self._count])
        return Leaves(states, self._owners[: self._count].copy(), states["to_move"].astype(np.int64))

    def update(self, logits: ArrayLike | None, values: ArrayLike) -> None:
        """Value the leaves of the last `select`.

        logits: [m, 78] by decision id, of which only the legal ones are looked at; None for the prior of the heuristic.
        values: [m, players] by seat number, such as shares of the win. Raises SearchError, before anything is changed,
        for arrays of other shapes, numbers that are not finite, or logits now and none before.
        """
        count = self._count
        backed = _numbers("values", values, (count, self.players))
        prior = None if logits is None else _numbers("logits", logits, (count, ACTION_COUNT), self._legal_leaves())
        has_logits = logits is not None
        if self._has_logits not in (None, has_logits):
            raise SearchError("a forest gets logits with every update or with none")
        self._has_logits = has_logits
        many.update_leaves(
            count,
            self._leaves,
            self._paths,
            self._owners,
            self._trees,
            self._nodes,
            self._edges,
            prior,
            backed,
            np.float32(self.uniform),
        )
        self._count = 0

    def add_noise(self, alpha: float = 0.5, share: float = 0.25, seed: int = 0) -> None:
        """Mix Dirichlet noise into the priors of the roots that have one: (1 - share) * prior + share * noise.

        A root has its prior from the first update on, without logits from the second. Raises SearchError for an alpha
        that is not above 0 or a share outside 0-1.
        """
        alpha, share = _in_range("alpha", alpha, 1e-6, 1e6), _in_range("share", share, 0, 1)
        self._require_still()
        random = np.random.default_rng(check_seed(seed))
        for row in range(len(self)):
            first, count = (int(self._nodes[name][row, trees.ROOT]) for name in ("edges", "edge_count"))
            if self._nodes["visits"][row, trees.ROOT] and first:
                prior = self._edges["prior"][row, first : first + count]
                noise = random.dirichlet(np.full(count, alpha))
                prior[:] = np.maximum(1, (1 - share) * prior + share * noise * int(prior.sum())).clip(1, 65535)

    # --- What was found ----------------------------------------------------------------------------------------------

    def visits(self) -> NDArray[np.int64]:
        """Return the visits of the roots' decisions: int64[n, 78] by decision id, 0 where a game is over."""
        visits = np.zeros((len(self), ACTION_COUNT), np.int64)
        many.visits_of_trees(*self._trees_and_roots(), visits)
        return visits

    def values(self) -> NDArray[np.float64]:
        """Return the mean value of every root by seat: float64[n, players], 0 before the first update."""
        means: NDArray[np.float64] = self._nodes["value"][:, trees.ROOT, : self.players].astype(np.float64)
        return means

    def policy(self, temperature: float = 1.0) -> NDArray[np.float64]:
        """Return the visits ** (1 / temperature) of the roots' decisions as shares: float64[n, 78].

        Temperature 0 gives the most visited decision all. Without visits all legal decisions share; 0 where it is over.
        """
        temperature = _in_range("temperature", temperature, 0, 1000)
        visits = self.visits().astype(np.float64)
        none = (visits.sum(axis=1) == 0) & ~self.is_over
        visits[none] = batch.legal_mask(self.states)[none]
        top = np.maximum(visits.max(axis=1, keepdims=True), 1)
        if temperature == 0:
            weights = np.zeros_like(visits)
            weights[np.arange(len(self)), visits.argmax(axis=1)] = 1
            weights[self.is_over] = 0
        else:
            with np.errstate(divide="ignore"):
                weights = np.exp(np.log(visits / top) / temperature)
        shares: NDArray[np.float64] = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        return shares

    def sample(self, temperature: float = 1.0, seed: int = 0) -> NDArray[np.int64]:
        """Draw a decision of every game from `policy`: int64[n], -1 where it is over."""
        random = np.random.default_rng(check_seed(seed))
        sums = self.policy(temperature).cumsum(axis=1)
        drawn = (sums < random.random((len(self), 1)) * sums[:, -1:]).sum(axis=1)
        last = ACTION_COUNT - 1 - (self.policy(temperature)[:, ::-1] > 0).argmax(axis=1)
        actions: NDArray[np.int64] = np.where(self.is_over, -1, np.minimum(drawn, last)).astype(np.int64)
        return actions

    # --- Playing on --------------------------------------------------------------------------------------------------

    def advance(self, actions: ArrayLike) -> NDArray[np.float64]:
        """Make a decision in every game, int64[n], -1 for none; return the shares of what ends: float64[n, players].

        What follows the decision in a tree is kept, unless it rests on cards that the seat which decides next does not
        know. Cards come up as each game's key says. Raises what `step` raises, before anything is changed, and
        SearchError if leaves are under way.
        """
        self._require_still()
        chosen = np.asarray(actions)
        if chosen.shape != (len(self),) or chosen.dtype.kind not in "iu":
            raise SearchError(f"actions must be whole numbers of shape ({len(self)},), -1 for none")
        chosen = chosen.astype(np.int64)
        rows = np.flatnonzero(chosen != -1)
        after = batch.copied(self.states[rows])
        shares = np.zeros((len(self), self.players))
        shares[rows, : after["players"].max(initial=0)] = batch.step(after, chosen[rows])[0]
        many.advance_trees(self.states, chosen, self._trees, self._nodes, self._edges, *self._spare)
        before = self._trees["seat"][rows].copy()
        self.states[rows] = after
        self._known[rows] = after
        told = after["hidden"][np.arange(len(rows)), before] != 0
        fresh = [int(row) for row, other in zip(rows, told & (before != after["to_move"])) if other]
        many.forget_rows(self._known, self._trees, rows)
        self._plant(fresh)
        return shares

    def reset(self, rows: ArrayLike, states: Any) -> None:
        """Put other games, STATE_DTYPE[m], in some rows, int64[m], with trees of their own."""
        self._require_still()
        places = np.asarray(rows) if np.size(rows) else np.zeros(0, np.int64)
        batch.legal_mask(states)
        fit = places.shape == (len(states),) and places.dtype.kind in "iu"
        if not fit or (len(places) and (places.min() < 0 or places.max() >= len(self))):
            raise SearchError(f"rows must be one number from 0 to {len(self) - 1} for each of the {len(states)} states")
        self.states[places] = states
        self._known[places] = states
        self._plant(int(row) for row in places)

    # --- Within ------------------------------------------------------------------------------------------------------

    def _plant(self, rows: Any) -> None:
        """Begin the trees of some rows anew; every planting has randomness of its own."""
        for row in rows:
            stream = np.uint64(stream_of(np.uint64(self._seed), self._planted, SEARCH))
            self._known[row] = self.states[row]
            many.plant(*self._trees_and_roots(), row, stream)
            self._planted += 1

    def _trees_and_roots(self) -> tuple[Any, Any, Any, Any]:
        return self._known, self._trees, self._nodes, self._edges

    def _legal_leaves(self) -> Any:
        return batch.legal_mask(self._leaves[: self._count])

    def _require_still(self) -> None:
        if self._count:
            raise SearchError(f"{self._count:,} leaves are under way; update them first")


def evaluate(states: Any) -> NDArray[np.float32]:
    """Return each seat's expected share of the win by the built-in evaluation: float32[n, players].

    Where a game is over they are its shares. It looks at all of a state: determinize it first where that matters.
    Raises StateError if states are no array of states.
    """
    batch.legal_mask(states)
    values = np.zeros((len(states), int(states["players"].max(initial=0))), np.float32)
    many.evaluate_rows(batch.copied(states), values)
    return values


def score_decisions(states: Any) -> NDArray[np.float32]:
    """Return the heuristic's scores of the legal decisions: float32[n, 78], -inf for the others.

    Their softmax is the prior of the built-in search. Raises StateError if states are no array of states.
    """
    masks = batch.legal_mask(states)
    scores = np.full(masks.shape, -np.inf, np.float32)
    many.score_rows(batch.copied(states), scores)
    return scores


def _numbers(name: str, given: ArrayLike, shape: tuple[int, int], where: Any = None) -> NDArray[np.float32]:
    numbers = np.ascontiguousarray(given, np.float32)
    if shape[0] == 0 and numbers.size == 0:
        return np.zeros(shape, np.float32)
    if numbers.shape != shape:
        raise SearchError(f"{name} must have the shape {shape}, a row for each leaf, not {numbers.shape}")
    wrong = ~np.isfinite(numbers) if where is None else ~np.isfinite(numbers) & where
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise SearchError(f"{name} must be finite, not {numbers[row, column]} in row {row}, column {column}")
    return numbers


def _in_range(name: str, value: Any, low: float, high: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not low <= number <= high:
        raise SearchError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
    return number
