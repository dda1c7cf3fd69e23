"""Sweeps: a grid of rules on the same deals, differences from game to game, and what the program makes of them."""

import csv
import json
import math
import statistics
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

import splendor_sim as ss
from splendor_sim.cli import main
from splendor_sim.core.counters import DEADLOCKED
from splendor_sim.simulate import Crew, play_games
from splendor_sim.sweep import RULE_TEXTS, Estimate, Grid, Outcome, SweepError, SweepTally, outcomes_of, play_cells

MODULE = sys.modules["splendor_sim.sweep"]
JIT_DISABLED = bool(numba.config.DISABLE_JIT)
RATE, MEAN = Outcome("a rate", True), Outcome("a mean", False)


def games(full: int) -> int:
    """So many games, or few where a game takes a thousand times as long."""
    return max(8, full // 500) if JIT_DISABLED else full


def grid_of(vary, games=100, players=2, agents=None, seed=1, rules="official", rotate=True, max_turns=1000):
    return Grid.of(vary, games, players, agents, seed, rules, rotate, max_turns)


@pytest.fixture
def run(capsys):
    """`run(arguments)`: exit code, standard output and standard error of `splendor-sim sweep`, in this process."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main(["sweep", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


# --------------------------------------------------------------------------------------------------------- the grid


def test_the_cells_are_all_combinations_and_the_first_values_make_the_baseline():
    grid = grid_of({"target_prestige": [15, 12], "gold_tokens": [5, 0, 3]})
    assert [tuple(cell.values()) for cell in grid.cells] == [
        (target, [gold] * 3) for target in (15, 12) for gold in (5, 0, 3)
    ]
    assert grid.plans[0].options == ss.Rules()
    assert grid.plans[5].options == ss.Rules(target_prestige=12, gold_tokens=(3, 3, 3))
    assert grid.label(5) == "target_prestige=12, gold_tokens=3"


def test_a_number_of_tokens_is_for_all_seats_and_a_list_for_each():
    grid = grid_of({"gem_tokens": [4, [4, 5, 7], (5, 5, np.int64(6))]})
    assert [plan.options.gem_tokens for plan in grid.plans] == [(4, 4, 4), (4, 5, 7), (5, 5, 6)]


def test_the_cells_have_the_other_rules_in_common():
    grid = grid_of({"end": ["finish_round", "immediate"]}, rules={"preset": "italian", "target_prestige": 12})
    assert [(plan.options.take_two_min, plan.options.target_prestige) for plan in grid.plans] == [(5, 12)] * 2
    grid = grid_of({"preset": ["basque", "official"]}, rules={"target_prestige": 12})
    assert [plan.options.gold_tokens for plan in grid.plans] == [(0, 0, 5), (5, 5, 5)]
    assert {plan.options.target_prestige for plan in grid.plans} == {12}


def test_cells_that_are_presets_keep_their_names():
    grid = grid_of({"preset": RULE_TEXTS})
    assert [plan.rules for plan in grid.plans] == list(RULE_TEXTS)


@pytest.mark.parametrize(
    "vary, told",
    [
        ({}, "an object of rule options"),
        (None, "an object of rule options"),
        (["end"], "an object of rule options"),
        ({"target": [1]}, "'target' cannot be varied"),
        ({"target_prestige": 15}, "a list of values, not 15"),
        ({"end": "immediate"}, "a list of values"),
        ({"target_prestige": []}, "one value at least"),
        ({"target_prestige": [15, 12, 15]}, "not 15 twice"),
        ({"gold_tokens": [5, [5, 5, 5]]}, "not 5 twice"),
        ({"target_prestige": [15, 99]}, "from 1 to 60, not 99"),
        ({"target_prestige": [True]}, "not True"),
        ({"gold_tokens": [9]}, "three whole numbers from 0 to 7"),
        ({"end": ["never"]}, "'finish_round' or 'immediate'"),
        ({"preset": ["officail"]}, "the presets are"),
        ({"preset": [3]}, "names of presets"),
        ({"target_prestige": range(1, 61), "token_limit": range(3, 21)}, "up to 1,000 cells, not 1,080"),
    ],
)
def test_what_cannot_be_varied_is_refused(vary, told):
    with pytest.raises((SweepError, ss.RulesError), match=told):
        ss.sweep(vary, 10)
    assert issubclass(SweepError, ValueError)


def test_other_arguments_are_refused_as_those_of_simulate_are():
    with pytest.raises(ss.SimulationError, match="games must be"):
        ss.sweep({"target_prestige": [15]}, games=0)
    with pytest.raises(SweepError, match="progress"):
        ss.sweep({"target_prestige": [15]}, progress=3)
    with pytest.raises(SweepError, match="fix every option"):
        ss.sweep({"preset": ["official"]}, rules=ss.Rules())


# -------------------------------------------------------------------------------------------------------- the games


@pytest.mark.kernel
def test_the_sweep_does_not_depend_on_threads_or_sizes_of_blocks(monkeypatch):
    vary = {"target_prestige": [15, 12]}
    found = [ss.sweep(vary, games(3000), 3, ["greedy", "random", "random"], threads=threads) for threads in (1, 2)]
    monkeypatch.setattr(MODULE, "BLOCK", 7)
    found.append(ss.sweep(vary, games(3000), 3, ["greedy", "random", "random"], threads=1))
    assert found[0] == found[1] == found[2]
    assert found[0].to_dict() == found[2].to_dict()


@pytest.mark.kernel
def test_each_cell_is_what_simulate_finds_under_its_rules():
    sweep = ss.sweep({"preset": ["official", "basque"], "target_prestige": [15, 8]}, games(1000), seed=5)
    for cell in sweep.cells:
        assert cell.result == ss.simulate(games(1000), seed=5, rules=cell.result.rules)
        assert cell.outcomes["seat_0_win_share"].value == pytest.approx(cell.result.by_seat[0].win_share.value)
        assert cell.outcomes["turns"].value == cell.result.turns.mean
        assert cell.outcomes["rounds"].value == cell.result.rounds.mean
        for outcome, number in [("shared_win", "shared_wins"), ("deadlocked",) * 2, ("truncated",) * 2]:
            assert cell.outcomes[outcome].value == getattr(cell.result, number) / sweep.games


@pytest.mark.kernel
def test_all_cells_meet_the_same_deals():
    grid = grid_of({"target_prestige": [15, 5], "end": ["finish_round", "immediate"]})
    keys = [play_games(plan, 0, 20).records["key"].tolist() for plan in grid.plans]
    assert keys[0] == keys[1] == keys[2] == keys[3]


@pytest.mark.kernel
def test_differences_are_those_of_each_pair_of_games():
    agents = ["greedy", "random", "random"]
    grid = grid_of({"end": ["finish_round", "immediate"]}, games(2000), 3, agents)
    tally = SweepTally(grid, Crew(2))
    for block in play_cells(grid, Crew(2)):
        tally.add(block)
    cell = tally.result().cells[1]
    base, other = (outcomes_of(grid, play_games(plan, 0, games(2000)).records) for plan in grid.plans)
    for outcome, before, after in zip(grid.outcomes, base.tolist(), other.tolist(), strict=True):
        pairs = [(b - a) / outcome.parts for a, b in zip(before, after, strict=True) if a >= 0 and b >= 0]
        found = cell.differences[outcome.name]
        assert found.games == len(pairs)
        assert found.value == pytest.approx(statistics.fmean(pairs), abs=1e-12)
        if not outcome.is_rate:
            spread = 1.96 * statistics.stdev(pairs) / math.sqrt(len(pairs))
            assert found.high - found.low == pytest.approx(2 * spread, rel=0.5 if JIT_DISABLED else 0.01)


@pytest.mark.kernel
def test_shares_of_all_seats_and_of_all_agents_are_one_together():
    sweep = ss.sweep({"tie_break": ["fewest_cards", "shared"]}, games(1000), 4, ["greedy", "random"] * 2)
    for cell in sweep.cells:
        for who in ("seat", "agent"):
            assert sum(cell.outcomes[f"{who}_{a}_win_share"].value for a in range(4)) == pytest.approx(1)
            if cell.differences:
                assert sum(cell.differences[f"{who}_{a}_win_share"].value for a in range(4)) == pytest.approx(0)


def test_pairing_makes_the_interval_of_a_small_change_narrow():
    sweep = ss.sweep({"tie_break": ["fewest_cards", "shared"]}, 20_000)
    alone, paired = sweep.cells[1].outcomes["seat_0_win_share"], sweep.cells[1].differences["seat_0_win_share"]
    assert paired.high - paired.low < (alone.high - alone.low) / 4


def test_rules_without_effect_make_no_difference_but_keep_an_interval():
    cell = ss.sweep({"preset": ["official", "spanish"]}, 3000).cells[1]
    assert all(found.value == 0 for found in cell.differences.values())
    share = cell.differences["seat_0_win_share"]
    assert -0.002 < share.low < 0 < share.high < 0.002
    assert cell.differences["turns"].low == cell.differences["turns"].high == 0


@pytest.mark.kernel
def test_a_game_without_a_winner_has_no_prestige_of_one():
    sweep = ss.sweep({"target_prestige": [15, 12]}, games(500), max_turns=5)
    for cell in sweep.cells:
        assert cell.outcomes["winner_prestige"] is None and cell.outcomes["truncated"].value == 1
        assert cell.outcomes["seat_0_win_share"].value == 0
    assert sweep.cells[1].differences["winner_prestige"] is None
    assert "-" in str(sweep)


@pytest.mark.kernel
def test_deadlocks_are_counted_apart():
    jam = {"take_fewer": "never", "reserve_limit": 0}
    sweep = ss.sweep({"gem_tokens": [1, 4]}, games(500), rules=jam)
    dead = [cell.outcomes["deadlocked"].value for cell in sweep.cells]
    assert dead[0] > dead[1] and sweep.cells[1].differences["deadlocked"].value == pytest.approx(dead[1] - dead[0])
    records = play_games(grid_of({"gem_tokens": [1, 4]}, games(500), rules=jam).plans[0], 0, games(500)).records
    assert dead[0] == (records["ending"] == DEADLOCKED).mean()


def test_one_game_makes_a_sweep():
    sweep = ss.sweep({"target_prestige": [15, 12]}, 1)
    assert sweep.cells[0].outcomes["turns"].low is None
    assert "1 game of 2 seats" in str(sweep)


def test_progress_tells_of_games_of_a_cell_up_to_all():
    seen: list[tuple[int, int]] = []
    ss.sweep({"target_prestige": [15, 12]}, 5000, progress=lambda *done: seen.append(done))
    assert seen == sorted(seen) and seen[-1] == (5000, 5000)


def test_a_stop_leaves_the_first_games_of_every_cell():
    grid, stop = grid_of({"target_prestige": [15, 12]}, 10**9, seed=3), threading.Event()
    tally = SweepTally(grid, Crew(2))
    for block in play_cells(grid, Crew(2), stop):
        tally.add(block)
        if tally.totals.games > 5000:
            stop.set()
    result = tally.result()
    assert 5000 < result.games < 10**6
    assert result == ss.sweep({"target_prestige": [15, 12]}, result.games, seed=3)


def test_the_sweep_of_the_readme_is_what_is_found():
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    shown = " ".join(readme.partition("## Sweep")[2].partition("\n## ")[0].split())
    sweep = ss.sweep({"preset": RULE_TEXTS}, 100_000, seed=1)
    assert " ".join(sweep.heading().split()) in shown
    for table in sweep.tables():
        for row in [table.columns, *table.groups[0]]:
            assert " ".join(" ".join(row).split()) in shown


# ---------------------------------------------------------------------------------------------------- the intervals


def test_intervals_of_differences_are_those_of_bonett_and_price():
    # 40 pairs in which 5 go one way and 12 the other: their adjusted Wald interval by hand.
    found = Estimate.of_pairs(RATE, 40, 5 - 12, 5 + 12)
    up, down = 6 / 42, 13 / 42
    spread = 1.959963984540054 * math.sqrt((up + down - (up - down) ** 2) / 42)
    assert found.value == pytest.approx(-7 / 40)
    assert (found.low, found.high) == pytest.approx((up - down - spread, up - down + spread))


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    inside = {"rate": 0, "mean": 0}
    for _ in range(2000):
        pairs = rng.choice([-1, 0, 1], size=200, p=[0.02, 0.93, 0.05])
        sums = len(pairs), int(pairs.sum()), int((pairs**2).sum())
        for name, found in [("rate", Estimate.of_pairs(RATE, *sums)), ("mean", Estimate.of(MEAN, *sums))]:
            inside[name] += found.low <= 0.03 <= found.high
    assert 0.93 < inside["rate"] / 2000 < 0.98 and 0.92 < inside["mean"] / 2000 < 0.97


def test_no_sum_of_squares_overflows():
    found = Estimate.of_pairs(MEAN, 10**12, 10**18, 10**24 + 10**18)
    assert found.value == 10**6 and found.low < 10**6 < found.high


# -------------------------------------------------------------------------------------------------------- the files


def test_a_sweep_is_plain_json_and_flat_rows():
    sweep = ss.sweep({"gold_tokens": [5, 0], "end": ["finish_round", "immediate"]}, 500)
    plain = sweep.to_dict()
    assert plain == json.loads(json.dumps(plain))
    assert plain["vary"] == {"gold_tokens": [[5, 5, 5], [0, 0, 0]], "end": ["finish_round", "immediate"]}
    assert plain["cells"][0]["differences"] is None
    rows = sweep.rows()
    assert len(rows) == 4 * len(sweep.outcomes) and len({tuple(row) for row in rows}) == 1
    assert rows[-1]["end"] == "immediate" and rows[-1]["gold_tokens"] == "[0, 0, 0]"


def test_the_program_prints_the_tables_and_the_command_that_repeats_them(run):
    code, out, err = run("--presets", "--games", 2000, "--seed", 1)
    assert (code, err) == (0, "")
    for part in ("2,000 games of 2 seats for each of 5 cells", "portuguese", "difference, 95 %", "deadlocked"):
        assert part in out
    again = out.rpartition("again: splendor-sim sweep ")[2].split()
    tables = out[: out.index("games in")].rpartition("\n")[0]
    assert run(*again)[1].startswith(tables)


def test_cells_with_long_labels_are_numbered(run):
    code, out, _ = run("--vary", "target_prestige=15,12", "--vary", "gem_tokens=4,[4,5,7]", "--games", 50, "--seed", 1)
    assert code == 0
    assert "cell 3" in out and "[4, 5, 7]" in out and max(map(len, out.splitlines()[3:-2])) <= 80


def test_the_program_writes_tables_by_their_ending(run, tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    found = {}
    for ending in ("csv", "json", "parquet"):
        found[ending] = tmp_path / f"sweep.{ending}"
        arguments = ["--vary", "gold_tokens=5,[0,0,3]", "--games", 300, "--seed", 2, "--out", found[ending]]
        assert run(*arguments)[0] == 0
    sweep = ss.sweep({"gold_tokens": [5, [0, 0, 3]]}, 300, seed=2)
    assert json.loads(found["json"].read_text()) == sweep.to_dict()
    assert pyarrow.parquet.read_table(found["parquet"]).to_pylist() == sweep.rows()
    with found["csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in sweep.rows()]
    assert {path.name for path in tmp_path.iterdir()} == {"sweep.csv", "sweep.json", "sweep.parquet"}


def test_the_program_prints_one_json_object(run):
    code, out, _ = run("--vary", "end=finish_round,immediate", "--games", 300, "--seed", 2, "--json")
    assert code == 0
    assert json.loads(out) == ss.sweep({"end": ["finish_round", "immediate"]}, 300, seed=2).to_dict()


def test_the_plot_is_a_picture_that_depends_on_the_games_alone(run, tmp_path):
    pytest.importorskip("matplotlib")
    pictures = []
    for name in ("one.svg", "two.svg"):
        assert run("--presets", "--games", 300, "--seed", 2, "--plot", tmp_path / name)[0] == 0
        pictures.append((tmp_path / name).read_text())
    assert pictures[0] == pictures[1] and "<svg" in pictures[0]


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("", "--presets or --vary"),
        ("--vary target_prestige", "option=value,value"),
        ("--vary target_prestige=", "one value at least"),
        ("--vary target=3", "cannot be varied"),
        ("--vary target_prestige=15,x", "target_prestige must be"),
        ("--vary end=immediate --vary end=finish_round", "varied twice"),
        ("--presets --vary preset=official", "varied twice"),
        ("--presets --games 0", "games must be"),
        ("--presets --agent random", "once a seat"),
        ("--presets --out table.txt", "ends in .csv or .parquet or .json"),
        ("--presets --plot plot.jpeg", "ends in .svg"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_2(run, arguments, told):
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert told in err and len(err.splitlines()) == 1
