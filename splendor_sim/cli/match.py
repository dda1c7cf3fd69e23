"""`splendor-sim match`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from splendor_sim.cli import INTERRUPTED
from splendor_sim.cli.games import (
    again_with,
    against_each_other,
    arena_options,
    draw_seed,
    interruptible,
    make_ready,
    read_rules,
    running,
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
    from splendor_sim.arena import MatchResult, MatchTally
    from splendor_sim.ratings import Sprt

_DEALS = 10_000


@click.command("match", short_help="Let an agent play against another on the same deals.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@arena_options(_DEALS)
@click.option(
    "--sprt", metavar="ELO0,ELO1", help="End as soon as a sequential test tells these bounds apart; for two seats."
)
@click.option("--alpha", type=float, help="How often the test may accept ELO1 where ELO0 is true.  [default: 0.05]")
@click.option("--beta", type=float, help="How often the test may accept ELO0 where ELO1 is true.  [default: 0.05]")
@click.option(
    "--records", type=click.Path(path_type=Path), metavar="FILE", help="Write a row a game: .parquet, .csv or .jsonl."
)
@click.option("--overwrite", is_flag=True, help="Replace a file of records that is there.")
@json_option
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Write the result as JSON as well.")
@quiet_option
def command(
    a: str,
    b: str,
    deals: int,
    players: int,
    seed: int | None,
    rules: str,
    changes: tuple[str, ...],
    threads: int | None,
    max_turns: int,
    limit: float,
    sprt: str | None,
    alpha: float | None,
    beta: float | None,
    records: Path | None,
    overwrite: bool,
    as_json: bool,
    out: Path | None,
    quiet: bool,
) -> int:
    """Let agent A play against agent B, which takes all other seats. On each deal A sits in every seat once.

    An agent is random, greedy, guide, heuristic or mcts, with options as in mcts:simulations=500, or a Python class as
    module:Class. Reported are A's share of the wins and the difference in Elo, with 95 % intervals over deals. Ctrl-C
    reports the deals finished so far.

    \b
    Examples:
        splendor-sim match heuristic greedy
        splendor-sim match mcts:simulations=400 heuristic --deals 200
        splendor-sim match heuristic guide --sprt 0,10
        splendor-sim match mymodule:MyAgent greedy --deals 100 --limit 2
    """
    if out is not None:
        require_writable(out)
    if overwrite and records is None:
        raise click.UsageError("--overwrite goes with --records", click.get_current_context())
    seed = draw_seed() if seed is None else seed
    with quick_start(), against_each_other():
        from splendor_sim.arena import MatchTally, check_limit, match_plan
        from splendor_sim.simulate import Crew

        value = read_rules(rules, changes)
        test = _test(sprt, alpha, beta)
        plan, _ = match_plan(a, b, deals, players, seed, value, max_turns, test)
        limit, crew = check_limit(limit), Crew.of(threads)
    for text in crew.notes:
        note(text, quiet)
    with interruptible() as stop:
        if plan.is_compiled:
            make_ready(plan, stop, quiet)
        tally = MatchTally(plan, crew, test)
        _play(tally, limit, records, overwrite, stop, deals, quiet)
    if not tally.games:
        raise click.Abort
    result = tally.result()
    done = result.deals == deals or tally.is_decided
    again = _again(result, limit)
    unwritten = None
    try:
        if out is not None:
            write_whole(out, to_json(result.to_dict()))
    except click.ClickException as error:  # is told at the end, for the result is there to be printed
        unwritten = error
    if as_json:
        print_json(result.to_dict())
    else:
        print_tables(result.heading(), result.tables(), *result.complaints, result.pace(), f"again: {again}")
    if not done:
        click.echo(f"interrupted: this is of the {result.deals:,} deals finished out of {deals:,}", err=True)
    if unwritten:
        raise unwritten
    return 0 if done else INTERRUPTED


def _test(sprt: str | None, alpha: float | None, beta: float | None) -> "Sprt | None":
    from splendor_sim.ratings import Sprt

    if sprt is None:
        if alpha is not None or beta is not None:
            raise ValueError("--alpha and --beta go with --sprt")
        return None
    try:
        elo0, elo1 = map(float, sprt.split(","))
    except ValueError:
        raise ValueError(f"--sprt is written ELO0,ELO1, for example 0,10, not {sprt!r}") from None
    return Sprt(elo0, elo1, 0.05 if alpha is None else alpha, 0.05 if beta is None else beta)


def _play(
    tally: "MatchTally", limit: float, records: Path | None, overwrite: bool, stop: Any, deals: int, quiet: bool
) -> None:
    from splendor_sim.arena import play_match

    def now() -> str:
        found = tally.strength()
        half = 100 * (found.share.high - found.share.low) / 2
        text = f"{100 * found.share.value:.1f} % ± {half:.1f}, {found.elo.value:+.0f} Elo"
        return text if tally.sprt is None else f"{text}, LLR {tally.llr:+.2f} of {tally.sprt.upper:.2f}"

    with against_each_other(failed=True), running(deals, quiet) as show:
        for _ in play_match(tally, limit, records, overwrite, stop):
            show(tally.deals, now)


def _again(result: "MatchResult", limit: float) -> str:
    words = ["match", *result.agents, "--deals", str(result.deals)]
    return again_with(words, result, limit)
