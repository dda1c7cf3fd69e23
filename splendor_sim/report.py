"""The report: what a run found, as one HTML file that needs nothing else, with plots, tables and how to repeat it.

The page depends on the result alone, byte for byte: it holds no date, no timing and nothing of the threads.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from splendor_sim.markup import Cell, Column, Html, e, file_text, join, pair, table
from splendor_sim.plots import FILL, INK, MARK, MARK_2, MARK_3, MARK_4, ReportError, plot, require_plots, whole_ticks
from splendor_sim.statistics import CONFIDENCE, QUANTILES, ChiSquare, Distribution, Lift, Mean, Share

if TYPE_CHECKING:
    from splendor_sim.balance import Balance, CardRow, NobleRow, Standing
    from splendor_sim.result import Result, Score

_COLOURS = {"w": "white", "u": "blue", "g": "green", "r": "red", "k": "black", "j": "gold"}


def page(result: "Result", again: str | None = None) -> str:
    """Return the report of a result of statistics "full" as the text of an HTML file.

    again: the command that plays the same games, shown beside the call that does so in Python.
    Raises ReportError for a result without balance statistics, and where matplotlib is missing.
    """
    if result.balance is None:
        raise ReportError(f'a report needs a result of statistics "full", not {result.statistics!r}')
    require_plots()
    sections = _sections(result, result.balance, again)
    title = f"Splendor: {_heading(result)}"
    links = (e("li", e("a", section.title, href=f"#{section.name}")) for section in sections)
    head = e(
        "head",
        e("meta", charset="utf-8"),
        e("meta", name="viewport", content="width=device-width, initial-scale=1"),
        e("meta", name="color-scheme", content="light dark"),
        e("title", title),
        e("style", file_text("report.css")),
    )
    main = e("main", e("h1", title), _summary(result, result.balance), *map(_shown, sections))
    body = e("body", e("nav", e("ul", *links), aria_label="Sections"), main, e("script", file_text("report.js")))
    return f"<!DOCTYPE html>\n{e('html', head, body, lang='en')}\n"


@dataclass(frozen=True)
class _Section:
    name: str
    title: str
    content: "tuple[Html, ...]"


def _sections(result: "Result", balance: "Balance", again: str | None) -> list[_Section]:
    found = [
        _Section("seats", "Seats", _seats(result, balance)),
        _Section("agents", "Agents", _agents(result, balance)),
        _Section("length", "Length of games", _length(result, balance)),
        _Section("prestige", "Prestige", _prestige(result, balance)),
        _Section("cards", "Cards", _cards(balance)),
        _Section("nobles", "Nobles", _nobles(balance)),
        _Section("colours", "Colours", _colours(result, balance)),
        _Section("decisions", "Decisions", _decisions(balance)),
        _Section("endings", "Endings", _endings(result)),
        _Section("again", "To repeat it", _again(result, again)),
        _Section("reading", "How to read the figures", _reading()),
    ]
    return found


def _shown(section: _Section) -> "Html":
    heading = f"{section.name}-heading"
    return e("section", e("h2", section.title, id=heading), *section.content, id=section.name, aria_labelledby=heading)


# --- What is said ----------------------------------------------------------------------------------------------------


def _heading(result: "Result") -> str:
    return f"{_number(result.games, 'game')} of {result.players} seats"


def _summary(result: "Result", balance: "Balance") -> "Html":
    seated = "change seats from game to game" if result.rotate else "keep their seats"
    played = (
        f"Played by {_listed(result.agents)}, who {seated}, by {_rules_name(result)}, from seed {result.seed}. "
        f"Intervals are of 95 %."
    )
    rounds, turns = dict(result.rounds.quantiles), dict(result.turns.quantiles)
    points = [
        _seat_point(result, balance),
        f"The median game takes {_number(rounds[50], 'round')}, which is {_number(turns[50], 'turn')} of all seats "
        f"together; half of the games take {rounds[25]} to {_number(rounds[75], 'round')}.",
        _card_point(balance),
        f"{_part(result.deadlocked, result.games)} of the games are deadlocked, "
        f"{_part(result.truncated, result.games)} are truncated after {_number(result.max_turns, 'turn')}.",
    ]
    points = [point.replace(" %", "\N{NO-BREAK SPACE}%") for point in points]
    found = e("div", e("ul", *(e("li", point) for point in points)), class_="found")
    return join(e("p", played, class_="soft"), found)


def _seat_point(result: "Result", balance: "Balance") -> str:
    first = balance.seats[0].win_share
    began = f"Seat 0, which begins, wins {_interval_of(first)} of its games"
    equal = f"equal seats would win {100 / result.players:.4g} % each"
    if not result.rotate and len(set(result.agents)) > 1:
        return f"{began}, and is always agent 0; {equal}."
    return f"{began}; {equal}. {_verdict(balance.seat_effect, 'seats')}"


def _verdict(test: ChiSquare | None, things: str) -> str:
    if test is None:
        return f"Nobody won, so there is no test of whether the {things} differ."
    told = f"chi-square {test.statistic:,.2f}, {_test(test)}"
    if test.p < 1 - CONFIDENCE:
        return f"The {things} differ by more than chance ({told})."
    return f"A difference between the {things} is not shown: chance alone would do ({told})."


def _card_point(balance: "Balance") -> str:
    lifts = [row.lift for row in balance.cards if row.lift is not None]
    more = sum(lift.differs and lift.value > 0 for lift in lifts)
    less = sum(lift.differs and lift.value < 0 for lift in lifts)
    return (
        f"Of the {len(balance.cards)} cards, {more} go with more wins than expected for who buys them and {less} with "
        f"fewer, by more than chance after the correction for many comparisons."
    )


# --- The sections ----------------------------------------------------------------------------------------------------


def _seats(result: "Result", balance: "Balance") -> "tuple[Html, ...]":
    names = [f"seat {seat}" for seat in range(result.players)]
    shown = [name + ", begins" * (seat == 0) for seat, name in enumerate(names)]
    text = _verdict(balance.seat_effect, "seats")
    if not result.rotate:
        text += " Agents kept their seats, so a difference of seats is one of agents too."
    rows = zip(shown, result.by_seat, balance.seats, strict=True)
    plot = _shares_plot("seats-plot", "Share of wins by seat", names, balance.seats, result.players)
    return (
        e("p", text),
        pair(plot, _wins_table("Share of wins by seat", "seat", rows)),
        _test_table("seats", balance.seat_effect),
        _standing_table("What a seat has and does by the end of a game", "seat", zip(shown, balance.seats)),
    )


def _agents(result: "Result", balance: "Balance") -> "tuple[Html, ...]":
    every = range(result.players)
    names = [f"{agent}: {result.agents[agent]}" for agent in every]
    short = [name if len(name) <= 18 else f"{name[:17]}…" for name in names]
    rows = zip(names, result.by_agent, balance.agents, strict=True)
    text = _verdict(balance.agent_effect, "agents")
    plot = _shares_plot("agents-plot", "Share of wins by agent", short, balance.agents, result.players)
    content = [
        e("p", text),
        pair(plot, _wins_table("Share of wins by agent", "agent", rows)),
        _test_table("agents", balance.agent_effect),
        _standing_table("What an agent has and does by the end of a game", "agent", zip(names, balance.agents)),
    ]
    if result.rotate and len(set(result.agents)) > 1:
        columns = [Column("agent", left=True), *(Column(f"at seat {seat}") for seat in every)]
        shares = [
            [name, *(_interval_of(score.win_share) for score in scores)]
            for name, scores in zip(names, result.by_agent_and_seat, strict=True)
        ]
        content.append(table("Share of wins of each agent in each seat", columns, [shares]))
    return tuple(content)


def _length(result: "Result", balance: "Balance") -> "tuple[Html, ...]":
    games = balance.games_by_rounds
    first = next((rounds for rounds, number in enumerate(games) if number), 0)
    last = max((rounds for rounds, number in enumerate(games) if number), default=0)

    def draw(axes: Any) -> None:
        rounds = range(first, last + 1)
        axes.bar(rounds, [100 * games[r] / result.games for r in rounds], width=0.86, color=FILL)
        for percent, value in result.rounds.quantiles:
            if percent in (5, 50, 95):
                axes.axvline(value, color=MARK, linewidth=1.6, linestyle="-" if percent == 50 else (0, (3, 2)))
        axes.set_xlabel("rounds")
        axes.set_ylabel("% of games")
        axes.set_xlim(first - 1, last + 1)
        whole_ticks(axes.xaxis)

    rounds_at = dict(result.rounds.quantiles)
    drawn = plot(
        "length-plot",
        "Games by their number of rounds",
        f"From {result.rounds.min} to {result.rounds.max} rounds, with the median at {rounds_at[50]}.",
        "Line: the median. Dashes: 5 and 95 % of the games are no longer than this.",
        draw,
    )
    columns = [Column("length", left=True), Column("turns"), Column("rounds")]
    names = ["mean", "standard deviation", "shortest", *(f"{percent} % at most" for percent in QUANTILES), "longest"]
    spreads = zip(names, *(_spread(lengths, result.games) for lengths in (result.turns, result.rounds)), strict=True)
    spread = table("Turns and rounds of a game", columns, [[[*row] for row in spreads]])
    return (pair(drawn, spread),)


def _spread(lengths: Distribution, games: int) -> list[str]:
    spread = "–" if lengths.sd is None else f"{lengths.sd:.2f}"
    values = (lengths.min, *(value for _, value in lengths.quantiles), lengths.max)
    return [_mean(_mean_of(lengths, games)), spread, *(f"{value:,}" for value in values)]


def _mean_of(lengths: Distribution, games: int) -> Mean:
    """The mean of a distribution with its interval, for as many games."""
    if lengths.mean is None or lengths.sd is None:
        return Mean(lengths.mean, None, None, None)
    from scipy.special import stdtrit

    reach = float(stdtrit(games - 1, (1 + CONFIDENCE) / 2)) * lengths.sd / games**0.5
    return Mean(lengths.mean, lengths.sd, lengths.mean - reach, lengths.mean + reach)


def _prestige(result: "Result", balance: "Balance") -> "tuple[Html, ...]":
    return (pair(_prestige_plot(result, balance), _sources(balance)),)


def _prestige_plot(result: "Result", balance: "Balance") -> "Html":
    means = balance.prestige_by_round
    # Behind the round in which nearly all games have ended, nothing changes any more.
    end = min(len(means) - 1, -(-dict(result.rounds.quantiles)[95] * 5 // 4))
    target = result.rule_options["target_prestige"]

    def draw(axes: Any) -> None:
        axes.axhline(target, color=MARK_2, linewidth=1.4, linestyle=(0, (4, 2)))
        axes.annotate(f"target {target}", (0, target), (2, 3), textcoords="offset points", color=MARK_2)
        axes.plot(range(end + 1), means[: end + 1], color=MARK, linewidth=2)
        axes.set_xlabel("rounds played")
        axes.set_ylabel("mean prestige of a seat")
        axes.set_xlim(0, max(end, 1))
        axes.set_ylim(0, 1.15 * max(target, *means))
        whole_ticks(axes.xaxis)

    return plot(
        "prestige-plot",
        "Prestige over the rounds",
        f"The mean prestige of a seat rises from {means[0]:.2f} to {means[end]:.2f} after {end} rounds.",
        "A seat of a game that has ended keeps the prestige that it had.",
        draw,
    )


def _sources(balance: "Balance") -> "Html":
    found = balance.winner_prestige
    parts = {
        "cards of level 1": (found.level_1, MARK_3),
        "cards of level 2": (found.level_2, MARK_2),
        "cards of level 3": (found.level_3, MARK),
        "nobles": (found.nobles, MARK_4),
    }

    def draw(axes: Any) -> None:
        for place, (name, (share, colour)) in enumerate(parts.items()):
            value = 100 * (share or 0)
            axes.barh(place, value, height=0.66, color=colour)
            axes.annotate(f"{value:.1f} %", (value, place), (4, 0), textcoords="offset points", va="center")
            axes.annotate(name, (0, place), (-6, 0), textcoords="offset points", va="center", ha="right")
        axes.set_yticks([])
        axes.set_ylim(3.6, -0.6)
        axes.set_xlim(0, 1.2 * max(1, *(100 * (share or 0) for share, _ in parts.values())))
        axes.set_xlabel("% of the winner's prestige")
        axes.grid(False)

    told = [f"{name} {_percent(share)}" for name, (share, _) in parts.items()]
    mean = "Nobody won." if found.mean is None else f"A winner has {found.mean:.2f} prestige on average."
    return plot("sources-plot", "Where a winner's prestige comes from", _listed(told) + ".", mean, draw, height=2.2)


def _cards(balance: "Balance") -> "tuple[Html, ...]":
    text = (
        "The lift of a card is the share of wins of who bought it less what the same agents in the same seats win "
        "anyway, in percentage points. It shows what goes together, not what causes what: who buys many cards is ahead "
        "already, so expensive cards stand high. The column “over its level” sets that apart: it compares with "
        "what the same agents in the same seats win with the cards of that level that they buy. A card is shown by the "
        "colour of its bonus and by its cost. “Differs” is after the correction for many comparisons."
    )
    columns = [
        Column("card", left=True, first="ascending"),
        Column("id", first="ascending"),
        Column("level", first="ascending"),
        Column("prestige"),
        *_LIFT_COLUMNS,
        Column("over its level"),
        Column("came up, games"),
        Column("of these reserved open"),
        Column("reserved blind"),
        Column("bought"),
        Column("in round"),
    ]
    reach = _reach(row.lift for row in balance.cards)
    rows = sorted(balance.cards, key=lambda row: (-(row.lift.value if row.lift else -2), row.card))
    caption = "The 90 cards"
    cells = [_card_cells(row, reach) for row in rows]
    return (e("p", text), table(caption, columns, [cells], sorted_by=_LIFT_PLACE))


_LIFT_PLACE = 4  # the column of the lift among those of a card


def _card_cells(row: "CardRow", reach: tuple[float, float]) -> "list[Cell]":
    over = row.lift_over_level
    return [
        (join(_gem(row.bonus), " ", _cost(row.cost)), list(_COLOURS).index(row.bonus) * 1000 + row.card),
        (str(row.card), row.card),
        (str(row.level), row.level),
        (str(row.prestige), row.prestige),
        *_lift_cells(row.lift, reach),
        ("–" if over is None else _signed(100 * over, 2), over),
        (f"{row.dealt:,}", row.dealt),
        _share_cell(row.reserved_open, row.dealt),
        _share_cell(row.reserved_blind, row.dealt),
        _share_cell(row.bought, row.dealt),
        (_mean(row.round), row.round.mean),
    ]


def _nobles(balance: "Balance") -> "tuple[Html, ...]":
    columns = [
        Column("noble requires", left=True, first="ascending"),
        Column("id", first="ascending"),
        *_LIFT_COLUMNS,
        Column("laid out, games"),
        Column("of these visited"),
        Column("in round"),
    ]
    reach = _reach(row.lift for row in balance.nobles)
    rows = sorted(balance.nobles, key=lambda row: (-(row.lift.value if row.lift else -2), row.noble))
    text = "The lift of a noble is that of the seats that it visits, which have its 3 prestige and many cards already."
    caption = "The 10 nobles"
    cells = [_noble_cells(row, reach) for row in rows]
    return (e("p", text), table(caption, columns, [cells], sorted_by=_LIFT_PLACE - 2))


def _noble_cells(row: "NobleRow", reach: tuple[float, float]) -> "list[Cell]":
    return [
        (_cost(row.requires), row.noble),
        (str(row.noble), row.noble),
        *_lift_cells(row.lift, reach),
        (f"{row.shown:,}", row.shown),
        _share_cell(row.visited, row.shown),
        (_mean(row.round), row.round.mean),
    ]


def _colours(result: "Result", balance: "Balance") -> "tuple[Html, ...]":
    rows = [
        [
            join(_gem(row.colour), f" {_COLOURS[row.colour]}"),
            "–" if row.taken is None else f"{row.taken / result.games:.2f}",
            f"{row.returned / result.games:.2f}",
            _percent(row.scarcity),
            "–" if row.bonuses is None else f"{row.bonuses:.3f}",
            "–" if row.bonuses_of_winner is None else f"{row.bonuses_of_winner:.3f}",
        ]
        for row in balance.colours
    ]
    columns = [
        Column("colour", left=True),
        Column("tokens taken"),
        Column("tokens returned"),
        Column("turns without"),
        Column("bonuses of a seat"),
        Column("bonuses of a winner"),
    ]

    text = (
        "Tokens taken and returned are means of a game, without the gold that comes with reserving; turns without are "
        "those that begin with no token of the colour in the bank; bonuses are means at the end of a game."
    )

    def draw(axes: Any) -> None:
        found = [row for row in balance.colours if row.bonuses is not None]
        for place, row in enumerate(found):
            axes.bar(place - 0.2, row.bonuses, width=0.38, color=FILL, edgecolor=INK, linewidth=0.6)
            axes.bar(place + 0.2, row.bonuses_of_winner or 0, width=0.38, color=MARK, edgecolor=INK, linewidth=0.6)
        axes.set_xticks(range(len(found)), [f"{row.colour}\n{_COLOURS[row.colour]}" for row in found])
        axes.set_ylabel("bonuses at the end")
        axes.grid(False, axis="x")

    told = (f"{_COLOURS[row.colour]} {row.bonuses:.2f}" for row in balance.colours if row.bonuses is not None)
    drawn = plot(
        "colours-plot",
        "Bonuses at the end of a game",
        f"The mean of a seat: {_listed(told)}.",
        "Left bars: the mean of a seat. Right bars: the mean of a winner.",
        draw,
    )
    return (e("p", text), pair(drawn, table("Tokens and bonuses", columns, [rows])))


def _decisions(balance: "Balance") -> "tuple[Html, ...]":
    stages = balance.stages
    kinds = [row for row in balance.decisions if sum(row.counts)]
    columns = [Column("decision", left=True), *map(Column, stages)]
    rates = [
        [row.kind, *("–" if rate is None else f"{rate:.4f}" for rate in row.per_turn)] for row in balance.decisions
    ]
    counts = [[row.kind, *(f"{count:,}" for count in row.counts)] for row in balance.decisions]

    def draw(axes: Any) -> None:
        high = 0.8 / len(stages)
        for stage, colour in enumerate((FILL, MARK, MARK_2)[: len(stages)]):
            places = [place + (stage - (len(stages) - 1) / 2) * high for place in range(len(kinds))]
            axes.barh(places, [row.per_turn[stage] or 0 for row in kinds], high, color=colour, label=stages[stage])
        axes.set_yticks(range(len(kinds)), [row.kind for row in kinds])
        axes.set_ylim(len(kinds) - 0.4, -0.6)
        axes.set_xlabel("decisions a turn")
        axes.grid(False, axis="y")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(stages), frameon=False, fontsize=11)

    drawn = plot(
        "decisions-plot",
        "Decisions by stage of the game",
        "Decisions a turn of each kind; the figures are in the table.",
        "The stage is that of the seat that decides, by the cards that it has bought before.",
        draw,
        height=1.1 + 0.42 * len(kinds),
    )
    by_agent = [
        [row.kind, *(_per_turn(sum(row.by_agent[place]), of) for place, of in enumerate(balance.agents))]
        for row in balance.decisions
    ]
    agents = [columns[0], *(Column(f"agent {agent}") for agent in range(len(balance.agents)))]
    return (
        pair(drawn, table("Decisions a turn, by cards bought", columns, [rates])),
        pair(
            table("Decisions a turn of each agent", agents, [by_agent]),
            table("All decisions, by cards bought", columns, [counts]),
        ),
    )


def _per_turn(count: int, standing: "Standing") -> str:
    return f"{count / (standing.games * standing.turns.mean):.4f}" if standing.turns.mean else "–"


def _endings(result: "Result") -> "tuple[Html, ...]":
    kinds = {
        "won by one seat": result.games - result.shared_wins - result.truncated,
        "shared by several seats": result.shared_wins,
        f"truncated after {result.max_turns:,} turns, won by nobody": result.truncated,
    }
    columns = [Column("ending", left=True), Column("games"), Column("share of all games")]
    rows = [[name, f"{number:,}", _interval_of(Share.of(number, result.games))] for name, number in kinds.items()]
    stuck = [["deadlocked", f"{result.deadlocked:,}", _interval_of(Share.of(result.deadlocked, result.games))]]
    text = "A deadlocked game, in which no seat could move any more, is ranked as usual."
    return (
        e("p", text),
        table("How games end", columns, [rows, stuck]),
    )


def _again(result: "Result", again: str | None) -> "tuple[Html, ...]":
    from splendor_sim import __version__

    call = (
        f"splendor_sim.simulate(games={result.games}, players={result.players}, agents={list(result.agents)!r}, "
        f"seed={result.seed}, rules={result.rules!r}, rotate={result.rotate}, max_turns={result.max_turns}, "
        f'statistics="full")'
    )
    shown = [again, call] if again else [call]
    commands = [e("pre", e("code", text)) for text in shown]
    facts = [
        ["games", f"{result.games}"],
        ["seats", f"{result.players}"],
        ["seed", f"{result.seed}"],
        *([f"agent {agent}", spec] for agent, spec in enumerate(result.agents)),
        ["agents change seats", "yes, agent a sits at seat (game + a) mod seats" if result.rotate else "no"],
        ["games are truncated after", f"{result.max_turns} turns"],
        ["rules", _rules_text(result)],
    ]
    options = [[name, json.dumps(value)] for name, value in result.rule_options.items()]
    columns = [Column("what", left=True), Column("value", left=True, wrap=True)]
    return (
        e("p", f"With splendor_sim {__version__}, on any machine and any number of threads:"),
        *commands,
        pair(
            table("What was played", columns, [facts]),
            table("Every option of the rules", [Column("option", left=True), columns[1]], [options]),
        ),
    )


def _reading() -> "tuple[Html, ...]":
    points = [
        "Brackets hold the interval of 95 %: Wilson's for shares, Student's for means.",
        "A win that k seats share counts as 1/k of a win for each; a truncated game as none.",
        "Cards, and nobles apart, are compared all at once, so their p values are corrected by Holm's method: "
        "“differs” means below 5 %, and in at most 5 % of runs any of them says so by chance.",
        "A round is one turn of every seat; one that was begun counts.",
        "Rates a turn, means by round and means of colours are over all games without an interval of their own: "
        "the turns of one game depend on each other, so that an interval as for independent ones would be too narrow.",
        "Colours of gems by letter: white w, blue u, green g, red r, black k, gold j.",
    ]
    return (e("ul", *(e("li", point) for point in points)),)


# --- Tables of the same make -----------------------------------------------------------------------------------------


def _shares_plot(name: str, title: str, names: list[str], standings: "Sequence[Standing]", players: int) -> "Html":
    shares = [standing.win_share for standing in standings]

    def draw(axes: Any) -> None:
        axes.axvline(100 / players, color=MARK_2, linewidth=1.4, linestyle=(0, (4, 2)))
        for place, share in enumerate(shares):
            if share is not None:
                axes.plot([100 * share.low, 100 * share.high], [place, place], color=MARK, linewidth=2.4)
                axes.plot(100 * share.value, place, "o", color=MARK, markersize=8)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel("% of games won")
        axes.margins(x=0.08)

    told = _listed(f"{name} {_interval_of(share)}" for name, share in zip(names, shares, strict=True))
    caption = "Points: shares of wins. Lines: their intervals. Dashes: an equal share."
    return plot(name, title, f"{told}.", caption, draw, height=0.9 + 0.4 * len(names))


def _wins_table(caption: str, what: str, rows: "Iterable[tuple[str, Score, Standing]]") -> "Html":
    columns = [Column(what, left=True), *map(Column, ["games", "outright", "shared", "share of wins"])]
    cells = [
        [
            name,
            f"{score.games:,}",
            _part(score.outright_wins, score.games),
            _part(score.shared_wins, score.games),
            _interval_of(standing.win_share),
        ]
        for name, score, standing in rows
    ]
    return table(caption, columns, [cells])


def _standing_table(caption: str, what: str, rows: "Iterable[tuple[str, Standing]]") -> "Html":
    heads = ["prestige", "turns", "tokens held", "tokens returned", "gold paid"]
    cells = [
        [name, *map(_mean, (of.prestige, of.turns, of.tokens_held, of.tokens_returned, of.gold_paid))]
        for name, of in rows
    ]
    return table(caption, [Column(what, left=True), *map(Column, heads)], [cells])


def _test_table(things: str, test: ChiSquare | None) -> "Html":
    columns = [Column("test", left=True), *map(Column, ["chi-square", "degrees of freedom", "p"])]
    values = ["–"] * 3 if test is None else [f"{test.statistic:,.2f}", str(test.degrees), _p(test.p)]
    return table(f"Test that all {things} win alike", columns, [[[f"{things} alike", *values]]])


# --- Words and numbers -----------------------------------------------------------------------------------------------


def _listed(words: Iterable[str]) -> str:
    """Words as a list in a sentence; what comes several times is counted."""
    words = [*words]
    told = [word if words.count(word) == 1 else f"{words.count(word)} × {word}" for word in dict.fromkeys(words)]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _rules_name(result: "Result") -> str:
    return f"the {result.rules} rules" if isinstance(result.rules, str) else f"rules {_rules_text(result)}"


def _rules_text(result: "Result") -> str:
    return result.rules if isinstance(result.rules, str) else json.dumps(result.rules)


def _digits(low: float, high: float) -> int:
    """Decimals of a number between two bounds, two at least and so many that the interval can be seen."""
    digits = 2
    while digits < 6 and 0 < (high - low) * 10**digits < 4:
        digits += 1
    return digits


def _interval_of(share: Share | None) -> str:
    if share is None:
        return "–"
    low, high = 100 * share.low, 100 * share.high
    digits = _digits(low, high)
    return f"{100 * share.value:.{digits}f} % [{low:.{digits}f}, {high:.{digits}f}]"


def _mean(mean: Mean) -> str:
    if mean.mean is None:
        return "–"
    if mean.low is None or mean.high is None:
        return f"{mean.mean:.2f}"
    digits = _digits(mean.low, mean.high)
    return f"{mean.mean:.{digits}f} [{mean.low:.{digits}f}, {mean.high:.{digits}f}]".replace("-", "−")


def _part(number: int, of: int) -> str:
    return _percent(number / of if of else None)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"


def _signed(value: float, digits: int) -> str:
    """A number with its sign, a minus as wide as a plus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def _p(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _test(test: ChiSquare) -> str:
    p = _p(test.p)
    return f"p {p}" if p.startswith("<") else f"p = {p}"


# --- Lifts -----------------------------------------------------------------------------------------------------------


_LIFT_COLUMNS = (
    Column("lift, points"),
    Column("drawn"),
    Column("differs"),
    Column("p, corrected (Holm)", first="ascending"),
)


def _lift_cells(lift: Lift | None, reach: tuple[float, float]) -> "list[Cell]":
    if lift is None:
        return [("–", None), ("", None), ("–", None), ("–", None)]
    digits = _digits(100 * lift.low, 100 * lift.high)
    value, low, high = (_signed(100 * bound, digits) for bound in (lift.value, lift.low, lift.high))
    differs = ("▲ more" if lift.value > 0 else "▼ less") if lift.differs else "no"
    return [
        (f"{value} [{low}, {high}]", lift.value),
        (_bar(lift, reach), lift.value),
        (e("span", differs, class_="yes") if lift.differs else differs, lift.value if lift.differs else 0),
        (_p(lift.p_holm), lift.p_holm),
    ]


def _reach(lifts: "Iterable[Lift | None]") -> tuple[float, float]:
    """From where to where bars of lifts go: all values and zero, and a little more for intervals."""
    values = [0.0, *(lift.value for lift in lifts if lift is not None)]
    low, high = min(values), max(values)
    more = 0.08 * (high - low) or 0.01
    return low - more, high + more


def _bar(lift: Lift, reach: tuple[float, float]) -> "Html":
    """A lift as a bar from zero with its interval; its figures stand beside it."""

    def at(value: float) -> float:
        return round(min(max(120 * (value - reach[0]) / (reach[1] - reach[0]), 0), 120), 1)

    left, right = sorted([at(0), at(lift.value)])
    bar = e("rect", x=left, y=3, width=round(right - left, 1), height=10, class_="value" if lift.value > 0 else "below")
    interval = e("line", x1=at(lift.low), x2=at(lift.high), y1=8, y2=8, class_="interval")
    axis = e("line", x1=at(0), x2=at(0), y1=0, y2=16, class_="axis")
    return e("svg", bar, interval, axis, class_="bar", viewBox="0 0 120 16", aria_hidden="true")


def _share_cell(number: int, of: int) -> "Cell":
    share = number / of if of else None
    return _percent(share), share


def _gem(colour: str) -> "Html":
    return e("span", colour, class_=f"gem {colour}", title=_COLOURS[colour])


def _cost(cost: Sequence[int]) -> str:
    return " ".join(f"{colour}{number}" for number, colour in zip(cost, _COLOURS) if number)
