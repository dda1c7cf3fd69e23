"""`splendor-sim sweep`."""

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from splendor_sim.cli import INTERRUPTED
from splendor_sim.cli.games import (
    MAX_TURNS,
    draw_seed,
    game_options,
    interruptible,
    make_ready,
    progress,
    read_rules,
    seats_of,
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
    import threading

    from splendor_sim.simulate import Crew, Tally
    from splendor_sim.sweep import Grid, Sweep

_GAMES = 100_000
_TABLE_ENDINGS = (".csv", ".parquet", ".json")
_PLOT_ENDINGS = (".svg",)


@click.command("sweep", short_help="Play under varied rules and compare the outcomes.")
@click.option(
    "--vary", "-v", "varied", multiple=True, metavar="OPTION=VALUE,…", help="Values of a rule option, or of preset."
)
@click.option("--presets", is_flag=True, help="The five rule texts side by side: --vary preset=official,italian,…")
@game_options(_GAMES, "How many games a cell.", "One rule that all cells have in common.")
@json_option
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Write a .csv, .parquet or .json as well."
)
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the differences; a name that ends in .svg."
)
@quiet_option
def command(
    varied: tuple[str, ...],
    presets: bool,
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
    plot: Path | None,
    quiet: bool,
) -> int:
    """Play every combination of rule options on the same deals and report how the outcomes differ.

    The first value of each option makes the baseline. Differences are taken game by game between games with the same
    deal, with 95 % intervals. A number for gem_tokens or gold_tokens holds for all numbers of seats.

    \b
    Examples:
        splendor-sim sweep --presets
        splendor-sim sweep --vary target_prestige=15,12,18 --vary gold_tokens=5,3,0 --plot sweep.svg
        splendor-sim sweep --vary end=finish_round,immediate --agent greedy --agent greedy --out sweep.csv
    """
    _require_endings(out, plot)
    seed = draw_seed() if seed is None else seed
    grid, crew = _grid(varied, presets, games, players, agents, seed, rules, changes, threads, rotate, max_turns)
    for text in crew.notes:
        note(text, quiet)
    with interruptible() as stop:
        sweep = _play(grid, crew, stop, quiet)
    if sweep is None:
        raise click.Abort
    unwritten = None
    try:
        if out is not None:
            write_whole(out, _file(sweep, out))
        if plot is not None:
            from splendor_sim.plots import sweep_plot

            write_whole(plot, sweep_plot(sweep))
    except click.ClickException as error:  # is told at the end, for the result is there to be printed
        unwritten = error
    if as_json:
        print_json(sweep.to_dict())
    else:
        print_tables(sweep.heading(), sweep.tables(), sweep.pace(), f"again: {_again(sweep)}")
    if sweep.games < games:
        click.echo(f"interrupted: this is of the {sweep.games:,} games finished out of {games:,} a cell", err=True)
    if unwritten:
        raise unwritten
    return INTERRUPTED if sweep.games < games else 0


def _require_endings(out: Path | None, plot: Path | None) -> None:
    """Refuse what could not be written afterwards."""
    for option, path, endings in (("--out", out, _TABLE_ENDINGS), ("--plot", plot, _PLOT_ENDINGS)):
        if path is None:
            continue
        if path.suffix.lower() not in endings and path.name != "null":
            raise click.UsageError(
                f"the name for {option} ends in {' or '.join(endings)}, not {path.name!r}", click.get_current_context()
            )
        require_writable(path)
    try:
        if out is not None and out.suffix.lower() == ".parquet":
            from splendor_sim.records import table_as_parquet

            table_as_parquet([])
        if plot is not None:
            from splendor_sim.plots import require_plots

            require_plots()
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def _grid(
    varied: tuple[str, ...],
    presets: bool,
    games: int,
    players: int | None,
    agents: tuple[str, ...],
    seed: int,
    rules: str,
    changes: tuple[str, ...],
    threads: int | None,
    rotate: bool,
    max_turns: int,
) -> "tuple[Grid, Crew]":
    """What is to be played, and by how many threads; a mistake in it is wrong usage."""
    seats = seats_of(players, agents)
    with quick_start():
        from splendor_sim.simulate import Crew
        from splendor_sim.sweep import Grid

        try:
            vary = _read_vary(varied, presets)
            value = read_rules(rules, changes)
            return Grid.of(vary, games, seats, agents or None, seed, value, rotate, max_turns), Crew.of(threads)
        except ValueError as error:
            raise click.UsageError(str(error), click.get_current_context()) from error


def _play(grid: "Grid", crew: "Crew", stop: "threading.Event", quiet: bool) -> "Sweep | None":
    """The result of the games: of all, or of those that were finished when `stop` was set; None if there are none."""
    from splendor_sim.sweep import SweepTally, play_cells

    make_ready(grid.plans[0], stop, quiet)
    tally = SweepTally(grid, crew)
    with progress(cast("Tally", tally), quiet) as show:
        for block in play_cells(grid, crew, stop):
            tally.add(block)
            show()
    return tally.result() if tally.totals.games else None


def _read_vary(varied: tuple[str, ...], presets: bool) -> dict[str, list[Any]]:
    """The values by option that --presets and --vary mean together."""
    from splendor_sim.sweep import RULE_TEXTS

    vary: dict[str, list[Any]] = {"preset": list(RULE_TEXTS)} if presets else {}
    for text in varied:
        option, equals, values = text.partition("=")
        option = option.strip()
        if not equals:
            raise ValueError(f"--vary is written option=value,value, for example target_prestige=12,15, not {text!r}")
        if option in vary:
            raise ValueError(f"{option} is varied twice")
        # Commas part values, except in a list like [4,5,7].
        vary[option] = [_read_value(value) for value in re.split(r",(?![^\[\]]*\])", values) if value.strip()]
    if not vary:
        raise ValueError("a sweep needs --presets or --vary, for example --vary target_prestige=12,15")
    return vary


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _file(sweep: "Sweep", path: Path) -> str | bytes:
    """What a file of this name holds."""
    ending = path.suffix.lower()
    if ending == ".json":
        return to_json(sweep.to_dict())
    rows = sweep.rows()
    if ending == ".parquet":
        from splendor_sim.records import table_as_parquet

        return table_as_parquet(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _again(sweep: "Sweep") -> str:
    """The command that plays the same games."""
    run = sweep.cells[0].result
    words = ["splendor-sim", "sweep"]
    for option, values in sweep.vary.items():
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        words += ["--vary", f"{option}={','.join(texts)}"]
    words += ["--games", str(sweep.games), "--players", str(run.players)]
    if set(run.agents) != {"random"}:
        words += [word for agent in run.agents for word in ("--agent", agent)]
    words += ["--seed", str(run.seed)]
    if sweep.rules != "official":
        words += ["--rules", sweep.rules if isinstance(sweep.rules, str) else json.dumps(sweep.rules)]
    if not run.rotate:
        words.append("--no-rotate")
    if run.max_turns != MAX_TURNS:
        words += ["--max-turns", str(run.max_turns)]
    return shlex.join(words)
