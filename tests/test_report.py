"""The report: one HTML file that needs nothing else, says what the result says, and is the same for the same games."""

import itertools
import re
import shlex
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import pytest

import splendor_sim as ss
from splendor_sim.cli import main
from splendor_sim.report import ReportError, page

VOID = {"meta"}  # elements that are never closed
AGENTS = ["greedy", "random", "greedy"]


@cache
def result(games: int = 3000, **how: object) -> ss.Result:
    return ss.simulate(games, 3, AGENTS, seed=5, statistics="full", **how)


@pytest.fixture(scope="module")
def text() -> str:
    return page(result(), "splendor-sim report --games 3000")


@pytest.fixture
def run(capsys):
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


class Element:
    """An element of a page: its name, attributes, elements inside, and text with that of those."""

    def __init__(self, name: str, attributes: "list[tuple[str, str | None]]") -> None:
        self.name, self.attributes, self.inside, self.text = name, dict(attributes), [], ""
        assert len(self.attributes) == len(attributes), f"{name} has an attribute twice"

    def find(self, *names: str) -> "list[Element]":
        """All elements with one of these names in it, in their order."""
        found = []
        for child in self.inside:
            found += [child] * (child.name in names) + child.find(*names)
        return found

    def every(self) -> "list[Element]":
        return [self] + [element for child in self.inside for element in child.every()]


class Parser(HTMLParser):
    """Reads a page, and insists that what is opened is closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", [])
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: "list[tuple[str, str | None]]") -> None:
        element = Element(tag, attrs)
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: "list[tuple[str, str | None]]") -> None:
        assert any(element.name == "svg" for element in self.open), f"<{tag}/> outside of a drawing"
        self.open[-1].inside.append(Element(tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def read(text: str) -> Element:
    parser = Parser()
    parser.feed(text)
    parser.close()
    assert parser.open == [parser.root]
    return parser.root


def tables(root: Element) -> dict[str, Element]:
    found = {table.find("caption")[0].text: table for table in root.find("table")}
    assert len(found) == len(root.find("table"))
    return found


def rows(table: Element) -> list[list[Element]]:
    return [row.inside for body in table.find("tbody") for row in body.find("tr")]


# ---------------------------------------------------------------------------------------------------------- the page


def test_the_page_is_well_formed_and_has_the_parts_of_a_page(text):
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    root = read(text)
    for name in ("head", "body", "title", "main", "nav", "h1", "style", "script"):
        assert len(root.find(name)) >= 1, name
    assert len(root.find("h1")) == 1
    assert root.find("h1")[0].text == "Splendor: 3,000 games of 3 seats"
    sections = [section.attributes["id"] for section in root.find("section")]
    wanted = "seats agents length prestige cards nobles colours decisions endings again reading"
    assert sections == wanted.split()
    assert [link.attributes["href"] for link in root.find("nav")[0].find("a")] == [f"#{name}" for name in sections]


def test_the_page_needs_nothing_from_outside(text):
    assert not re.search(r"https?:|//\w|@import|<link|<img|<iframe|<base|\bsrc=", text)
    assert all(found.startswith("#") for found in re.findall(r"url\(([^)]*)\)", text))
    for element in read(text).every():
        assert element.attributes.get("href", "#").startswith("#")
        assert "src" not in element.attributes


def test_ids_are_there_once_and_all_that_is_referred_to_is_there(text):
    elements = read(text).every()
    ids = [element.attributes["id"] for element in elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in elements:
        targets = [element.attributes.get(name) for name in ("aria-labelledby", "aria-describedby")]
        targets += [element.attributes["href"][1:]] if "href" in element.attributes else []
        assert {target for target in targets if target} <= set(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(ids)


def test_every_table_scrolls_by_itself_and_has_a_caption_and_heads_with_a_scope(text):
    root = read(text)
    for box in (element for element in root.every() if any(child.name == "table" for child in element.inside)):
        assert box.attributes["class"] == "scroll" and box.attributes["tabindex"] == "0"
    for caption, table in tables(root).items():
        heads = table.find("thead")[0].find("th")
        assert {head.attributes["scope"] for head in heads} == {"col"}, caption
        assert all(head.text for head in heads), caption
        for row in rows(table):
            assert [cell.name for cell in row] == ["th", *["td"] * (len(heads) - 1)], caption
            assert row[0].attributes["scope"] == "row"


def test_every_drawing_has_a_title_and_a_description_or_stands_beside_its_figures(text):
    drawings = read(text).find("svg")
    plots = [drawing for drawing in drawings if drawing.attributes.get("aria-hidden") != "true"]
    assert len(plots) == 7
    for plot in plots:
        assert plot.attributes["role"] == "img"
        assert [child.name for child in plot.inside[:2]] == ["title", "desc"]
        assert all(child.text for child in plot.inside[:2])
    assert len(drawings) - len(plots) == sum(
        row.lift is not None for row in (*result().balance.cards, *result().balance.nobles)
    )


def test_text_is_escaped_wherever_it_comes_from():
    names = ("<script>alert(1)</script>", "a&b$c$", '"x"')
    odd = replace(result(), agents=names, rules={"<b>": "</style>"})
    root = read(page(odd, "splendor-sim <i>"))
    assert len(root.find("script")) == len(root.find("style")) == 1
    assert not root.find("b", "i")
    assert root.find("code")[0].text == "splendor-sim <i>"
    shown = [row[0].text for row in rows(tables(root)["Share of wins by agent"])]
    assert shown == [f"{number}: {name}" for number, name in enumerate(names)]


def test_the_same_games_make_the_same_bytes_whatever_the_threads(text):
    assert page(result(threads=1), "splendor-sim report --games 3000") == text
    assert "thread" not in text.replace("any number of threads", "")


def test_making_a_page_changes_no_setting_of_matplotlib():
    before = dict(matplotlib.rcParams)
    page(result())
    assert dict(matplotlib.rcParams) == before


# --------------------------------------------------------------------------------------------------------- its figures


def test_there_are_ninety_cards_and_ten_nobles_sorted_by_lift(text):
    found = tables(read(text))
    for caption, what, number in (
        ("The 90 cards", result().balance.cards, 90),
        ("The 10 nobles", result().balance.nobles, 10),
    ):
        table = found[caption]
        assert table.attributes["class"] == "sortable"
        heads = [head.text for head in table.find("thead")[0].find("th")]
        at = {head: [row[place].attributes["data-value"] for row in rows(table)] for place, head in enumerate(heads)}
        assert sorted(map(int, at["id"])) == list(range(number))
        lifts = {int(card): lift for card, lift in zip(at["id"], at["lift, points"])}
        for row in what:
            card = getattr(row, "card", None) if number == 90 else row.noble
            assert lifts[card] == ("" if row.lift is None else repr(row.lift.value))
        sorted_heads = [head.text for head in table.find("thead")[0].find("th") if "aria-sort" in head.attributes]
        assert sorted_heads == ["lift, points"]
        there = [float(lift) for lift in at["lift, points"] if lift]
        assert there == sorted(there, reverse=True)


def test_every_cell_that_may_be_sorted_by_has_a_number_or_nothing(text):
    for table in read(text).find("table"):
        for row in rows(table):
            values = [cell.attributes.get("data-value") for cell in row]
            if table.attributes.get("class") == "sortable":
                assert all(value == "" or float(value) == float(value) for value in values)
            else:
                assert set(values) == {None}


def test_a_card_shows_its_lift_its_interval_and_whether_it_differs(text):
    by_id = {row[1].text: row for row in rows(tables(read(text))["The 90 cards"])}
    for card in result().balance.cards:
        cells = by_id[str(card.card)]
        assert cells[0].text.split() == [
            card.bonus,
            *(f"{colour}{number}" for colour, number in zip("wugrk", card.cost, strict=True) if number),
        ]
        assert [cells[2].text, cells[3].text] == [str(card.level), str(card.prestige)]
        if card.lift is None:
            assert cells[4].text == "–"
            continue
        value, low, high = (float(part.replace("−", "-")) for part in re.findall(r"[+−][\d.]+", cells[4].text))
        assert low <= value <= high and abs(value - 100 * card.lift.value) < 0.006
        told = ("▲ more" if card.lift.value > 0 else "▼ less") if card.lift.differs else "no"
        assert cells[6].text == told


def test_the_page_says_what_was_played_and_how_to_repeat_it(text):
    root = read(text)
    assert root.find("code")[0].text == "splendor-sim report --games 3000"
    call = root.find("code")[1].text
    assert eval(call, {"splendor_sim": ss}) == result()
    options = {row[0].text: row[1].text for row in rows(tables(root)["Every option of the rules"])}
    assert options.keys() == result().rule_options.keys()
    played = {row[0].text: row[1].text for row in rows(tables(root)["What was played"])}
    assert (played["seed"], played["games"], played["agent 1"]) == ("5", "3000", "random")
    assert f"splendor_sim {ss.__version__}" in root.text
    assert "Holm" in root.find("section")[-1].text


def test_shares_and_tests_are_those_of_the_result(text):
    found = tables(read(text))
    for caption, scores in (("Share of wins by seat", result().by_seat), ("Share of wins by agent", result().by_agent)):
        for row, score in zip(rows(found[caption]), scores, strict=True):
            value, low, high = map(float, re.findall(r"[\d.]+", row[4].text))
            assert abs(value - 100 * score.win_share.value) < 0.006
            assert abs(low - 100 * score.win_share.low) < 0.006
            assert abs(high - 100 * score.win_share.high) < 0.006
    effect = result().balance.seat_effect
    test = rows(found["Test that all seats win alike"])[0]
    assert [test[1].text, test[2].text] == [f"{effect.statistic:,.2f}", str(effect.degrees)]


@pytest.mark.parametrize(
    "how",
    [
        {"games": 1},
        {"games": 3, "max_turns": 1},
        {"games": 20, "rotate": False, "agents": ["greedy", "random"]},
        {"games": 20, "players": 4, "rules": {"target_prestige": 1, "end": "immediate", "gold_tokens": [0, 0, 0]}},
    ],
)
def test_the_report_of_odd_runs_has_all_its_parts(how):
    found = page(ss.simulate(seed=7, statistics="full", **how))
    root = read(found)
    assert len(root.find("section")) == 11 and len(rows(tables(root)["The 90 cards"])) == 90
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"<(style|script).*?</\1>", "", found, flags=re.DOTALL))


# ------------------------------------------------------------------------------------------------------------ its looks


def colours(style: str) -> list[dict[str, str]]:
    """The variables of the light and of the dark page."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in re.findall(r":root {(.*?)}", style, re.DOTALL)
    )
    return [light, {**light, **dark}]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_that_is_used_is_defined_light_and_dark_and_can_be_read(text):
    style = read(text).find("style")[0].text
    used = set(re.findall(r"var\(--([\w-]+)\)", text))
    for scheme in colours(style):
        assert used <= scheme.keys()
        for name, ground in itertools.product(("ink", "soft", "mark", "mark-2", "mark-3"), ("page", "panel")):
            assert contrast(scheme[name], scheme[ground]) >= 4.5, (name, ground)
    gems = re.findall(r"^\.([wugrkj]) { background: (#\w+); color: (#\w+); }$", style, re.MULTILINE)
    assert [letter for letter, _, _ in gems] == [*"wugrkj"]
    assert all(contrast(ground, letter) >= 4.5 for _, ground, letter in gems)


def test_the_page_is_made_for_phones_paper_and_the_dark(text):
    root = read(text)
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in [
        meta.attributes for meta in root.find("meta")
    ]
    style = root.find("style")[0].text
    for query in ("@media print", "prefers-color-scheme: dark", "max-width: 40rem"):
        assert query in style
    assert re.search(r"^\.scroll {.*overflow-x: auto", style, re.MULTILINE)


# ---------------------------------------------------------------------------------------------------------- the program


def test_the_program_writes_the_page_and_says_how_to_do_it_again(run, tmp_path):
    out = tmp_path / "page.html"
    out.write_text("old")
    code, said, err = run("report", "-n", 200, "-s", 3, "--rule", "target_prestige=18", "--out", out, "--quiet")
    assert (code, err) == (0, "")
    again = said.partition("again: ")[2].splitlines()[0]
    assert str(out) in said and "200 games of 2 seats" in said
    first = out.read_text(encoding="utf-8")
    assert read(first).find("code")[0].text == again
    assert run(*shlex.split(again)[1:], "--out", tmp_path / "again.html")[0] == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.html", "page.html"]


def test_run_writes_the_same_page_beside_what_it_prints(run, tmp_path):
    code, said, _ = run("run", "-n", 200, "-s", 3, "--report", tmp_path / "run.html")
    assert code == 0 and "Wins" in said
    assert run("report", "-n", 200, "-s", 3, "--out", tmp_path / "report.html")[0] == 0
    assert (tmp_path / "run.html").read_bytes() == (tmp_path / "report.html").read_bytes()


def test_a_report_that_nobody_named_replaces_nothing(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("report", "-n", 10)[0] == 0
    written = Path("report.html").read_text(encoding="utf-8")
    code, said, err = run("report", "-n", 10**12)
    assert (code, said) == (1, "")
    assert err == "error: report.html is there already; --out report.html replaces it\n"
    assert Path("report.html").read_text(encoding="utf-8") == written


def test_a_report_that_could_not_be_written_is_refused_before_the_games(run, tmp_path):
    for command in (["report", "--out"], ["run", "--report"]):
        code, said, err = run(*command, tmp_path / "missing" / "page.html", "--games", 10**12)
        assert (code, said) == (1, "")
        assert err.startswith("error: ") and "cannot be written" in err and err.count("\n") == 1


def test_a_missing_matplotlib_is_told_before_the_games(run, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for command in (["report", "--out"], ["run", "--report"]):
        code, said, err = run(*command, tmp_path / "page.html", "--games", 10**12)
        assert (code, said) == (1, "")
        assert err == "error: a report needs matplotlib: pip install 'splendor-sim[report]'\n"
    with pytest.raises(ReportError, match="pip install"):
        page(result())


def test_a_result_without_balance_statistics_is_refused():
    with pytest.raises(ReportError, match="statistics \"full\", not 'summary'"):
        page(ss.simulate(10, seed=1))
