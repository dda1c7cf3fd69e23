"""The program `splendor-sim`: its commands, and how they end."""

import os
import sys
import threading
import warnings
from importlib import import_module
from typing import Any

import click

from splendor_sim import __version__

# Each is a module here, imported when it is asked for.
COMMANDS = ("run", "match", "tournament", "analyse", "replay", "report", "sweep", "legal", "perft", "bench")

DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


class _Commands(click.Group):
    """The commands by their names, without importing what is not asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:
                return None
            ctx.fail(f"there is no command {cmd_name!r}; the commands are {', '.join(COMMANDS)}")
        command = import_module(f"{__name__}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="splendor-sim", message="%(prog)s %(version)s")
def program() -> None:
    """Splendor by the million: exact rules, agents from random to search, statistics with intervals.

    \b
    A million random games of two seats:
        splendor-sim run
    Greedy against random, 100,000 games:
        splendor-sim run --games 100000 --agent greedy --agent random
    Who is stronger, on the same deals from both seats:
        splendor-sim match mcts:simulations=128 heuristic --deals 500
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the program and return its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

    arguments: those of the process if None.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a stream of few characters shows `?` rather than failing
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        code = _call(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _fail(_os_error(error), FAILED)
        _close_standard_output()
    if code == INTERRUPTED and arguments is None and threading.active_count() > 1:
        # A compiler at work in a thread would keep the process for seconds more.
        sys.stderr.flush()
        os._exit(code)
    return code


def _call(arguments: list[str] | None) -> int:
    try:
        code = program.main(arguments, prog_name="splendor-sim", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return WRONG_USAGE
    except click.UsageError as error:
        path = f"{error.ctx.command_path} --help" if error.ctx else "splendor-sim --help"
        return _fail(f"{error.format_message().rstrip('.')} (see {path})", WRONG_USAGE)
    except click.ClickException as error:
        return _fail(error.format_message(), FAILED)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            _close_standard_output()
        return _fail(_os_error(error), FAILED)
    except SystemExit as leave:  # a closed pipe, seen by click or rich
        _close_standard_output()
        return leave.code if isinstance(leave.code, int) else FAILED
    return code if isinstance(code, int) else DONE


def _fail(text: str, code: int) -> int:
    """Say in one line what was wrong."""
    click.echo(f"error: {' '.join(text.split())}", err=True)
    return code


def _os_error(error: OSError) -> str:
    if isinstance(error, BrokenPipeError):
        return "standard output was closed before all was written"
    return f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")


def _close_standard_output() -> None:
    """Let what is still to be written to a broken standard output go nowhere, so that leaving raises nothing."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {' '.join(str(message).split())}", err=True)
