"""`splendor-sim perft`."""

from typing import TYPE_CHECKING, Any

import click

from splendor_sim.cli.shared import json_option, position_argument, print_json, quick_start, read_game

if TYPE_CHECKING:
    from splendor_sim import Game


@click.command("perft", short_help="Count the sequences of decisions from a position.")
@position_argument
@click.option("--depth", "-d", type=click.IntRange(min=1), required=True, help="Length of the sequences.")
@click.option("--divide", is_flag=True, help="Count for each first decision by itself as well.")
@json_option
def command(position: Any, depth: int, divide: bool, as_json: bool) -> None:
    """Count the sequences of so many decisions from a position, every card that can be dealt apart.

    A dash reads the position from standard input. Sequences that end earlier because the game is over do not count.

    \b
    Example:
        splendor-sim perft opening.json --depth 2 --divide
    """
    with quick_start():
        from splendor_sim import DepthError, perft

        game = read_game(position)
        perft(game, 1)  # loads the kernels
    try:
        parts = _divide(game, depth) if divide else {}
        total = sum(parts.values()) if divide else perft(game, depth)
    except DepthError as error:
        raise click.UsageError(str(error), click.get_current_context()) from error
    if as_json:
        print_json({"depth": depth, "perft": total, **({"divide": parts} if divide else {})})
        return
    for name, count in parts.items():
        click.echo(f"{name}: {count:,}")
    click.echo(f"{'total: ' if divide else ''}{total:,}")


def _divide(game: "Game", depth: int) -> dict[str, int]:
    """Perft by the name of the first decision."""
    from splendor_sim import action_name, perft

    parts = {}
    for action in game.legal_actions():
        count = 0
        deals: list[int | None] = [*game.chance_outcomes(action)]
        for deal in deals or [None]:
            child = game.copy()
            child.apply(action, deal)
            count += perft(child, depth - 1)
        parts[action_name(action)] = count
    return parts
