"""Plots as SVG: those of a report, which take the colours of its page, and that of a sweep. The home of matplotlib."""

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from splendor_sim.markup import Html, e, join

if TYPE_CHECKING:
    from splendor_sim.sweep import Sweep


class ReportError(ValueError):
    """A report that cannot be made: of a result without balance statistics, or without the library for plots."""


def require_plots() -> None:
    """Raise ReportError unless the library that draws the plots is there."""
    try:
        import matplotlib.backends.backend_svg  # noqa: F401
    except ImportError as error:
        raise ReportError("a report needs matplotlib: pip install 'splendor-sim[report]'") from error


# --- Plots -----------------------------------------------------------------------------------------------------------

# What a plot is drawn in stands for a colour of the style sheet, so that plots are light and dark as the page is.
INK, SOFT, LINE = "#0f0f01", "#0f0f02", "#0f0f03"
MARK, MARK_2, MARK_3, MARK_4 = "#0f0f04", "#0f0f05", "#0f0f06", "#0f0f07"
FILL = "#0f0f08"
_VARIABLES = {
    INK: "ink",
    SOFT: "soft",
    LINE: "line",
    MARK: "mark",
    MARK_2: "mark-2",
    MARK_3: "mark-3",
    MARK_4: "mark-4",
    FILL: "fill",
}

_STYLE = {
    "svg.hashsalt": "splendor_sim",  # else ids are drawn at random
    "svg.fonttype": "none",  # text stays text, in the fonts of the reader
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so that places do not depend on the machine
    "text.parse_math": False,  # a dollar in the name of an agent is a dollar
    "font.size": 12.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "legend.handlelength": 1.2,
    "legend.columnspacing": 1.0,
}
_WIDTH = 5.83  # inches, 420 points: small enough for letters to be read on a phone


def plot(
    name: str, title: str, description: str, caption: str, draw: Callable[[Any], None], height: float = 3.0
) -> "Html":
    """A figure of what `draw` puts into axes, with a title and a description for those who do not see it."""
    import matplotlib.style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    out = io.StringIO()
    with matplotlib.style.context(["default", _STYLE]):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(figure.add_subplot())
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        canvas: Any = FigureCanvasSVG(figure)  # straight to the file: `savefig` would draw everything twice
        canvas.print_svg(out, metadata=nothing)
    svg = _inline(out.getvalue(), name, title, description)
    return e("figure", e("h3", title), svg, e("figcaption", caption))


def _inline(svg: str, name: str, title: str, description: str) -> "Html":
    """A file of matplotlib as an element of the page: its own ids, the page's colours and fonts."""
    inner = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inner = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", inner, flags=re.DOTALL)
    inner = inner.replace("xlink:href", "href").replace("'DejaVu Sans'", "system-ui, sans-serif")
    for colour, variable in _VARIABLES.items():
        inner = inner.replace(colour, f"var(--{variable})")
    used = {*re.findall(r'href="#([^"]+)"', inner), *re.findall(r"url\(#([^)]+)\)", inner)}
    inner = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", inner)
    inner = re.sub(r'href="#|url\(#', lambda found: f"{found[0]}{name}-", inner)
    inner = re.sub(r"\s*\n\s*", "\n", inner)
    box = re.search(r'viewBox="([^"]+)"', svg)
    assert box is not None
    told = join(e("title", title, id=f"{name}-title"), e("desc", description, id=f"{name}-text"))
    named = {"aria_labelledby": f"{name}-title", "aria_describedby": f"{name}-text"}
    return e("svg", told, Html(inner), viewBox=box[1], role="img", **named)


def whole_ticks(axis: Any) -> None:
    """Mark whole numbers on an axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=8))


# --- The plot of a sweep ---------------------------------------------------------------------------------------------


def sweep_plot(sweep: "Sweep") -> str:
    """Return the text of an SVG file: how each cell differs from the baseline, with intervals; one panel an outcome.

    Raises ReportError where matplotlib is missing.
    """
    require_plots()
    import matplotlib.style
    from matplotlib.figure import Figure

    panels = [outcome for outcome in sweep.outcomes if outcome.name not in _NOT_DRAWN]
    labels = [cell.label for cell in sweep.cells]
    places = range(len(labels))
    look = {"svg.hashsalt": "splendor_sim", "font.family": ["DejaVu Sans"], "font.size": 9.0, "axes.axisbelow": True}
    out = io.StringIO()
    with matplotlib.style.context(["default", look]):
        size = (1.8 + 2.3 * len(panels), 1.2 + 0.3 * len(labels))
        figure = Figure(figsize=size, layout="constrained")
        figure.suptitle(sweep.heading(), x=0.01, ha="left", fontsize=9.0)
        for axes, outcome in zip(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True):
            scale = 100 if outcome.is_rate else 1
            axes.axvline(0, color="#888888", linewidth=0.8)
            for place, cell in zip(places, sweep.cells, strict=True):
                found = None if cell.differences is None else cell.differences[outcome.name]
                if found is None:
                    continue
                if found.low is not None and found.high is not None:
                    axes.plot([scale * found.low, scale * found.high], [place, place], color="#1f5fa8", linewidth=1.6)
                axes.plot([scale * found.value], [place], "o", color="#1f5fa8", markersize=4)
            axes.set_title(outcome.name.replace("_", " "), fontsize=9.0)
            axes.set_xlabel("difference" + ", percentage points" * outcome.is_rate)
            axes.set_yticks(places, labels)
            axes.set_ylim(len(labels) - 0.5, -0.5)
            axes.grid(axis="x", color="#dddddd")
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return out.getvalue()


_NOT_DRAWN = ("rounds", "truncated")
