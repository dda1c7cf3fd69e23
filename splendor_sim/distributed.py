"""The same blocks of games on a Dask cluster: of processes on this machine, or of machines.

A block is a pure function of a plan and a range of games, so a block that was lost with its worker is simply played
again, and the result is that of one thread, whatever machines play and however often they fail.
"""

import functools
import hashlib
import importlib.metadata
import importlib.resources
import logging
import math
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splendor_sim.result import Result
from splendor_sim.simulate import Crew, Plan, Tally, Totals, play_games, prepare, usable_processors

MOST_PROCESSES = 1024  # of a local cluster

_AHEAD = 3  # blocks handed out for each thread of the workers before one of them has to be back
_HELD = 10  # blocks for each thread that may wait for an earlier one
_FIRST = 8  # games of the first blocks, before anything is known of the pace
_GROWTH = 8  # a block has at most so many times the games of one that is back
_SECONDS = 1.0  # of play in a block, so that what Dask takes for one, a few ms, does not count
_BLOCKS_A_SECOND = 100  # that a scheduler is given at most: in a large cluster blocks are longer
_LONGEST = 30.0  # seconds of play in a block
_TRIES = 10  # times a block is handed out anew after the workers that had it died
_CONNECT = 5.0  # seconds for a scheduler to answer
_APPEAR = 60.0  # seconds for the first worker to come
_SOON = 0.002  # seconds between looks at what has come back
_LOOK = 1.0  # seconds between looks at which workers there are


class ClusterError(ValueError):
    """A cluster that is not written as one, does not answer, holds other versions, or fails."""


def check_cluster(where: Any) -> str:
    """Return where a cluster is, tcp://HOST:PORT (or another scheme of Dask's) or local:N; raise ClusterError if none.

    local alone means a process for each processor that this process may use.
    """
    if isinstance(where, str):
        if where == "local":
            return f"local:{usable_processors()}"
        local = re.fullmatch(r"local:(\d{1,9})", where)
        if local and 1 <= int(local[1]) <= MOST_PROCESSES:
            return where
        if not where.startswith("local") and re.fullmatch(r"[a-z]+://[^\s/]\S*", where):
            return where
    raise ClusterError(
        f"dask must be the address of a scheduler, like tcp://host:8786, or local:N for N processes on this machine "
        f"(1 to {MOST_PROCESSES:,}), not {where!r}"
    )


def play_on(where: Any, plan: Plan, progress: Callable[[int, int], None] | None = None) -> Result:
    """Play the games of a plan on a cluster and return what happened in them.

    progress: called with (games finished, games) now and then. Raises ClusterError.
    """
    where = check_cluster(where)
    if plan.records:
        raise ClusterError("records of games are not kept on a cluster; leave out records or dask")
    if where.startswith("local:"):
        prepare(plan)  # so that the processes find it compiled
    with connected(where) as cluster:
        tally = Tally(plan, Crew(cluster.threads))
        with closing(cluster.play_blocks(plan)) as blocks:
            for block in blocks:
                tally.add(block)
                if progress is not None:
                    progress(tally.totals.games, plan.games)
        return tally.result()


@contextmanager
def connected(where: str, stop: threading.Event | None = None) -> Iterator["Cluster"]:
    """A cluster whose workers hold the same versions as this process; a local one ends with the context.

    where: as `check_cluster` returns it. stop: once set, a cluster that is still starting is given up, with
    ClusterError. Raises ClusterError within seconds if the scheduler does not answer or if versions differ.
    """
    try:
        import distributed  # noqa: F401  sets up its log, so before that is silenced
    except ImportError as error:
        raise ClusterError("Dask is missing; it comes with the extra: pip install 'splendor-sim[dask]'") from error
    stop = stop or threading.Event()
    with _quiet(), _running(where) as (address, processes):
        client = _connect(address)
        try:
            cluster = Cluster(client, address, processes)
            cluster.wait_for_workers(stop)
            cluster.require_same_versions()
            yield cluster
        finally:
            with suppress(Exception):
                client.close(timeout=2)


class Cluster:
    """Workers that play blocks. threads: how many they have together."""

    def __init__(self, client: Any, address: str, processes: "_Processes | None") -> None:
        self.client, self.address, self._processes = client, address, processes
        self.threads = 0
        self._looked = -math.inf

    def wait_for_workers(self, stop: threading.Event) -> None:
        """Wait for all workers of a local cluster, or for the first of another."""
        until = time.monotonic() + _APPEAR
        wanted = 1 if self._processes is None else self._processes.number
        while self.count_threads(now=True) < wanted:
            if stop.wait(0.05):
                raise ClusterError("the cluster was given up before it had started")
            if time.monotonic() > until:
                raise ClusterError(f"no worker came to the scheduler at {self.address} within {_APPEAR:.0f} s")

    def count_threads(self, now: bool = False) -> int:
        """Return how many threads the workers have together; asked for anew every second, or now."""
        if now or time.monotonic() > self._looked + _LOOK:
            if self._processes is not None:
                self._processes.keep_up()
            self.threads = sum(self._call(self.client.nthreads).values())
            self._looked = time.monotonic()
        return self.threads

    def require_same_versions(self) -> None:
        """Raise ClusterError if the scheduler or a worker has other versions than this process."""
        if self._processes is not None:
            return  # the same Python with the same paths
        told = {"the scheduler": self._ask(self.client.run_on_scheduler)}
        workers = self._ask(functools.partial(self.client.run, on_error="return"))
        told.update({f"the worker at {name}": found for name, found in workers.items()})
        for name, found in told.items():
            if isinstance(found, BaseException):
                raise ClusterError(f"{name} cannot load splendor_sim: {_in_a_line(found)}")
            if found != versions():
                raise ClusterError(_differing(name, found))

    def play_blocks(self, plan: Plan, stop: threading.Event | None = None) -> Generator[Totals, None, None]:
        """Yield the totals of a plan's games, block after block in their order, played by the workers.

        Once `stop` is set, what has been finished without a gap follows, and the blocks end.
        """
        from distributed import as_completed

        stop = stop or threading.Event()
        run = uuid.uuid4().hex[:8]
        data, expected = pickle.dumps(plan), versions()
        sizes = _Sizes(plan.games)
        back = as_completed(loop=self.client.loop, with_results=True, raise_errors=False)
        blocks: deque[_Block] = deque()  # handed out and not yet yielded, in their order
        playing: dict[Any, _Block] = {}  # by the future of their totals

        def hand_out(block: _Block) -> None:
            # The key names the block, so that nothing is computed from the arguments.
            key = f"splendor-{run}-{block.first}-{block.tries}"
            future = self._call(
                self.client.submit, _play_block, data, expected, block.first, block.count, key=key, pure=False
            )
            playing[future] = block
            back.add(future)

        try:
            while True:
                threads = self.count_threads()
                while (
                    len(playing) < _AHEAD * threads
                    and len(blocks) < _HELD * threads
                    and (block := sizes.next_block(threads))
                ):
                    blocks.append(block)
                    hand_out(block)
                came = back.next_batch(block=False)
                for future, result in came:
                    block = playing.pop(future)
                    if future.status == "finished":
                        block.totals, seconds = result
                        sizes.took(block.count, seconds)
                    else:
                        self._require_another_try(block, result)
                        hand_out(block)
                while blocks and blocks[0].totals is not None:
                    yield blocks.popleft().totals  # type: ignore[misc]
                if stop.is_set() or (not blocks and not sizes.left):
                    return
                if not came:
                    stop.wait(_SOON)
        finally:
            with suppress(Exception):
                self.client.cancel(list(playing), force=True)

    def _require_another_try(self, block: "_Block", result: Any) -> None:
        """Raise ClusterError if a block failed by what will not pass."""
        self._require_connection()
        # Dask gives up a block whose workers died a few times. On machines that come and go that is no fault of it.
        failure = result[1] if isinstance(result, tuple) else result
        died = type(failure).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError")
        block.tries += 1
        if isinstance(failure, ClusterError):
            raise failure
        if not died or block.tries > _TRIES:
            games = f"games {block.first:,} to {block.first + block.count - 1:,}"
            raise ClusterError(f"the workers at {self.address} failed with {games}: {_in_a_line(failure)}")

    def _require_connection(self) -> None:
        if self.client.status != "running":
            raise ClusterError(f"the connection to the scheduler at {self.address} was lost")

    def _ask(self, way: Any) -> Any:
        """The versions of somebody, or the exception that asking for them raised there."""
        try:
            return way(_versions_there)
        except Exception as error:  # whatever loading a module may raise elsewhere
            self._require_connection()
            return {"": error} if isinstance(way, functools.partial) else error

    def _call(self, function: Any, *arguments: Any, **more: Any) -> Any:
        """Call the client; what goes wrong because the scheduler went away is said so."""
        self._require_connection()
        try:
            return function(*arguments, **more)
        except Exception as error:
            self._require_connection()
            raise ClusterError(f"the scheduler at {self.address} failed: {_in_a_line(error)}") from error


# --- Blocks ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Block:
    """A range of games, and its totals once they are here."""

    first: int
    count: int
    tries: int = 0
    totals: Totals | None = None


class _Sizes:
    """Cuts a run into blocks that take about as long as they should, by the pace of those that are back."""

    def __init__(self, games: int) -> None:
        self._games, self._next = games, 0
        self._largest, self._pace = _FIRST, math.inf  # games; games a second and thread

    @property
    def left(self) -> int:
        """Number of games that no block holds yet."""
        return self._games - self._next

    def next_block(self, threads: int) -> _Block | None:
        """Return the next block for workers of so many threads, None after the last game."""
        if not self.left:
            return None
        seconds = min(max(_SECONDS, threads / _BLOCKS_A_SECOND), _LONGEST)
        # Toward the end blocks get smaller, so that all threads come to the end together.
        count = min(self._largest, self._pace * seconds, max(_FIRST, self.left / (2 * threads)))
        block = _Block(self._next, min(self.left, max(1, math.ceil(count))))
        self._next += block.count
        return block

    def took(self, count: int, seconds: float) -> None:
        """Learn from a block that is back."""
        self._largest = max(self._largest, _GROWTH * count)
        self._pace = count / max(seconds, 1e-6)


def _play_block(data: bytes, expected: dict[str, str], first: int, count: int) -> tuple[Totals, float]:
    """Play a block, on a worker: the totals and the seconds that they took."""
    if versions() != expected:  # of a worker that came later
        raise ClusterError(_differing("a worker", versions(), expected))
    plan = _prepared(data)
    began = time.perf_counter()
    return play_games(plan, first, count), time.perf_counter() - began


@functools.lru_cache(maxsize=8)
def _prepared(data: bytes) -> Plan:
    """A pickled plan, with what its games need compiled."""
    plan: Plan = pickle.loads(data)
    prepare(plan)
    return plan


# --- Versions --------------------------------------------------------------------------------------------------------


@functools.cache
def versions() -> dict[str, str]:
    """Return what has to be the same everywhere: versions by package, and a hash of the sources of splendor_sim."""
    from splendor_sim import __version__

    packages = {name: importlib.metadata.version(name) for name in ("dask", "distributed", "numba", "numpy")}
    digest = hashlib.sha256()
    package = importlib.resources.files("splendor_sim")
    rooms = [package]
    while rooms:
        for file in sorted(rooms.pop().iterdir(), key=lambda file: file.name):
            if file.is_dir():
                rooms.append(file)
            elif file.name.endswith((".py", ".csv")):
                digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return {
        "Python": ".".join(map(str, sys.version_info[:2])),
        "splendor_sim": __version__,
        "the sources of splendor_sim": digest.hexdigest()[:12],
        **packages,
    }


def _versions_there() -> dict[str, str]:
    """The versions of whoever is asked: functions of a module travel by their names."""
    return versions()


def _differing(name: str, found: dict[str, str], mine: dict[str, str] | None = None) -> str:
    mine = mine or versions()
    differing = [what for what in mine if found.get(what) != mine[what]]
    told = ", ".join(f"{what} {found.get(what)} instead of {mine[what]}" for what in differing)
    return f"{name} has {told}; install the same versions on all machines of the cluster"


# --- Clusters --------------------------------------------------------------------------------------------------------


@contextmanager
def _running(where: str) -> Iterator[tuple[str, "_Processes | None"]]:
    """The address of a scheduler; with the processes of its workers if it is one of our own."""
    from distributed import LocalCluster

    if not where.startswith("local:"):
        yield where, None
        return
    with (
        LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            protocol="tcp",
            dashboard_address="127.0.0.1:0",  # of its HTTP server, which it has without a dashboard too
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            processes=True,
        ) as cluster,
        tempfile.TemporaryDirectory(prefix="splendor-sim-", ignore_cleanup_errors=True) as folder,
    ):
        processes = _Processes(cluster.scheduler_address, int(where.removeprefix("local:")), Path(folder))
        try:
            yield cluster.scheduler_address, processes
        finally:
            processes.end()


class _Processes:
    """The workers of a local cluster: processes of one thread each, started anew when they die.

    They are started as programs, since a child of multiprocessing would run the caller's script once more; and in
    sessions of their own, so that Ctrl-C reaches the caller alone. Without their scheduler they end by themselves.
    """

    def __init__(self, address: str, number: int, folder: Path) -> None:
        self.number = number
        self._address, self._folder = address, folder
        self._may_die = 3 * number
        self._processes = [self._start() for _ in range(number)]

    def keep_up(self) -> None:
        """Start workers anew that have died; raise ClusterError if they do so again and again."""
        for place, process in enumerate(self._processes):
            if process.poll() is not None:
                self._may_die -= 1
                if self._may_die < 0:
                    raise ClusterError(f"the workers on this machine keep dying; one said: {self._last_words()}")
                self._processes[place] = self._start()

    def end(self) -> None:
        """End all workers at once: they hold nothing that is not here."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--memory-limit", "0"]
        options += ["--death-timeout", "10", "--local-directory", str(self._folder)]
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        with (self._folder / "said").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", self._address, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env={**os.environ, "PYTHONPATH": paths},
                start_new_session=True,
            )

    def _last_words(self) -> str:
        lines = (self._folder / "said").read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "nothing")


def _connect(address: str) -> Any:
    from distributed import Client

    with warnings.catch_warnings():
        # It compares versions too, and only warns of them.
        warnings.filterwarnings("ignore", message="Mismatched versions found")
        try:
            return Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} ({_in_a_line(error)}); start one with `dask scheduler`"
            ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from writing its log on standard error: what goes wrong is raised."""
    log = logging.getLogger("distributed")
    loggers = [log, *(logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(log.name))]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _in_a_line(error: Any) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
