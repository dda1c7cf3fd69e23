"""`splendor-sim bench`."""

import sys

import click

from splendor_sim.cli.shared import json_option, note, print_json, print_tables, quiet_option


@click.command("bench", short_help="Measure the speed on this machine.")
@click.option("--quick", is_flag=True, help="Rough figures in a few seconds.")
@click.option("--search", is_flag=True, help="Measure tree search too; the first time it is compiled for it.")
@json_option
@quiet_option
def command(quick: bool, search: bool, as_json: bool, quiet: bool) -> None:
    """Measure the speed on this machine: whole games, functions on arrays of states, and tree search.

    The fingerprint is a hash of fixed games: equal fingerprints mean that the same games were played.

    \b
    Example:
        splendor-sim bench --quick --search
    """
    from splendor_sim.bench import measure, tables

    found = measure(quick, lambda text: note(text, quiet or not sys.stderr.isatty()), search)
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
