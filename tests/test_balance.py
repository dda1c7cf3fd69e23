"""The balance: its counters against a slow recount in plain Python, sums that must hold, and what is made of them."""

import json
import pickle
import shlex
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numba
import numpy as np
import pytest

import reference
import splendor_sim as ss
from splendor_sim.balance import KINDS, Balance
from splendor_sim.cli import main
from splendor_sim.core.balance import BALANCE_DTYPE, STAGES, TURNS
from splendor_sim.core.policies import GREEDY, choose
from splendor_sim.simulate import Crew, Plan, Totals, play_blocks, play_games

MODULE = sys.modules["splendor_sim.simulate"]
JIT_DISABLED = bool(numba.config.DISABLE_JIT)
AGENTS = [["random"] * 4, ["greedy", "random", "greedy", "random"]]
CHOICE = {"payment": "choice", "take_fewer": "up_to"}


def games(full: int) -> int:
    """So many games, or few where a game takes a thousand times as long."""
    return max(4, full // 500) if JIT_DISABLED else full


def plan_of(games=100, players=2, agents=None, seed=1, rules="official", rotate=True, max_turns=1000):
    return Plan.of(games, players, agents and agents[:players], seed, rules, rotate, max_turns, "full")


def played(plan: Plan) -> Totals:
    return play_games(plan, 0, plan.games)


def field_of(totals: Totals, name: str) -> np.ndarray:
    return totals.balance[0][name]


# ---------------------------------------------------------------------------------------------------- a slow recount

WORD = 2**64 - 1


def mixed(word: int) -> int:
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & WORD
    return word ^ word >> 31


def stream(seed: int, index: int, purpose: int) -> int:
    """The random stream of a game for a purpose, as rng.py has it."""
    word = mixed(seed + 0x9E3779B97F4A7C15 & WORD)
    for part in (index, purpose):
        word = mixed((word ^ part) * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15 & WORD)
    return word


class Recount:
    """Counts the games of a plan along the plain engine, in dicts by the fields and places of BALANCE_DTYPE."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.counts = plan, Counter()
        states = ss.deal(plan.games, plan.players, plan.seed, plan.options)
        for index in range(plan.games):
            self.play(index, states[index : index + 1])

    def add(self, name: str, *place: int, number: int = 1) -> None:
        self.counts[name, place] += number

    def add_with_square(self, name: str, *place: int, number: int) -> None:
        self.add(name, *place, number=number)
        self.add(f"{name}_squared", *place, number=number**2)

    def play(self, index: int, state: np.ndarray) -> None:
        plan, players = self.plan, self.plan.players
        self.agents = [(seat - index) % players if plan.rotate else seat for seat in range(players)]
        streams = [stream(plan.seed, index, 16 + seat) for seat in range(players)]
        self.plain = plain = reference.Game.from_position(ss.to_position(state, plan.rules))
        self.turns, self.returned, self.gold_paid = ([0] * players for _ in range(3))
        while not plain.is_over and plain.turn < plan.max_turns:
            seat = plain.to_move
            streams[seat] = streams[seat] + 0x9E3779B97F4A7C15 & WORD
            if plan.agents[self.agents[seat]].name == "greedy":
                action = int(choose(GREEDY, state[0], np.uint64(0)))
            else:
                legal = plain.legal_actions()
                action = legal[(mixed(streams[seat]) >> 32) * len(legal) >> 32]
            before = ss.to_position(state)["decks"]
            ss.step(state, np.array([action]))
            came = {*sum(before, [])} - {*sum(ss.to_position(state)["decks"], [])}
            self.decide(seat, action, next(iter(came), None))
        self.end()

    def decide(self, seat: int, action: int, dealt: int | None) -> None:
        """Make a decision in the plain engine and count it."""
        plain, me = self.plain, self.plain.seats[seat]
        turn, phase, gold, nobles = plain.turn, plain.phase, me["tokens"][5], list(me["nobles"])
        word, _, what = ss.action_name(action).partition(" ")
        number = len(me["cards"])
        self.add("decisions", self.agents[seat], 0 if number <= 5 else 1 if number <= 8 else 2, action)
        if phase == "main":
            self.turns[seat] += 1
            self.add("bank_colours", sum(1 << colour for colour in range(6) if plain.bank[colour] > 0))
        if word == "buy":
            place, _, column = what.partition(".")
            held = me["reserved"][int(column) - 1]["card"] if place == "reserved" else None
            card = plain.board[int(place) - 1][int(column) - 1] if held is None else held
            self.add_with_square("card_turn", card, number=turn)
            self.add("gained", min(turn, TURNS - 1), number=reference.CARDS[card]["points"])
        plain.apply(action, dealt)
        if word == "reserve":
            self.add(f"card_reserved_{'blind' if 'deck' in what else 'open'}", me["reserved"][-1]["card"])
        elif word in ("buy", "pay"):
            self.gold_paid[seat] += gold - me["tokens"][5]
        elif word == "return":
            self.returned[seat] += 1
        for noble in {*me["nobles"]} - {*nobles}:
            self.add_with_square("noble_turn", noble, number=turn)
            self.add("gained", min(turn, TURNS - 1), number=3)

    def end(self) -> None:
        plain = self.plain
        for card in (card for row in plain.board for card in row if card is not None):
            self.add("card_left_on_board", card)
        for noble in (noble for noble in plain.nobles if noble is not None):
            self.add("noble_left", noble)
        winners = plain.winners()
        for seat, has in enumerate(plain.seats):
            place = self.agents[seat], seat
            share = 12 // len(winners) if seat in winners else 0
            self.add_with_square("turns", *place, number=self.turns[seat])
            self.add_with_square("held", *place, number=sum(has["tokens"]))
            self.add_with_square("returned", *place, number=self.returned[seat])
            self.add_with_square("gold_paid", *place, number=self.gold_paid[seat])
            for held in has["reserved"]:
                self.add("card_left_in_hand", held["card"])
            for what, each in [
                *(("card", card) for card in has["cards"]),
                *(("noble", tile) for tile in has["nobles"]),
            ]:
                self.add("card_bought" if what == "card" else "noble_visited", *place, each)
                self.add(f"{what}_won", *place, each, number=share)


def assert_recounted(plan: Plan) -> None:
    counted, recounted = played(plan).balance[0], Recount(plan).counts
    assert {name for name, _ in recounted} <= {*BALANCE_DTYPE.names}
    for name in BALANCE_DTYPE.names:
        expected = np.zeros(counted[name].shape, np.int64)
        for (field, place), number in recounted.items():
            if field == name:
                expected[place] = number
        assert counted[name].tolist() == expected.tolist(), name


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("agents", AGENTS, ids=["random", "greedy"])
@pytest.mark.parametrize("rules", ["official", CHOICE], ids=["official", "choice"])
def test_every_counter_is_that_of_a_slow_recount(players, agents, rules):
    assert_recounted(plan_of(8, players, agents, seed=players, rules=rules))


@pytest.mark.kernel
@pytest.mark.parametrize("agents", AGENTS, ids=["random", "greedy"])
def test_counters_of_short_games_are_those_of_a_slow_recount(agents):
    assert_recounted(plan_of(2 if JIT_DISABLED else 8, 3, agents, rules={**CHOICE, "target_prestige": 4}))


@pytest.mark.parametrize("agents", AGENTS, ids=["random", "greedy"])
def test_counters_of_truncated_shared_and_jammed_games_are_those_of_a_slow_recount(agents):
    assert_recounted(plan_of(12, 2, agents, rotate=False, max_turns=31))
    assert_recounted(plan_of(12, 4, agents, rules={"tie_break": "shared", "target_prestige": 3}))
    assert_recounted(plan_of(12, 3, agents, rules={"take_fewer": "never", "reserve_limit": 1, "gem_tokens": [2, 2, 2]}))


# ------------------------------------------------------------------------------------------------ sums that must hold


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("max_turns", [1000, 90])
def test_sums_hold(players, max_turns):
    plan = plan_of(games(1000), players, AGENTS[1], max_turns=max_turns)
    totals = played(plan)
    counts, balance = totals.counts[0], Balance.of(plan, totals)
    decided = plan.games - balance.truncated
    assert sum(row.win_share.value * row.games for row in balance.seats) == pytest.approx(decided)
    assert sum(row.win_share.value * row.games for row in balance.agents) == pytest.approx(decided)
    assert balance.games == sum(balance.games_by_rounds) == plan.games
    main = [row for row in balance.decisions if KINDS[row.kind] < KINDS["return"]]
    assert sum(map(sum, (row.counts for row in main))) == counts["turns"] == field_of(totals, "bank_colours").sum()
    assert field_of(totals, "turns").sum() == counts["turns"]
    for stage in range(len(STAGES)):
        assert sum(row.per_turn[stage] for row in main) == pytest.approx(1)
    for row in balance.decisions:
        assert tuple(map(sum, zip(*row.by_agent))) == row.counts
    for row in balance.cards:
        assert 0 <= row.won <= row.bought <= row.dealt <= plan.games
        assert row.reserved_open + row.reserved_blind <= row.dealt
    for row in balance.nobles:
        assert 0 <= row.won <= row.visited <= row.shown <= plan.games
    assert sum(row.shown for row in balance.nobles) == plan.games * (players + 1)
    assert sum(row.bought for row in balance.cards) == counts["cards"].sum()
    assert sum(row.visited for row in balance.nobles) == counts["nobles"].sum()
    reserved = sum(row.reserved_open + row.reserved_blind for row in balance.cards)
    assert reserved == counts["reserves"].sum()
    by_kind = {row.kind: sum(row.counts) for row in balance.decisions}
    assert by_kind["reserve open"] + by_kind["reserve blind"] == reserved
    assert by_kind["buy from board"] + by_kind["buy from hand"] == counts["cards"].sum()
    assert by_kind["return"] == sum(row.returned for row in balance.colours) == field_of(totals, "returned").sum()
    assert sum(row.bonuses or 0 for row in balance.colours) * plan.games * players == pytest.approx(
        counts["cards"].sum()
    )
    # Prestige: that of the end is what was gained, and it never falls.
    assert field_of(totals, "gained").sum() == counts["prestige"].sum()
    assert balance.prestige_by_round[0] == 0
    assert balance.prestige_by_round[-1] * plan.games * players == pytest.approx(counts["prestige"].sum())
    assert list(balance.prestige_by_round) == sorted(balance.prestige_by_round)


@pytest.mark.kernel
def test_tokens_taken_less_those_returned_are_those_held_where_nobody_can_buy():
    rules = {"gem_tokens": [1, 1, 1], "gold_tokens": [0, 0, 0], "token_limit": 3}  # every card costs two alike, or four
    plan = plan_of(games(2000), 2, rules=rules, max_turns=40)
    balance = Balance.of(plan, totals := played(plan))
    assert sum(row.bought for row in balance.cards) == 0
    taken, returned = (sum(getattr(row, name) or 0 for row in balance.colours) for name in ("taken", "returned"))
    assert returned > 0 or JIT_DISABLED
    assert taken - returned == field_of(totals, "held").sum()


@pytest.mark.kernel
def test_the_prestige_of_winners_is_shared_out_among_its_sources():
    plan = plan_of(games(2000), 2, rules={"tie_break": "shared"})
    of = Balance.of(plan, played(plan)).winner_prestige
    assert of.level_1 + of.level_2 + of.level_3 + of.nobles == pytest.approx(1)
    assert 15 <= of.mean < 22 or JIT_DISABLED
    nobody = Balance.of(plan := plan_of(4, max_turns=3), played(plan))
    assert nobody.winner_prestige.mean is None and nobody.seat_effect is None
    assert {row.bonuses_of_winner for row in nobody.colours} == {None}


def test_rounds_beyond_those_told_apart_fall_together():
    rules = {"target_prestige": 60, "token_limit": 3, "take_fewer": "up_to", "reserve_limit": 0}
    plan = plan_of(20, 3, rules=rules, max_turns=3000)
    totals = played(plan)
    balance = Balance.of(plan, totals)
    assert len(totals.by_turns) > TURNS
    assert len(balance.games_by_rounds) == len(balance.prestige_by_round) == -(-TURNS // 3) + 1
    assert sum(balance.games_by_rounds) == 20
    assert balance.prestige_by_round[-1] * 60 == pytest.approx(totals.counts[0]["prestige"].sum())


# ------------------------------------------------------------------------------------------- the same, whoever plays


@pytest.mark.kernel
def test_the_balance_does_not_depend_on_threads_or_sizes_of_blocks(monkeypatch):
    plan = plan_of(games(3000), 3, AGENTS[1])
    once = played(plan)
    for threads, block in [(1, 4096), (2, 4096), (2, 7)]:
        monkeypatch.setattr(MODULE, "BLOCK", block)
        total = Totals(plan)
        for part in play_blocks(plan, Crew(threads)):
            total.add(part)
        assert total.balance.tobytes() == once.balance.tobytes()
        assert Balance.of(plan, total) == Balance.of(plan, once)


def test_a_result_holds_its_balance_as_plain_json():
    first, second = (ss.simulate(600, 3, seed=2, threads=threads, statistics="full") for threads in (1, 2))
    plain = first.to_dict()
    assert first == second
    assert plain == second.to_dict() == json.loads(json.dumps(plain))
    assert len(plain["balance"]["cards"]) == 90 and len(plain["balance"]["nobles"]) == 10
    assert [row["colour"] for row in plain["balance"]["colours"]] == [*"wugrkj"]
    assert [row["card"] for row in plain["balance"]["cards"]] == [*range(90)]


def test_the_summary_has_no_balance_and_plays_the_same_games():
    summary, full = (ss.simulate(500, statistics=statistics).to_dict() for statistics in ("summary", "full"))
    assert summary["balance"] is None
    assert {**full, "balance": None, "statistics": "summary"} == summary


def test_memory_does_not_grow_with_the_number_of_games():
    def peak(number: int) -> int:
        tracemalloc.start()
        ss.simulate(number, threads=1, statistics="full")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)
    assert peak(40_000) < peak(4000) + 500_000
    few, many = (played(plan_of(number)) for number in (100, 10_000))
    assert abs(len(pickle.dumps(many)) - len(pickle.dumps(few))) < 1000  # the histogram of turns may be longer


# ------------------------------------------------------------------------------------------------- what is different


def with_wins(
    plan: Plan, totals: Totals, rng: np.random.Generator, better: int | None = None, by: float = 0.0
) -> Totals:
    """Totals whose cards and nobles win by lot, at the rate of agent and seat: none is different, save one card."""
    drawn = pickle.loads(pickle.dumps(totals))
    balance, counts = drawn.balance[0], drawn.counts[0]
    won = counts["wins"] @ np.array([12, 6, 4, 3])
    rates = won / (12 * np.maximum(counts["played"], 1))
    for got, what in (("card_bought", "card_won"), ("noble_visited", "noble_won")):
        chances = np.repeat(rates[..., None], balance[got].shape[-1], axis=-1)
        if better is not None and what == "card_won":
            chances[..., better] = np.clip(chances[..., better] + by * (balance[got][..., better] > 0), 0, 1)
        balance[what][...] = 12 * rng.binomial(balance[got], chances)
    return drawn


@pytest.mark.parametrize("agents", [AGENTS[0], ["greedy", "random"]], ids=["equal", "unequal"])
def test_of_cards_and_nobles_that_win_by_lot_few_families_hold_one_that_is_called_different(agents):
    plan = plan_of(2000, 2, agents)
    totals, rng = played(plan), np.random.default_rng(3)
    runs = 60
    found = [Balance.of(plan, with_wins(plan, totals, rng)) for _ in range(runs)]
    for rows in ([balance.cards for balance in found], [balance.nobles for balance in found]):
        wrong = sum(any(row.lift is not None and row.lift.differs for row in family) for family in rows)
        assert wrong <= 9  # of 60 at 5 %, so many come once in a thousand
    uncorrected = [row.lift.p < 0.05 for balance in found for row in balance.cards if row.lift is not None]
    assert np.mean(uncorrected) < 0.06


def test_a_card_that_wins_more_is_found_and_it_alone():
    plan = plan_of(4000, 2, ["greedy", "random"])
    balance = Balance.of(plan, with_wins(plan, played(plan), np.random.default_rng(1), better=40, by=-0.12))
    assert [row.card for row in balance.cards if row.lift is not None and row.lift.differs] == [40]
    row = balance.cards[40]
    assert row.lift.value < 0 and row.lift.high < 0 and row.lift.p_holm >= row.lift.p


def test_equal_agents_seldom_differ_and_a_better_one_is_found():
    p = [ss.simulate(1000, seed=seed, statistics="full").balance.agent_effect.p for seed in range(40)]
    assert sum(value < 0.05 for value in p) <= 7
    unequal = ss.simulate(400, agents=["greedy", "random"], statistics="full").balance
    assert unequal.agent_effect.p < 1e-6
    assert ss.simulate(20_000, agents=["greedy"] * 2, statistics="full").balance.seat_effect.p < 1e-6


def test_a_card_that_the_better_agent_buys_more_often_is_not_better_for_that():
    balance = ss.simulate(4000, agents=["greedy", "random"], statistics="full").balance
    # Greedy buys nearly all cards and wins nearly all games.
    bought = max(balance.cards, key=lambda row: row.bought)
    assert bought.lift.base > 0.6
    assert all(row.lift.base >= 0 and row.lift.share.value <= 1 for row in balance.cards if row.lift is not None)


def test_the_round_of_a_purchase_counts_from_one_and_a_seat_adds_its_part():
    plan = plan_of(4000, 4, ["greedy"] * 4, max_turns=12)  # three rounds each, and no game ends sooner
    rounds = [row.round for row in Balance.of(plan, played(plan)).cards if row.bought]
    assert rounds and all(2 <= of.mean <= 3.75 for of in rounds)  # nobody can pay for a card in the first round


# ------------------------------------------------------------------------------------------------------- for people


def test_tables_fit_a_terminal_and_name_the_correction():
    result = ss.simulate(3000, 4, ["greedy", "random", "greedy", "random"], seed=9, statistics="full")
    text = str(result)
    assert max(len(line) for table in result.balance.tables() for line in str(table).splitlines()) <= 90
    for part in ("Are all win shares equal?", "Cards, by lift", "Nobles", "Colours", "Decisions a turn", "Holm"):
        assert part in text
    cards = next(table for table in result.balance.tables() if table.columns[0].startswith("Cards"))
    assert [len(group) for group in cards.groups] == [10, 10]


def test_the_program_prints_the_balance_if_it_is_asked_for(capsys):
    assert main(["run", "--games", "300", "--seed", "4", "--full"]) == 0
    out = capsys.readouterr().out
    assert "Cards, by lift" in out and "Holm" in out and out.strip().endswith("--full")
    assert max(map(len, out.splitlines()[:-3])) <= 110
    assert main(["run", "--games", "300", "--seed", "4", "--full", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ss.simulate(300, seed=4, statistics="full").to_dict()
    assert main(["run", "--games", "300", "--seed", "4"]) == 0
    assert "Cards, by lift" not in capsys.readouterr().out


def test_what_the_readme_shows_is_what_the_program_says(capsys):
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    shown = readme.split("## Balance")[1].split("\n## ")[0]
    command = next(line for line in shown.splitlines() if line.startswith("    splendor-sim run"))
    assert main(shlex.split(command)[1:]) == 0
    said = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    lines = [
        " ".join(line.split()) for line in shown.split("this is a part:")[1].splitlines() if line.startswith("    ")
    ]
    assert len(lines) > 8
    assert [line for line in lines if line and line[0] not in "…─" and line not in said] == []
