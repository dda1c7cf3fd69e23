"""What the commands that play many games share: their options, the plan they make, how it is played and repeated."""

import json
import math
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from splendor_sim.cli.shared import note, quick_start, require_writable

if TYPE_CHECKING:
    from splendor_sim.long_runs import Recording
    from splendor_sim.result import Result
    from splendor_sim.simulate import Crew, Plan, Tally

MAX_TURNS = 1000
LIMIT = 10.0
_AGENTS = "random, greedy, guide, heuristic, mcts, with options as in mcts:simulations=500"
_SHOWN = 0.2  # seconds between running figures, at least


def game_options(
    games: int = 1_000_000,
    number: str = "How many games.",
    rule: str = "One rule, for example target_prestige=18.",
) -> "Callable[[Callable[..., Any]], Callable[..., Any]]":
    """The options of a command that plays games: how many, by whom, from which seed, under which rules."""
    options = [
        click.option("--games", "-n", type=int, default=games, show_default=True, help=number),
        click.option("--players", "-p", type=int, help="Seats: 2, 3 or 4.  [default: one for each agent, or 2]"),
        click.option(
            "--agent", "-a", "agents", multiple=True, metavar="SPEC", help=f"Once a seat: {_AGENTS}.  [random]"
        ),
        click.option("--seed", "-s", type=int, help="0 to 2**64 - 1; drawn and printed if it is left out."),
        click.option(
            "--rules", "-r", default="official", show_default=True, metavar="RULES", help="Preset, JSON or @FILE."
        ),
        click.option("--rule", "changes", multiple=True, metavar="OPTION=VALUE", help=rule),
        click.option("--threads", "-t", type=int, help="At most so many threads.  [default: all processors]"),
        click.option(
            "--rotate/--no-rotate", default=True, help="Let the agents change seats from game to game.  [rotate]"
        ),
        click.option("--max-turns", type=int, default=MAX_TURNS, show_default=True, help="Where a game is stopped."),
    ]

    return _all_of(options)


def arena_options(deals: int) -> "Callable[[Callable[..., Any]], Callable[..., Any]]":
    """The options of a command that lets agents play each other: how many deals, from which seed, under which rules."""
    return _all_of(
        [
            click.option(
                "--deals",
                "-n",
                type=int,
                default=deals,
                show_default=True,
                help="Each is played in all orders of seats.",
            ),
            click.option("--players", "-p", type=int, default=2, show_default=True, help="Seats: 2, 3 or 4."),
            click.option("--seed", "-s", type=int, help="0 to 2**64 - 1; drawn and printed if it is left out."),
            click.option(
                "--rules", "-r", default="official", show_default=True, metavar="RULES", help="Preset, JSON or @FILE."
            ),
            click.option(
                "--rule", "changes", multiple=True, metavar="OPTION=VALUE", help="One rule, for example end=immediate."
            ),
            click.option("--threads", "-t", type=int, help="At most so many threads.  [default: all processors]"),
            click.option(
                "--max-turns", type=int, default=MAX_TURNS, show_default=True, help="Where a game is stopped."
            ),
            click.option(
                "--limit",
                type=float,
                default=LIMIT,
                show_default=True,
                help="Seconds for a decision of a Python class.",
            ),
        ]
    )


def _all_of(options: list[Any]) -> "Callable[[Callable[..., Any]], Callable[..., Any]]":
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@contextmanager
def against_each_other(failed: bool = False) -> Iterator[None]:
    """Where a mistake in what is asked for is wrong usage, or a failure once games are played."""
    try:
        yield
    except ValueError as error:
        if failed:
            raise click.ClickException(str(error)) from error
        raise click.UsageError(str(error), click.get_current_context()) from error


@contextmanager
def running(deals: int, quiet: bool) -> Iterator[Callable[[int, Callable[[], str]], None]]:
    """A function that shows how many deals are finished and a text, on standard error if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, now: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.completed:,} of {task.total:,} deals"), BarColumn(), TextColumn("{task.description}")]
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=deals)
        shown = -math.inf

        def show(done: int, now: Callable[[], str]) -> None:
            nonlocal shown
            if time.monotonic() > shown + _SHOWN:
                shown = time.monotonic()
                bar.update(task, completed=done, description=now())

        yield show


def again_with(words: list[str], result: Any, limit: float) -> str:
    """The command that plays the same deals once more."""
    words = ["splendor-sim", *words, "--players", str(result.players), "--seed", str(result.seed)]
    if result.rules != "official":
        words += ["--rules", result.rules if isinstance(result.rules, str) else json.dumps(result.rules)]
    if result.max_turns != MAX_TURNS:
        words += ["--max-turns", str(result.max_turns)]
    if limit != LIMIT:
        words += ["--limit", f"{limit:g}"]
    return shlex.join(words)


def draw_seed() -> int:
    """A seed that every reader of JSON keeps exactly, even one whose numbers are floats."""
    from secrets import randbits

    return randbits(53)


def plan_of(
    games: int,
    players: int | None,
    agents: tuple[str, ...],
    seed: int,
    rules: str,
    changes: tuple[str, ...],
    threads: int | None,
    rotate: bool,
    max_turns: int,
    full: bool,
) -> "tuple[Plan, Crew]":
    """What is to be played, and by how many threads; a mistake in it is wrong usage."""
    seats = seats_of(players, agents)
    with quick_start():
        from splendor_sim.simulate import Crew, Plan

        try:
            value = read_rules(rules, changes)
            statistics = "full" if full else "summary"
            plan = Plan.of(games, seats, agents or None, seed, value, rotate, max_turns, statistics)
            return plan, Crew.of(threads)
        except ValueError as error:
            raise click.UsageError(str(error), click.get_current_context()) from error


def seats_of(players: int | None, agents: tuple[str, ...]) -> int:
    """The number of seats that --players and --agent mean together."""
    if players is None and len(agents) == 1:
        raise click.UsageError("--agent is given once a seat, so 2 to 4 times, not once", click.get_current_context())
    return (len(agents) or 2) if players is None else players


def read_rules(rules: str, changes: tuple[str, ...]) -> Any:
    """The rules value that --rules and --rule mean together."""
    value: Any = rules
    if rules.startswith("@"):
        try:
            text = Path(rules[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"the rules cannot be read from {rules[1:]}: {error}") from error
        value = _json(text, f"the file {rules[1:]}")
    elif rules.lstrip().startswith("{"):
        value = _json(rules, "--rules")
    if not changes:
        return value
    if isinstance(value, str):
        value = {"preset": value}
    return {**value, **dict(map(_read_change, changes))}


def _read_change(change: str) -> tuple[str, Any]:
    option, equals, value = change.partition("=")
    if not equals:
        raise ValueError(f"--rule is written option=value, for example target_prestige=18, not {change!r}")
    try:
        return option.strip(), json.loads(value)
    except ValueError:
        return option.strip(), value.strip()


def _json(text: str, where: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{where} is no JSON: {error}") from error
    if not isinstance(value, dict | str):
        raise ValueError(f"{where} must hold an object of rule options, not {value!r}")
    return value


def require_report(path: Path) -> None:
    """Refuse a report that could not be made or written afterwards."""
    require_writable(path)
    from splendor_sim.plots import ReportError, require_plots

    try:
        require_plots()
    except ReportError as error:
        raise click.ClickException(str(error)) from error


def make_ready(plan: "Plan", stop: threading.Event, quiet: bool) -> None:
    """Load what the games need, or compile it and say so."""
    with quick_start():
        from splendor_sim.simulate import is_prepared, prepare

        if not is_prepared(plan):
            names = {agent.name for agent in plan.agents}
            takes = "a minute" if "mcts" in names else "15 s" if names == {"random"} else "half a minute"
            note(f"compiling the game, once; this takes about {takes}", quiet)
        prepare(plan, stop)


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a second Ctrl-C raises KeyboardInterrupt."""
    stop = threading.Event()

    def ask_to_stop(*_: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield stop  # somebody else sees to interrupts, or they are ignored
        return
    signal.signal(signal.SIGINT, ask_to_stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def play(
    plan: "Plan", crew: "Crew", recording: "Recording | None", stop: threading.Event, quiet: bool
) -> "Result | None":
    """The result of the games: of all, or of those that were finished when `stop` was set; None if there are none."""
    from splendor_sim.simulate import Tally, play_blocks

    make_ready(plan, stop, quiet)
    tally = Tally(plan, crew)
    with progress(tally, quiet) as show:
        blocks = play_blocks(plan, crew, stop) if recording is None else recording.blocks(crew, stop)
        with closing(blocks):
            for block in blocks:
                tally.add(block)
                show()
    return tally.result() if tally.totals.games else None


@contextmanager
def progress(tally: "Tally", quiet: bool) -> Iterator[Callable[[], None]]:
    """A function that shows how far the games are, on standard error if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.completed:,} of {task.total:,} games"), BarColumn(), TaskProgressColumn()]
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=tally.plan.games)
        yield lambda: bar.update(task, completed=tally.totals.games)


def again(result: "Result", command: str = "run") -> str:
    """The command that plays the same games."""
    words = ["splendor-sim", command, "--games", str(result.games), "--players", str(result.players)]
    if set(result.agents) != {"random"}:
        words += [word for agent in result.agents for word in ("--agent", agent)]
    words += ["--seed", str(result.seed)]
    if result.rules != "official":
        words += ["--rules", result.rules if isinstance(result.rules, str) else json.dumps(result.rules)]
    if not result.rotate:
        words.append("--no-rotate")
    if result.max_turns != MAX_TURNS:
        words += ["--max-turns", str(result.max_turns)]
    if result.statistics == "full" and command == "run":
        words.append("--full")
    return shlex.join(words)
