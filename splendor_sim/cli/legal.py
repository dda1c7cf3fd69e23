"""`splendor-sim legal`."""

from typing import Any

import click

from splendor_sim.cli.shared import json_option, position_argument, print_json, quick_start, read_game


@click.command("legal", short_help="List the legal decisions of a position.")
@position_argument
@json_option
def command(position: Any, as_json: bool) -> None:
    """List the legal decisions of a position, one a line: id and name.

    A dash reads the position from standard input. A game that is over has none.

    \b
    Example:
        splendor-sim legal opening.json
    """
    with quick_start():
        from splendor_sim import action_name

        game = read_game(position)
        ids = game.legal_actions()
    if as_json:
        names = [action_name(action) for action in ids]
        print_json({"seat": game.seat_to_move, "phase": game.phase, "legal": names, "ids": ids})
        return
    for action in ids:
        click.echo(f"{action:2}  {action_name(action)}")
