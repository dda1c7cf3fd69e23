"""HTML as elements that escape what is put into them, and tables that scroll and sort by themselves."""

import html
import importlib.resources
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


class Html(str):
    """Text that is HTML already; all other text is escaped where it is put in."""


Cell = str | tuple[str, float | None]  # what is shown, and what it is sorted by

_VOID = {"meta"}
_CLOSE_TOGETHER = {
    "a",
    "caption",
    "figcaption",
    "code",
    "span",
    "th",
    "td",
    "li",
    "p",
    "h1",
    "h2",
    "h3",
    "title",
    "desc",
    "rect",
    "line",
    "pre",
}


def e(name: str, /, *content: str, **attributes: Any) -> Html:
    """An element; in names of attributes _ stands for -, and one at the end is dropped."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{named}>")
    between = "" if name in _CLOSE_TOGETHER or not content else "\n"
    return Html(f"<{name}{named}>{between}{between.join(map(escaped, content))}{between}</{name}>")


def escaped(text: str) -> str:
    """Text as HTML."""
    return text if isinstance(text, Html) else html.escape(text)


def join(*content: str) -> Html:
    """Several pieces as one."""
    return Html("".join(map(escaped, content)))


def pair(*content: Html) -> Html:
    """Pieces that stand side by side where there is room."""
    return e("div", *content, class_="pair")


@dataclass(frozen=True)
class Column:
    """The head of a column of a table, and how its cells look and sort."""

    head: str
    left: bool = False
    wrap: bool = False
    first: str = "descending"  # the order of the first click

    @property
    def look(self) -> str | None:
        return " ".join(["left"] * self.left + ["wrap"] * self.wrap) or None


def table(
    caption: str,
    columns: Sequence[Column],
    groups: "Iterable[Iterable[Sequence[Cell]]]",
    sorted_by: int | None = None,
) -> Html:
    """A table in a box that scrolls by itself; with the column that it is sorted by, it can be sorted anew."""
    name = f"table-{_slug(caption)}"
    heads = [
        e(
            "th",
            column.head,
            scope="col",
            class_=column.look,
            data_first=None if sorted_by is None else column.first,
            aria_sort="descending" if place == sorted_by else None,
        )
        for place, column in enumerate(columns)
    ]
    bodies = [e("tbody", *(e("tr", *_row(columns, row)) for row in group)) for group in groups]
    whole = e(
        "table",
        e("caption", e("span", caption), id=name),
        e("thead", e("tr", *heads)),
        *bodies,
        class_=None if sorted_by is None else "sortable",
    )
    return e("div", whole, class_="scroll", role="region", aria_labelledby=name, tabindex=0)


def _row(columns: Sequence[Column], row: "Sequence[Cell]") -> Iterator[Html]:
    for place, (column, cell) in enumerate(zip(columns, row, strict=True)):
        text, value = (cell, None) if isinstance(cell, str) else (cell[0], "" if cell[1] is None else repr(cell[1]))
        attributes = {"class_": column.look, "data_value": value}
        yield e("th", text, scope="row", **attributes) if place == 0 else e("td", text, **attributes)


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())[:8])


def file_text(name: str) -> Html:
    """A file of ours that is put into the page as it is."""
    return Html((importlib.resources.files("splendor_sim") / "data" / name).read_text(encoding="utf-8").strip())
