"""`splendor-sim replay`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from splendor_sim.cli.shared import json_option, print_json, print_tables, quick_start

if TYPE_CHECKING:
    from splendor_sim.replay import Replay


@click.command("replay", short_help="Show a recorded game decision by decision.")
@click.argument("records", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="RECORDS")
@click.option("--index", "-i", type=click.IntRange(min=0), required=True, help="Which game, from 0 on.")
@json_option
def command(records: Path, index: int, as_json: bool) -> None:
    """Play a game of a file of records again and show it decision by decision.

    The end is compared with what the file says of the game: a file of other games or rules is refused.

    \b
    Example:
        splendor-sim replay games.parquet --index 17
    """
    with quick_start():
        from splendor_sim.records import RecordsError
        from splendor_sim.replay import replay

        try:
            found = replay(records, index)
        except RecordsError as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        print_json(_as_json(found))
    else:
        _print(found, records)


def _as_json(found: "Replay") -> dict[str, Any]:
    return {
        **found.row,
        "opening": found.opening.position(),
        "decisions": [decision._asdict() for decision in found.decisions],
        "end": found.game.position(),
    }


def _print(found: "Replay", records: Path) -> None:
    from splendor_sim.result import Table

    row = found.row
    decisions = [
        (
            str(decision.turn + 1),
            str(decision.seat),
            decision.action,
            "" if decision.card is None else str(decision.card),
        )
        for decision in found.decisions
    ]
    names = ("prestige", "cards", "nobles", "reserves")
    seats = [
        (f"seat {seat}  {agent}", "won" * (seat in row["winners"]), *(str(row[name][seat]) for name in names))
        for seat, agent in enumerate(row["agents"])
    ]
    print_tables(
        f"game {row['index']:,} of {records}, key {row['key']}",
        [
            Table(("Turn", "seat", "decision", "card that comes up"), (tuple(decisions),)),
            Table(("At the end", "", "prestige", "cards bought", "nobles", "reserved"), (tuple(seats),)),
        ],
        f"{row['ending']} after {row['turns']:,} turns, as recorded",
    )
