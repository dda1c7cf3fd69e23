"""`splendor-sim bench`."""

import sys

import click

from splendor_sim.cli.shared import json_option, note, print_json, print_tables, quiet_option


@click.command("bench", short_help="Measure the speed on this machine.")
@click.option("--quick", is_flag=True, help="Rough figures in a few seconds.")
@json_option
@quiet_option
def command(quick: bool, as_json: bool, quiet: bool) -> None:
    """Measure the speed on this machine: whole games, and functions on arrays of states.

    The fingerprint is a hash of fixed games: equal fingerprints mean that the same games were played.

    \b
    Example:
        splendor-sim bench --quick
    """
    from splendor_sim.bench import measure, tables

    found = measure(quick, lambda text: note(text, quiet or not sys.stderr.isatty()))
    if as_json:
        print_json(found)
        return
    about = found["machine"]
    heading = (
        f"{about['cpu']}, {about['processors']} processors, {about['system']}\n"
        f"splendor-sim {about['splendor_sim']}, Python {about['python']}, Numba {about['numba']}, "
        f"NumPy {about['numpy']}"
    )
    print_tables(heading, tables(found), f"fingerprint {found['fingerprint']}")
