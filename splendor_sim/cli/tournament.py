"""`splendor-sim tournament`."""

from pathlib import Path
from typing import TYPE_CHECKING

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
    quiet_option,
    require_writable,
    to_json,
    write_whole,
)

if TYPE_CHECKING:
    from splendor_sim.arena import TournamentResult

_DEALS = 1_000


@click.command("tournament", short_help="Let agents play each other and rate them.")
@click.argument("agents", metavar="A B C…", nargs=-1, required=True)
@arena_options(_DEALS)
@json_option
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Write the result as JSON as well.")
@quiet_option
def command(
    agents: tuple[str, ...],
    deals: int,
    players: int,
    seed: int | None,
    rules: str,
    changes: tuple[str, ...],
    threads: int | None,
    max_turns: int,
    limit: float,
    as_json: bool,
    out: Path | None,
    quiet: bool,
) -> int:
    """Let every group of agents that fills a table play every deal in all orders of seats, and rate the agents.

    Agents are written as for match. Ratings are Elo points around the mean of all, by the model of Bradley and Terry
    or, for more than two seats, Plackett and Luce, with 95 % intervals over deals. Ctrl-C reports the deals finished
    so far.

    \b
    Examples:
        splendor-sim tournament random greedy guide heuristic
        splendor-sim tournament greedy guide heuristic mcts:simulations=100 --players 3 --deals 50
    """
    if out is not None:
        require_writable(out)
    seed = draw_seed() if seed is None else seed
    with against_each_other():  # no quick start: the library for ratings needs what that leaves out
        from splendor_sim.agents import parse_agent
        from splendor_sim.arena import TournamentTally, check_limit, play_tournament, tournament_plans
        from splendor_sim.simulate import Crew

        plans = tournament_plans(agents, deals, players, seed, read_rules(rules, changes), max_turns)
        limit, crew = check_limit(limit), Crew.of(threads)
    for text in crew.notes:
        note(text, quiet)
    with interruptible() as stop:
        for plan in plans:
            if plan.is_compiled:
                make_ready(plan, stop, quiet)
        tally = TournamentTally(plans, tuple(map(parse_agent, agents)), crew)

        def now() -> str:
            first = tally.result().standings[0]
            return f"{first.spec} leads with {first.rating.value:+.0f} Elo"

        with against_each_other(failed=True), running(deals, quiet) as show:
            for _ in play_tournament(tally, limit, stop):
                show(tally.deals, now)
    if not tally.games:
        raise click.Abort
    result = tally.result()
    unwritten = None
    try:
        if out is not None:
            write_whole(out, to_json(result.to_dict()))
    except click.ClickException as error:  # is told at the end, for the result is there to be printed
        unwritten = error
    if as_json:
        print_json(result.to_dict())
    else:
        again = f"again: {_again(result, limit)}"
        print_tables(result.heading(), result.tables(), *result.complaints, result.pace(), again)
    if result.deals < deals:
        click.echo(f"interrupted: this is of the {result.deals:,} deals finished out of {deals:,}", err=True)
    if unwritten:
        raise unwritten
    return INTERRUPTED if result.deals < deals else 0


def _again(result: "TournamentResult", limit: float) -> str:
    words = ["tournament", *result.agents, "--deals", str(result.deals)]
    return again_with(words, result, limit)
