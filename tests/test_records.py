"""Records of games: what the files hold, the same in every format, and games that are played again from them."""

import csv
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import splendor_sim as ss
from splendor_sim import records
from splendor_sim.agents import Agent
from splendor_sim.cli import main
from splendor_sim.core.counters import RECORD_DTYPE
from splendor_sim.records import RecordsError, Writer, flat, plan_of, read_metadata, read_row, row_of, unpacked
from splendor_sim.simulate import Plan, play_games

FORMATS = ("parquet", "csv", "jsonl")
JIT_DISABLED = bool(numba.config.DISABLE_JIT)


def plan_of_run(games=300, players=2, agents=None, seed=1, rules="official", rotate=True, max_turns=1000) -> Plan:
    return replace(Plan.of(games, players, agents, seed, rules, rotate, max_turns, "summary"), records=True)


def rows_in(path: Path) -> list[dict]:
    """The rows of a file as its format's own reader has them, as texts by columns."""
    if path.suffix == ".parquet":
        return [{name: text_of(value) for name, value in row.items()} for row in pq.read_table(path).to_pylist()]
    with path.open(newline="") as file:
        if path.suffix == ".csv":
            return list(csv.DictReader(file))
        return [flat(json.loads(line)) for line in file]


def text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def write(plan: Plan, path: Path, rows: np.ndarray) -> Path:
    """A file of any records at all."""
    writer = Writer.to(plan, path, path.with_name("whole"))
    writer.add(rows)
    for whole, name in writer.finish(path, {"schema": 1, "games": len(rows)}):
        os.replace(whole, name)
    return path


@pytest.fixture
def run(capsys):
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


# ------------------------------------------------------------------------------------------------- what the files hold


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    "options",
    [
        {"players": 2},
        {"players": 3, "agents": ["greedy", "random", "greedy"]},
        {"players": 4, "agents": ["random", "greedy", "random", "random"], "rotate": False, "seed": 2**64 - 1},
        {"players": 2, "max_turns": 60, "rules": {"gem_tokens": [1, 1, 1], "reserve_limit": 0}},
    ],
)
def test_every_format_holds_every_game_as_it_was_played(tmp_path, ending, options):
    path = tmp_path / f"games.{ending}"
    ss.simulate(300, records=path, **options)
    plan = plan_of_run(**options)
    played = play_games(plan, 0, 300).records
    assert rows_in(path) == [flat(row_of(plan, record)) for record in played]


def test_a_line_of_json_holds_lists_by_seat_and_the_key_as_a_string(tmp_path):
    path = tmp_path / "games.jsonl"
    ss.simulate(2, 3, ["greedy", "random", "random"], records=path)
    first, second = map(json.loads, path.read_text().splitlines())
    assert list(first) == [
        *("index", "key", "turns", "ending", "winners", "agents", "prestige", "cards", "nobles", "reserves")
    ]
    assert (first["agents"], second["agents"]) == (["greedy", "random", "random"], ["random", "greedy", "random"])
    assert isinstance(first["key"], str) and 0 <= int(first["key"]) < 2**64
    assert first["prestige"][first["winners"][0]] == max(first["prestige"])


def test_a_csv_file_names_its_columns_by_seat(tmp_path):
    ss.simulate(2, records=tmp_path / "games.csv")
    head, *rows = (tmp_path / "games.csv").read_text().splitlines()
    assert head == (
        "index,key,turns,ending,agent_0,won_0,prestige_0,cards_0,nobles_0,reserves_0,"
        "agent_1,won_1,prestige_1,cards_1,nobles_1,reserves_1"
    )
    assert len(rows) == 2


def test_a_parquet_file_has_small_types_and_no_nulls(tmp_path):
    ss.simulate(5, records=tmp_path / "games.parquet")
    schema = pq.read_schema(tmp_path / "games.parquet")
    types = {name: str(schema.field(name).type) for name in ("index", "key", "turns", "won_1", "prestige_0")}
    assert types == {"index": "int64", "key": "uint64", "turns": "uint32", "won_1": "bool", "prestige_0": "uint8"}
    assert not any(field.nullable for field in schema)


@pytest.mark.parametrize("ending", FORMATS)
def test_numbers_of_any_length_are_written_exactly(tmp_path, ending):
    plan = plan_of_run(players=4)
    rows = np.zeros(60, RECORD_DTYPE)
    for place in range(60):
        rows["key"][place] = (10 ** (place // 3) + place % 3 - 1) % 2**64
        rows["index"][place] = min(10**12, 10 ** (place // 4) - place % 2)
        rows["turns"][place] = min(10**6, 10 ** (place // 8) - place % 2)
    rows["key"][0], rows["index"][0], rows["turns"][0] = 2**64 - 1, 10**12, 10**6
    for name in ("prestige", "cards", "nobles", "reserves"):
        rows[name] = np.arange(240, dtype=np.uint8).reshape(60, 4) + 16
    rows["agents"], rows["winners"], rows["ending"] = [3, 2, 1, 0], np.arange(60) % 16, np.arange(60) % 3
    path = write(plan, tmp_path / f"games.{ending}", rows)
    assert rows_in(path) == [flat(row_of(plan, record)) for record in rows]


@pytest.mark.parametrize("ending", FORMATS)
def test_agents_with_options_are_written_whatever_signs_they_have(tmp_path, ending):
    odd = Agent("greedy", (("a", "1"), ("b", '"ü"')))
    plan = replace(plan_of_run(), agents=(odd, Agent("random")))
    rows = play_games(plan_of_run(), 0, 4).records
    path = write(plan, tmp_path / f"games.{ending}", rows)
    assert [row["agent_0"] for row in rows_in(path)] == [odd.spec, "random"] * 2
    assert read_row(path, {"games": 4}, 2)["agent_0"] == odd.spec


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_is_the_same_byte_for_byte_whoever_plays(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(records, "GROUP", 700)

    def written(threads: int, block: int) -> list[bytes]:
        monkeypatch.setattr(sys.modules["splendor_sim.simulate"], "BLOCK", block)
        ss.simulate(3000, 3, seed=4, threads=threads, records=tmp_path / f"games.{ending}", overwrite=True)
        return [path.read_bytes() for path in sorted(tmp_path.iterdir())]

    assert written(1, 4096) == written(2, 333) == written(2, 1000)


def test_row_groups_have_a_fixed_number_of_games(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "GROUP", 700)
    ss.simulate(3000, records=tmp_path / "games.parquet")
    file = pq.ParquetFile(tmp_path / "games.parquet")
    assert [file.metadata.row_group(group).num_rows for group in range(5)] == [700, 700, 700, 700, 200]


# ---------------------------------------------------------------------------------------------------------- metadata


@pytest.mark.parametrize("ending", FORMATS)
def test_metadata_says_all_that_the_games_depend_on_and_nothing_else(tmp_path, ending):
    path = tmp_path / f"games.{ending}"
    rules = {"preset": "basque", "target_prestige": 9}
    ss.simulate(50, 3, ["greedy", "random", "random"], 7, rules, 1, False, 99, records=path)
    found = read_metadata(path)
    text = {"bytes", "sha256"} if ending != "parquet" else set()
    assert found.keys() - text == {
        *("schema", "version", "games", "players", "agents", "seed", "rules", "rotate", "max_turns", "statistics"),
        "totals",
    }
    assert found["version"] == ss.__version__ and found["rules"] == ss.Rules.of(rules).to_dict()
    plan = plan_of(found)
    assert (plan.games, plan.players, plan.seed, plan.rotate, plan.max_turns) == (50, 3, 7, False, 99)
    assert plan.options == ss.Rules.of(rules) and [agent.spec for agent in plan.agents] == found["agents"]


@pytest.mark.parametrize("statistics", ["summary", "full"])
def test_the_totals_of_the_run_can_be_had_from_its_metadata(tmp_path, statistics):
    path = tmp_path / "games.csv"
    result = ss.simulate(200, statistics=statistics, records=path)
    plan = plan_of(read_metadata(path))
    totals, played = unpacked(plan, read_metadata(path)), play_games(plan, 0, 200)
    assert totals.counts.tobytes() == played.counts.tobytes()
    assert totals.by_turns.tolist() == played.by_turns.tolist()
    if statistics == "full":
        assert totals.balance.tobytes() == played.balance.tobytes()
    assert result == ss.simulate(200, statistics=statistics)


def test_what_is_no_file_of_records_is_refused_with_the_reason(tmp_path):
    def reason(name: str) -> str:
        with pytest.raises(RecordsError) as refused:
            read_metadata(tmp_path / name)
        return str(refused.value)

    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(50))
    assert "no Parquet file" in reason("a.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "b.parquet")
    assert "no metadata of a run" in reason("b.parquet")
    for name, text in {"c.csv": "{", "d.csv": "[1]", "e.jsonl": '{"games": "many"}'}.items():
        (tmp_path / name).write_text("")
        (tmp_path / f"{name}.meta.json").write_text(text)
        assert "metadata" in reason(name)
    assert "ends in .parquet, .csv, .jsonl" in reason("games.txt")
    with pytest.raises(FileNotFoundError):
        read_metadata(tmp_path / "missing.csv")


@pytest.mark.parametrize("name", ["games", "games.txt", "games.csv.gz", ".csv"])
def test_a_name_that_says_no_format_is_refused_before_the_games(tmp_path, name):
    with pytest.raises(RecordsError, match=r"ends in \.parquet, \.csv, \.jsonl"):
        ss.simulate(10**12, records=tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_parquet_without_pyarrow_is_refused_before_the_games_and_the_rest_works(tmp_path, monkeypatch, run):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    code, out, err = run("run", "-n", 10**12, "--records", tmp_path / "games.parquet")
    assert (code, out) == (1, "")
    assert "pip install 'splendor-sim[parquet]'" in err and err.count("\n") == 1
    assert os.listdir(tmp_path) == []
    for ending in ("csv", "jsonl"):
        assert run("run", "-n", 10, "--records", tmp_path / f"games.{ending}")[0] == 0


# ------------------------------------------------------------------------------------------------------------- replay


@pytest.mark.kernel
@pytest.mark.parametrize("agents", [["random"] * 2, ["greedy", "random", "random"], ["greedy"] * 4])
def test_a_game_that_is_played_again_ends_as_in_its_block(agents):
    games = 2 if JIT_DISABLED else 12
    plan = plan_of_run(games, len(agents), agents, seed=2**63 + 1, rules={"payment": "choice"})
    metadata = {**records.identity(plan), "games": games}
    for index, record in enumerate(play_games(plan, 0, games).records):
        assert ss.replay(metadata, index).row == row_of(plan, record)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_game_of_a_file_can_be_played_again(tmp_path, ending):
    path = tmp_path / f"games.{ending}"
    ss.simulate(40, 3, ["greedy", "random", "random"], seed=5, rotate=False, max_turns=70, records=path)
    found = [ss.replay(path, index) for index in range(40)]
    assert [game.row["index"] for game in found] == list(range(40))
    assert {game.row["ending"] for game in found} == {"finished", "truncated"}


@pytest.mark.kernel
def test_decisions_and_cards_lead_from_the_opening_to_the_end_whatever_the_hidden_order():
    metadata = {**records.identity(plan_of_run(agents=["greedy", "random"])), "games": 9}
    found = ss.replay(metadata, 7)
    game = ss.Game.from_position(found.opening.position(), seed=99)
    for turn, seat, action, card in found.decisions:
        assert (game.turn, game.seat_to_move) == (turn, seat)
        game.apply(action, card)
    assert game.position() == found.game.position()
    assert game.is_over and game.winners() == found.row["winners"]


@pytest.mark.parametrize("ending", FORMATS)
def test_a_record_that_its_game_does_not_end_like_is_refused_with_both_values(tmp_path, ending):
    plan = plan_of_run(5)
    rows = play_games(plan, 0, 5).records.copy()
    turns = int(rows["turns"][3])
    rows["turns"][3] += 1
    path = write(plan, tmp_path / f"games.{ending}", rows)
    metadata = {**records.identity(plan), "games": 5}
    if ending == "parquet":
        writer = Writer.to(plan, path, path)
        writer.add(rows)
        writer.finish(path, metadata)
    else:
        records.beside(path).write_text(json.dumps(metadata))
    assert ss.replay(path, 2).row["turns"] == rows["turns"][2]
    with pytest.raises(RecordsError, match=f"version {ss.__version__}, says: turns is {turns}, not {turns + 1}$"):
        ss.replay(path, 3)


def test_a_row_that_cannot_be_read_is_refused(tmp_path):
    path = tmp_path / "games.jsonl"
    ss.simulate(3, records=path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:40])
    for index in (1, 2):
        with pytest.raises(RecordsError, match=f"the row of game {index} cannot be read"):
            ss.replay(path, index)


@pytest.mark.parametrize("index", [-1, 3, True, 1.0, "1", None])
def test_an_index_of_no_game_is_refused(tmp_path, index):
    path = tmp_path / "games.csv"
    ss.simulate(3, records=path)
    with pytest.raises(RecordsError, match="holds games 0 to 2" if index == 3 else "whole number from 0 on"):
        ss.replay(path, index)


def test_metadata_of_another_schema_or_of_no_run_is_refused():
    good = {**records.identity(plan_of_run()), "games": 9}
    for change, told in [({"schema": 2}, "schema 2"), ({"players": 7}, "players"), ({"seed": None}, "seed")]:
        with pytest.raises(RecordsError, match=told):
            ss.replay({**good, **change}, 0)
    with pytest.raises(RecordsError, match="lacks 'rules'"):
        ss.replay({name: value for name, value in good.items() if name != "rules"}, 0)


def test_replay_prints_a_game_decision_by_decision(tmp_path, run):
    path = tmp_path / "games.parquet"
    assert run("run", "-n", 20, "-s", 3, "--records", path)[0] == 0
    code, out, err = run("replay", path, "--index", 17)
    assert (code, err) == (0, "")
    found = ss.replay(path, 17)
    for decision in found.decisions:
        assert any(decision.action in line for line in out.splitlines())
    assert out.endswith(f"finished after {found.game.turn} turns, as recorded\n")


def test_replay_prints_one_json_object(tmp_path, run):
    path = tmp_path / "games.csv"
    assert run("run", "-n", 20, "-s", 3, "--records", path)[0] == 0
    found = json.loads(run("replay", path, "-i", 4, "--json")[1])
    assert found["index"] == 4 and found["ending"] == "finished"
    assert found["decisions"][0].keys() == {"turn", "seat", "action", "card"}
    game = ss.Game.from_position(found["opening"])
    for decision in found["decisions"]:
        game.apply(decision["action"], decision["card"])
    assert game.position() == found["end"]


def test_replay_refuses_in_one_line(tmp_path, run):
    path = tmp_path / "games.csv"
    assert run("run", "-n", 2, "-s", 3, "--records", path)[0] == 0
    for arguments, code, told in [
        ((path, "-i", 2), 1, "holds games 0 to 1"),
        ((tmp_path / "no.csv", "-i", 0), 2, "does not exist"),
        ((path,), 2, "--index"),
    ]:
        found, out, err = run("replay", *arguments)
        assert (found, out) == (code, "")
        assert told in err and err.startswith("error: ") and err.count("\n") == 1
    (tmp_path / "games.csv.meta.json").unlink()
    assert run("replay", path, "-i", 0)[0] == 1
