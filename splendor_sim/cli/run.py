"""`splendor-sim run`."""

import shlex
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from splendor_sim.cli import INTERRUPTED
from splendor_sim.cli.games import (
    again,
    draw_seed,
    game_options,
    interruptible,
    make_ready,
    plan_of,
    play,
    progress,
    require_report,
)
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
    from splendor_sim.long_runs import Recording
    from splendor_sim.result import Result
    from splendor_sim.simulate import Plan


@click.command("run", short_help="Play many games and report what happened.")
@game_options()
@click.option("--dask", metavar="WHERE", help="Play on a Dask cluster: tcp://HOST:PORT, or local:N processes here.")
@click.option("--full", is_flag=True, help="Count cards, nobles, colours and decisions as well: the balance.")
@click.option(
    "--records", type=click.Path(path_type=Path), metavar="FILE", help="Write a row a game: .parquet, .csv or .jsonl."
)
@click.option("--resume", is_flag=True, help="Go on with the records of an interrupted run, or extend a finished one.")
@click.option("--overwrite", is_flag=True, help="Begin the records anew, whatever is there.")
@json_option
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Write the result as JSON as well.")
@click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE", help="Write a page of HTML as well; means --full too."
)
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
    dask: str | None,
    full: bool,
    records: Path | None,
    resume: bool,
    overwrite: bool,
    as_json: bool,
    out: Path | None,
    report: Path | None,
    quiet: bool,
) -> int:
    """Play many games and report who won, what was had at the end and how long the games were.

    The result depends on the seed and on what is played, not on the threads. Ctrl-C reports the games finished so far.

    \b
    Examples:
        splendor-sim run --games 100000 --agent greedy --agent random
        splendor-sim run --players 4 --rule target_prestige=18 --seed 7
        splendor-sim run --agent greedy --agent greedy --full
        splendor-sim run --games 100000000 --records games.parquet --resume
    """
    if out is not None:
        require_writable(out)
    if report is not None:
        require_report(report)
        full = True  # the page is about the balance
    if (resume or overwrite) and (records is None or resume and overwrite):
        raise click.UsageError("--resume or --overwrite, one of them, goes with --records", click.get_current_context())
    if dask is not None:
        dask = _cluster(dask, threads, records)
    if seed is None and resume and records is not None:
        seed = _seed_of(records)
    seed = draw_seed() if seed is None else seed
    plan, crew = plan_of(games, players, agents, seed, rules, changes, threads, rotate, max_turns, full)
    for text in crew.notes:
        note(text, quiet)
    if records is not None:
        plan = replace(plan, records=True)
    with interruptible() as stop, _recording(plan, records, resume, overwrite) as recording:
        if dask is None:
            result, failed = play(plan, crew, recording, stop, quiet), None
        else:
            result, failed = _play_on(dask, plan, stop, quiet)
    if result is None:
        raise failed or click.Abort
    unwritten = failed
    try:
        if out is not None:
            write_whole(out, to_json(result.to_dict()))
        if report is not None:
            from splendor_sim.report import page

            write_whole(report, page(result, again(result, "report")))
    except click.ClickException as error:  # is told at the end, for the result is there to be printed
        unwritten = error
    if as_json:
        print_json(result.to_dict())
    else:
        tables, rest = result.tables(), [result.pace(), f"again: {again(result)}"]
        if result.balance is not None:
            tables, rest = [*tables, *result.balance.tables()], [result.balance.correction, *rest]
        print_tables(result.heading(), tables, *rest)
    if result.games < plan.games:
        click.echo(f"interrupted: this is of the {result.games:,} games finished out of {plan.games:,}", err=True)
        if records is not None:
            words = ["--records", str(records), "--resume"]
            click.echo(f"to go on: {again(replace(result, games=plan.games))} {shlex.join(words)}", err=True)
    if unwritten:
        raise unwritten
    return INTERRUPTED if result.games < plan.games else 0


def _seed_of(records: Path) -> int | None:
    """The seed of the run whose records are there, None if there are none."""
    with quick_start():
        from splendor_sim.long_runs import begun_as
        from splendor_sim.records import RecordsError

    try:
        found = (begun_as(records) or {}).get("seed")
    except RecordsError as error:
        raise click.ClickException(str(error)) from error
    return found if isinstance(found, int) else None


@contextmanager
def _recording(plan: "Plan", path: Path | None, resume: bool, overwrite: bool) -> "Iterator[Recording | None]":
    """What writes the records, if they are asked for."""
    if path is None:
        yield None
        return
    from splendor_sim.long_runs import Recording
    from splendor_sim.records import RecordsError

    kept = 0
    try:
        with Recording(plan, path, resume, overwrite) as recording:
            try:
                yield recording
            finally:
                kept = recording.kept
    except RecordsError as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        rest = f"; {kept:,} finished games are kept, --resume goes on with them" if kept else ""
        where = error.filename or path
        raise click.ClickException(f"{where} cannot be written: {error.strerror or error}{rest}") from error


def _cluster(dask: str, threads: int | None, records: Path | None) -> str:
    """Where the cluster is; what does not go with one is wrong usage."""
    from splendor_sim.distributed import ClusterError, check_cluster

    try:
        if threads is not None or records is not None:
            raise ClusterError(f"--{'records' if threads is None else 'threads'} does not go with --dask")
        return check_cluster(dask)
    except ClusterError as error:
        raise click.UsageError(str(error), click.get_current_context()) from error


def _play_on(
    dask: str, plan: "Plan", stop: threading.Event, quiet: bool
) -> "tuple[Result | None, click.ClickException | None]":
    """The result of the games on a cluster, as far as they were finished, and how the cluster failed if it did."""
    from splendor_sim.distributed import ClusterError, connected
    from splendor_sim.simulate import Crew, Tally

    if dask.startswith("local:"):  # whose processes then find everything compiled
        make_ready(plan, stop, quiet)
    tally = failed = None
    try:
        with connected(dask, stop) as cluster:
            tally = Tally(plan, Crew(cluster.threads))
            with progress(tally, quiet) as show, closing(cluster.play_blocks(plan, stop)) as blocks:
                for block in blocks:
                    tally.add(block)
                    show()
    except ClusterError as error:
        if not stop.is_set():
            failed = click.ClickException(str(error))
    return (tally.result() if tally and tally.totals.games else None), failed
