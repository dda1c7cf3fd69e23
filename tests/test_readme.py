"""What README shows is what the program prints."""

import contextlib
import io
import re
from pathlib import Path

import splendor_sim as ss

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def indented(text):
    return "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))


def test_python_of_the_readme_prints_what_the_readme_says():
    code, printed = README.split("## In Python")[1].split("\n- ")[0].split("prints\n")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(indented(code), {})
    assert out.getvalue().strip() == indented(printed).strip()


def test_table_of_the_readme_is_that_of_a_million_games():
    shown = re.search(r"\n\n(    1,000,000 games.*?)\n\n[^ ]", README, re.S)
    assert shown
    text = " ".join(shown[1].split())
    result = ss.simulate(1_000_000, players=2, seed=1)
    assert text.startswith(" ".join(result.heading().split()))
    for table in result.tables():
        for row in [table.columns, *(row for group in table.groups for row in group)]:
            assert " ".join(" ".join(row).split()) in text
