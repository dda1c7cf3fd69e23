"""Tree search for people: what to decide in a position, and what is to be expected."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splendor_sim import batch
from splendor_sim.agents import MOST_SIMULATIONS, AgentError, parse_agent
from splendor_sim.core import forest as many
from splendor_sim.core import jit
from splendor_sim.core import search as trees
from splendor_sim.core.actions import ACTION_COUNT, ACTION_NAMES
from splendor_sim.core.cards import card_name
from splendor_sim.core.rng import PLAYOUT, SEARCH, check_seed, stream_of
from splendor_sim.core.state import OVER
from splendor_sim.game import Game
from splendor_sim.result import Table

_CHUNK = 5_000  # simulations between two looks at the clock, about a hundredth of a second
_PLAYOUT_CHUNK = 500  # the same with playouts, which take longer
_SOON = 0.05  # seconds between two looks at the keyboard
_EDGES = 20  # room a simulation; sharper priors take half of it
_LINE = 12  # decisions of an expected line, at most
_FEWEST = 3  # visits of a decision in it


class SearchError(ValueError):
    """A position that cannot be searched, or an option of a search that is out of range."""


class Decision(NamedTuple):
    """A searched decision: about which card (id, or None), its visits, each seat's share of the win after it."""

    action: int
    name: str
    card: int | None
    visits: int
    values: tuple[float, ...]


class Step(NamedTuple):
    """A decision of the expected line: whose, which, about which card (id, or None), in how many simulations."""

    seat: int
    action: int
    name: str
    card: int | None
    visits: int


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    best: the decision (id) with the most visits. visits: int64[78] by decision id. values: each seat's expected share
    of the win. decisions: those that were visited, the most visited first. line: the names of the expected decisions;
    steps: the same with seats and cards. Cards that are yet to come are those of one deal that the seat to move
    thinks possible. simulations: how many there were. seconds: what they took.
    """

    seat: int
    best: int
    visits: NDArray[np.int64]
    values: tuple[float, ...]
    decisions: tuple[Decision, ...]
    steps: tuple[Step, ...]
    simulations: int
    seed: int
    seconds: float = field(repr=False)

    @property
    def line(self) -> tuple[str, ...]:
        """The names of the expected decisions."""
        return tuple(step.name for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain JSON types, without timings."""
        return {
            "seat": self.seat,
            "best": self.best,
            "best_name": ACTION_NAMES[self.best],
            "values": list(self.values),
            "simulations": self.simulations,
            "seed": self.seed,
            "decisions": [{**each._asdict(), "values": list(each.values)} for each in self.decisions],
            "line": [
                {"seat": step.seat, "action": step.action, "name": step.name, "card": step.card} for step in self.steps
            ],
        }

    def heading(self) -> str:
        """One line: who decides, and how it stands."""
        shares = ", ".join(f"seat {seat} {100 * value:.1f} %" for seat, value in enumerate(self.values))
        return f"seat {self.seat} to decide; expected shares of the win: {shares}"

    def tables(self, most: int = 10) -> list[Table]:
        """Return the most visited decisions and the expected line as tables."""
        total = max(1, int(self.visits.sum()))
        seats = tuple(f"seat {seat}" for seat in range(len(self.values)))
        best = tuple(
            (
                _told(each.name, each.card),
                f"{each.visits:,}",
                f"{100 * each.visits / total:.1f} %",
                *(f"{100 * value:.1f} %" for value in each.values),
            )
            for each in self.decisions[:most]
        )
        line = tuple(
            (f"{number}.", f"seat {step.seat}", _told(step.name, step.card), f"{step.visits:,}")
            for number, step in enumerate(self.steps, 1)
        )
        return [
            Table(("Decision", "visits", "of all", *seats), (best,)),
            Table(("Line", "who", "decision", "visits"), (line,)),
        ]

    def __str__(self) -> str:
        return "\n\n".join([self.heading(), *map(str, self.tables())])


def search(
    game: Any,
    simulations: int | None = None,
    seed: int = 0,
    threads: int = 1,
    *,
    seconds: float | None = None,
    leaf: str = "evaluation",
    turns: int = 2,
    policy: str = "heuristic",
    epsilon: float = 0.0,
    exploration: float | None = None,
) -> Found:
    """Search for the best decision of the seat to move.

    game: a Game, or STATE_DTYPE[1]. What its seat does not know, and the cards to come, have no influence: the result
    depends on the rest, on the options (the number of threads too) and on the seed, except with `seconds`.
    simulations: 2,000 if neither these nor `seconds` are given; shared out among the threads' trees, whose visits are
    added up. leaf: "evaluation", after so many `turns` of the policy, or "playout" to the end by the policy, of whose
    decisions a share `epsilon` is made at random. exploration: weight of the prior against values.
    Raises SearchError for a game that is over or an option out of range, SeedError for a wrong seed.
    """
    root = root_of(game)
    options = {"leaf": leaf, "turns": turns, "policy": policy, "epsilon": epsilon, "exploration": exploration}
    budget = {"simulations": simulations, "seconds": seconds, "threads": threads}
    settings, given = settings_of({**options, **budget})
    return _found(root, settings, given, check_seed(seed))


def is_ready() -> bool:
    """Whether a search starts at once, because what it needs is compiled already."""
    settings, _ = settings_of({"simulations": 16, "seconds": None, "threads": 1})
    wood = Wood(batch.deal(1), 1, 20, 0)
    return jit.is_ready(trees.search, *wood.arrays, 0, settings, 1)


def root_of(game: Any) -> Any:
    """A copy of the state of a game that can be searched."""
    states = game.state if isinstance(game, Game) else game
    if not isinstance(states, np.ndarray) or states.shape != (1,):
        raise SearchError(f"a search starts from a Game or an array of one state, not {type(game).__name__}")
    batch.legal_mask(states)  # refuses what is no state
    if states["phase"][0] == OVER:
        raise SearchError("the game is over, so there is nothing to decide")
    return batch.copied(states)


def settings_of(options: dict[str, Any]) -> tuple[Any, Any]:
    """The settings of a search for kernels, and the agent they are those of; raises SearchError."""
    texts = [f"{name}={value}" for name, value in options.items() if value is not None]
    if options["simulations"] is None and options["seconds"] is None:
        texts.append("simulations=2000")
    try:
        agent = parse_agent("mcts:" + ",".join(texts))
    except AgentError as error:
        raise SearchError(str(error)) from None
    return agent.settings(), agent


def _found(root: Any, settings: Any, agent: Any, seed: int) -> Found:
    threads = agent.value("threads")
    began = time.perf_counter()
    wood = Wood(root, threads, most_nodes(agent), seed)
    wood.grow(settings, agent.value("simulations") if agent.value("seconds") is None else None, agent.value("seconds"))
    visits, values = np.zeros(ACTION_COUNT, np.int64), np.zeros((ACTION_COUNT + 1, 4))
    many.summarise(*wood.arrays, visits, values)
    line = np.zeros((_LINE, 4), np.int64)
    length = many.expected_line(*wood.arrays, np.uint64(stream_of(np.uint64(seed), 0, PLAYOUT)), _FEWEST, line)
    players = int(root["players"][0])
    order = sorted(
        np.flatnonzero(visits).tolist(), key=lambda action: (-visits[action], -values[action, wood.seat], action)
    )
    decisions = []
    for action in order:
        card, shares = int(many.card_of(root[0], wood.seat, action)), values[action, :players]
        told = card if card >= 0 else None
        decisions.append(Decision(action, ACTION_NAMES[action], told, int(visits[action]), tuple(shares.tolist())))
    steps = [
        Step(seat, action, ACTION_NAMES[action], card if card >= 0 else None, count)
        for seat, action, card, count in line[:length].tolist()
    ]
    return Found(
        seat=wood.seat,
        best=order[0],
        visits=visits,
        values=tuple(values[ACTION_COUNT, :players].tolist()),
        decisions=tuple(decisions),
        steps=tuple(steps),
        simulations=wood.simulations,
        seed=seed,
        seconds=time.perf_counter() - began,
    )


def most_nodes(agent: Any) -> int:
    """How many nodes a tree of a search may need."""
    if agent.value("seconds") is None:
        return int(-(-agent.value("simulations") // agent.value("threads"))) + 4
    return int(min(MOST_SIMULATIONS, agent.value("seconds") * 3_000_000 + 10_000))


class Wood:
    """Trees over the same root, searched side by side."""

    def __init__(self, root: Any, count: int, nodes: int, seed: int) -> None:
        self.seat = int(root["to_move"][0])
        self.simulations = 0
        room = max(256, _EDGES * nodes)
        known = np.concatenate([root] * count)
        # Empty pages take no memory until a tree grows into them.
        self.arrays = (
            known,
            np.zeros(count, trees.TREE_DTYPE),
            np.empty((count, nodes), trees.NODE_DTYPE),
            np.empty((count, room), trees.EDGE_DTYPE),
        )
        for row in range(count):
            many.plant(*self.arrays, row, np.uint64(stream_of(np.uint64(seed), row, SEARCH)))

    @property
    def bytes_used(self) -> int:
        """What the nodes and edges of all trees take so far."""
        _, all_trees, nodes, edges = self.arrays
        return int(all_trees["nodes"].sum()) * nodes.itemsize + int(all_trees["edges"].sum()) * edges.itemsize

    def grow(self, settings: Any, simulations: int | None, seconds: float | None) -> None:
        """Run so many simulations in all, or so many seconds; the first of each tree looks at the root itself."""
        count = len(self.arrays[1])
        shares = (
            [None] * count
            if simulations is None
            else [simulations // count + (row < simulations % count) for row in range(count)]
        )
        until = None if seconds is None else time.perf_counter() + seconds
        if count == 1:
            self.simulations += self._grow_one(0, settings, shares[0], until, threading.Event())
            return
        stop = threading.Event()
        pool = ThreadPoolExecutor(count, thread_name_prefix="splendor-sim")
        try:
            futures = [
                pool.submit(self._grow_one, row, settings, share, until, stop) for row, share in enumerate(shares)
            ]
            while wait(futures, timeout=_SOON).not_done:
                pass
            self.simulations += sum(future.result() for future in futures)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _grow_one(self, row: int, settings: Any, share: int | None, until: float | None, stop: threading.Event) -> int:
        size = _CHUNK if settings["turns"][0] >= 0 else _PLAYOUT_CHUNK
        done = 0
        with np.errstate(over="ignore"):
            trees.search(*self.arrays, row, settings, 1)
            while not stop.is_set() and (share is None or done < share):
                asked = size if share is None else min(size, share - done)
                ran = int(trees.search(*self.arrays, row, settings, asked))
                done += ran
                if ran < asked or (until is not None and time.perf_counter() >= until):
                    break
        return done


def _told(name: str, card: int | None) -> str:
    return name if card is None else f"{name}, {card_name(card)}"
