"""`splendor-sim analyse`."""

import shlex
from typing import Any

import click

from splendor_sim.cli.games import draw_seed
from splendor_sim.cli.shared import (
    json_option,
    note,
    position_argument,
    print_json,
    print_tables,
    quick_start,
    quiet_option,
    read_game,
)

SIMULATIONS = 100_000


@click.command("analyse", short_help="Search a position for the best decisions.")
@position_argument
@click.option("--simulations", "-n", type=int, help=f"How long to search, in simulations.  [default: {SIMULATIONS:,}]")
@click.option("--seconds", type=float, help="How long to search, in seconds; such a search cannot be repeated exactly.")
@click.option("--threads", "-t", type=int, default=1, show_default=True, help="Trees that are searched side by side.")
@click.option("--leaf", default="evaluation", show_default=True, help="What values a leaf: evaluation or playout.")
@click.option("--turns", type=int, default=2, show_default=True, help="Turns of the policy before an evaluation.")
@click.option("--policy", default="heuristic", show_default=True, help="Who plays those turns, or playouts.")
@click.option("--exploration", type=float, help="Weight of the prior against values.")
@click.option("--seed", "-s", type=int, help="0 to 2**64 - 1; drawn and printed if it is left out.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Decisions that are printed.")
@json_option
@quiet_option
def command(
    position: Any,
    simulations: int | None,
    seconds: float | None,
    threads: int,
    leaf: str,
    turns: int,
    policy: str,
    exploration: float | None,
    seed: int | None,
    top: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search a position and print the best decisions, each with its visits and the shares of the win after it, and
    the expected line.

    A dash reads the position from standard input. What the seat to move does not know has no influence.

    \b
    Examples:
        splendor-sim analyse opening.json
        splendor-sim analyse opening.json --seconds 5 --threads 2
    """
    seed = draw_seed() if seed is None else seed
    if simulations is None and seconds is None:
        simulations = SIMULATIONS
    with quick_start():
        from splendor_sim import SeedError
        from splendor_sim.search import SearchError, is_ready, search

        game = read_game(position)
        if not is_ready():
            note("compiling the search, once; this takes about a minute", quiet)
        try:
            search(game, 1)  # loads the kernels, so that seconds are those of the search
            found = search(
                game,
                simulations,
                seed,
                threads,
                seconds=seconds,
                leaf=leaf,
                turns=turns,
                policy=policy,
                exploration=exploration,
            )
        except (SearchError, SeedError) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        print_json(found.to_dict())
        return
    options = {"simulations": simulations, "seconds": seconds, "threads": threads, "leaf": leaf, "turns": turns}
    words = [f"--{name} {value}" for name, value in options.items() if value not in (None, "evaluation")]
    words += [f"--policy {policy}"] if policy != "heuristic" else []
    words += [f"--exploration {exploration}"] if exploration is not None else []
    print_tables(
        found.heading(),
        found.tables(top),
        f"{found.simulations:,} simulations in {found.seconds:.2f} s",
        f"again: splendor-sim analyse {shlex.quote(position.name)} {' '.join(words)} --seed {seed}",
    )
