"""`splendor-sim report`."""

from pathlib import Path

import click

from splendor_sim.cli import INTERRUPTED
from splendor_sim.cli.games import again, draw_seed, game_options, interruptible, plan_of, play, require_report
from splendor_sim.cli.shared import note, quiet_option, write_whole

_OUT = "report.html"


@click.command("report", short_help="Play many games and write a page of plots and tables.")
@game_options()
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help=f"The page.  [default: a new {_OUT}]"
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
    out: Path | None,
    quiet: bool,
) -> int:
    """Play many games and write what happened as one HTML file, with intervals, plots and how to repeat it.

    The page needs nothing else, is read on any screen and on paper, and is the same whenever the same games are played.
    Ctrl-C makes the page of the games finished so far. A file named with --out is replaced.

    \b
    Examples:
        splendor-sim report --games 1000000 --players 3
        splendor-sim report --agent greedy --agent greedy --rule target_prestige=18 --out eighteen.html
    """
    if out is None:
        out = Path(_OUT)
        if out.exists():  # nobody has named it, so it may be another's
            raise click.ClickException(f"{_OUT} is there already; --out {_OUT} replaces it")
    require_report(out)
    seed = draw_seed() if seed is None else seed
    plan, crew = plan_of(games, players, agents, seed, rules, changes, threads, rotate, max_turns, True)
    for text in crew.notes:
        note(text, quiet)
    with interruptible() as stop:
        result = play(plan, crew, None, stop, quiet)
    if result is None:
        raise click.Abort
    from splendor_sim.report import page

    repeat = again(result, "report")
    write_whole(out, page(result, repeat))
    click.echo(f"{result.heading()}\n\n{result.pace()}\nagain: {repeat}\nthe report is {out}")
    if result.games < plan.games:
        click.echo(f"interrupted: this is of the {result.games:,} games finished out of {plan.games:,}", err=True)
        return INTERRUPTED
    return 0
