"""What several commands need: tables and JSON on standard output, notes on standard error, files, positions."""

import atexit
import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from splendor_sim import Game
    from splendor_sim.result import Table

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on standard error.")
position_argument = click.argument("position", type=click.File(encoding="utf-8"), metavar="POSITION.json")


@contextmanager
def quick_start() -> Iterator[None]:
    """Spare a process that loads its first kernel a third of the time for its start and end."""
    # Numba looks for SciPy's BLAS, which is optional and which no kernel uses; who asks for it afterwards gets it.
    blas = "scipy.linalg.cython_blas"
    hidden = blas not in sys.modules
    if hidden:
        sys.modules[blas] = None  # type: ignore[assignment]
    # There is no garbage in modules that are being loaded, and none worth looking for at the end.
    collecting = gc.isenabled()
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
        if hidden:
            sys.modules.pop(blas, None)


def note(text: str, quiet: bool) -> None:
    """Say something on standard error, in a line."""
    if not quiet:
        click.echo(f"note: {text}", err=True)


def print_json(value: Any) -> None:
    """Print one JSON object."""
    click.echo(to_json(value), nl=False)


def to_json(value: Any) -> str:
    """The text of a JSON file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def print_tables(heading: str, tables: "Iterable[Table]", *rest: str) -> None:
    """Print a heading, tables and more text on standard output; colours and lines as the output can show them."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    console.print(Text(heading, style="bold"), soft_wrap=True)
    for table in tables:
        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
        for place, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if place else "left", overflow="fold", no_wrap=place > 0)
        for group in table.groups:
            for row in group:
                shown.add_row(*row)
            shown.add_section()
        console.print()
        console.print(shown)
    console.print()
    for text in rest:
        console.print(Text(text), soft_wrap=True)


def require_writable(path: Path) -> None:
    """Refuse a file that could not be written afterwards."""
    if path.is_dir():
        raise click.ClickException(f"{path} cannot be written: it is a folder")
    try:
        if not _is_special(path):
            _unfinished(path).touch()
            _unfinished(path).unlink()
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that its name never stands for half of it."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if _is_special(path):
            path.write_bytes(data)
            return
        try:
            with _unfinished(path).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(_unfinished(path), path.resolve())
        finally:
            _unfinished(path).unlink(missing_ok=True)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error


def _is_special(path: Path) -> bool:
    """Whether a path is a device or a pipe, which is written to and never replaced."""
    return path.exists() and not path.is_file()


def _unfinished(path: Path) -> Path:
    """Where a file is written before it gets its name: in the same folder, links followed."""
    whole = path.resolve()
    return whole.with_name(f".{whole.name}.{os.getpid()}")


def read_json(text: str, where: str) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.ClickException(f"{where} is no JSON: {error}") from error


def read_game(file: Any) -> "Game":
    """The game of an open position file."""
    from splendor_sim import Game, PositionError, RulesError

    name = "standard input" if file.name in ("-", "<stdin>") else file.name
    try:
        text = file.read()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{name} is no UTF-8 text: {error.reason} at byte {error.start}") from error
    try:
        return Game.from_position(read_json(text, name))
    except (PositionError, RulesError) as error:
        raise click.ClickException(f"{name}: {error}") from error
