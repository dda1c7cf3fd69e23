"""`splendor-sim run`."""

import json
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from splendor_sim.cli import INTERRUPTED
from splendor_sim.cli.shared import (
    json_option,
    note,
    print_json,
    print_tables,
    quick_start,
    quiet_option,
    require_writable,
    to_json,
    write_whole,
)

if TYPE_CHECKING:
    from splendor_sim.result import Result
    from splendor_sim.simulate import Crew, Plan, Tally

_MAX_TURNS = 1000


@click.command("run", short_help="Play many games and report what happened.")
@click.option("--games", "-n", type=int, default=1_000_000, show_default=True, help="How many games.")
@click.option("--players", "-p", type=int, help="Seats: 2, 3 or 4.  [default: one for each agent, or 2]")
@click.option("--agent", "-a", "agents", multiple=True, metavar="SPEC", help="Once a seat: random or greedy.  [random]")
@click.option("--seed", "-s", type=int, help="0 to 2**64 - 1; drawn and printed if it is left out.")
@click.option("--rules", "-r", default="official", show_default=True, metavar="RULES", help="Preset, JSON or @FILE.")
@click.option(
    "--rule", "changes", multiple=True, metavar="OPTION=VALUE", help="One rule, for example target_prestige=18."
)
@click.option("--threads", "-t", type=int, help="At most so many threads.  [default: all processors]")
@click.option("--rotate/--no-rotate", default=True, help="Let the agents change seats from game to game.  [rotate]")
@click.option("--max-turns", type=int, default=_MAX_TURNS, show_default=True, help="Where a game is stopped.")
@json_option
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Write the result as JSON as well.")
@quiet_option
def command(
    games: int,
    players: int | None,
    agents: tuple[str, ...],
    seed: int | None,
    rules: str,
    changes: tuple[str, ...],
    threads: int | None,
    rotate: bool,
    max_turns: int,
    as_json: bool,
    out: Path | None,
    quiet: bool,
) -> int:
    """Play many games and report who won, what was had at the end and how long the games were.

    The result depends on the seed and on what is played, not on the threads. Ctrl-C reports the games finished so far.

    \b
    Examples:
        splendor-sim run --games 100000 --agent greedy --agent random
        splendor-sim run --players 4 --rule target_prestige=18 --seed 7
    """
    if out is not None:
        require_writable(out)
    seed = _draw_seed() if seed is None else seed
    plan, crew = _plan(games, players, agents, seed, rules, changes, threads, rotate, max_turns)
    for text in crew.notes:
        note(text, quiet)
    with _interruptible() as stop:
        result = _play(plan, crew, stop, quiet)
    if result is None:
        raise click.Abort
    unwritten = None
    try:
        if out is not None:
            write_whole(out, to_json(result.to_dict()))
    except click.ClickException as error:  # is told at the end, for the result is there to be printed
        unwritten = error
    if as_json:
        print_json(result.to_dict())
    else:
        print_tables(result.heading(), result.tables(), result.pace(), f"again: {_again(result)}")
    if result.games < plan.games:
        click.echo(f"interrupted: this is of the {result.games:,} games finished out of {plan.games:,}", err=True)
    if unwritten:
        raise unwritten
    return INTERRUPTED if result.games < plan.games else 0


def _plan(
    games: int,
    players: int | None,
    agents: tuple[str, ...],
    seed: int,
    rules: str,
    changes: tuple[str, ...],
    threads: int | None,
    rotate: bool,
    max_turns: int,
) -> "tuple[Plan, Crew]":
    """What is to be played, and by how many threads; a mistake in it is wrong usage."""
    if players is None and len(agents) == 1:
        raise click.UsageError("--agent is given once a seat, so 2 to 4 times, not once", click.get_current_context())
    seats = (len(agents) or 2) if players is None else players
    with quick_start():
        from splendor_sim.simulate import Crew, Plan

        try:
            value = _read_rules(rules, changes)
            plan = Plan.of(games, seats, agents or None, seed, value, rotate, max_turns, "summary")
            return plan, Crew.of(threads)
        except ValueError as error:
            raise click.UsageError(str(error), click.get_current_context()) from error


def _play(plan: "Plan", crew: "Crew", stop: threading.Event, quiet: bool) -> "Result | None":
    """The result of the games: of all, or of those that were finished when `stop` was set; None if there are none."""
    from splendor_sim.simulate import Tally, is_prepared, play_blocks, prepare

    with quick_start():
        if not is_prepared(plan):
            note("compiling the game, once; this takes about 15 s", quiet)
        prepare(plan, stop)
    tally = Tally(plan, crew)
    with _progress(tally, quiet) as show:
        for block in play_blocks(plan, crew, stop):
            tally.add(block)
            show()
    return tally.result() if tally.totals.games else None


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
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


@contextmanager
def _progress(tally: "Tally", quiet: bool) -> Iterator[Callable[[], None]]:
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


def _draw_seed() -> int:
    """A seed that every reader of JSON keeps exactly, even one whose numbers are floats."""
    from secrets import randbits

    return randbits(53)


def _read_rules(rules: str, changes: tuple[str, ...]) -> Any:
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


def _again(result: "Result") -> str:
    """The command that plays the same games."""
    words = ["splendor-sim", "run", "--games", str(result.games), "--players", str(result.players)]
    if set(result.agents) != {"random"}:
        words += [word for agent in result.agents for word in ("--agent", agent)]
    words += ["--seed", str(result.seed)]
    if result.rules != "official":
        words += ["--rules", result.rules if isinstance(result.rules, str) else json.dumps(result.rules)]
    if not result.rotate:
        words.append("--no-rotate")
    if result.max_turns != _MAX_TURNS:
        words += ["--max-turns", str(result.max_turns)]
    return shlex.join(words)
