"""Matches and tournaments: deals in all orders of seats, early ends, agents that are Python classes."""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import splendor_sim as ss
from splendor_sim.agents import AgentError
from splendor_sim.arena import match, match_plan, shares_of, totals_of, tournament
from splendor_sim.cli import main
from splendor_sim.outsiders import View, seen
from splendor_sim.ratings import RatingError
from splendor_sim.records import RecordsError
from splendor_sim.simulate import SimulationError, play_games

EXAMPLES = Path(__file__).parent.parent / "examples"

AGENTS = '''
"""Agents that fail in every way."""
import os, subprocess, sys, time

class Fair:
    def __init__(self, players, rules):
        assert players in (2, 3) and rules == "official"
        self.games = 0

    def start(self, seat, seed):
        self.games += 1
        self.seat = seat

    def choose(self, view):
        assert view.seat == self.seat and view.observation.sum() > 0
        return view.legal_actions[0]

class Loop(Fair):
    def choose(self, view):
        while True:
            pass

class Sleep(Fair):
    def choose(self, view):
        time.sleep(1000)

class Raise(Fair):
    def choose(self, view):
        raise KeyError("no idea")

class Exit(Fair):
    def choose(self, view):
        sys.exit(3)

class Die(Fair):
    def choose(self, view):
        os._exit(7)

class Print(Fair):
    def choose(self, view):
        print("x" * 100_000)
        os.write(1, b"{}\\n" * 1000)
        return super().choose(view)

class Names(Fair):
    def choose(self, view):
        import splendor_sim as ss
        return ss.action_name(view.legal_actions[-1])

class Nonsense(Fair):
    def choose(self, view):
        return {"action": 3}

class Illegal(Fair):
    def choose(self, view):
        return "noble 5"

class Unmade:
    def __init__(self, players, rules):
        raise RuntimeError("not today")

    def choose(self, view):
        return 0

class Mute:
    def __init__(self, players, rules):
        pass

class Child(Fair):
    def choose(self, view):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        with open("child", "w") as file:
            file.write(str(child.pid))
        time.sleep(1000)
'''


@pytest.fixture
def agents(tmp_path, monkeypatch):
    """The folder with the agents, as the current one."""
    (tmp_path / "some_agents.py").write_text(AGENTS)
    (tmp_path / "broken_agents.py").write_text("import there_is_no_such_module\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ------------------------------------------------------------------------------------------------------------- matches


@pytest.mark.parametrize("players", [2, 3])
def test_a_match_is_the_same_on_any_number_of_threads(players):
    one, two = (match("guide", "greedy", 150, players, seed=4, threads=threads).to_dict() for threads in (1, 2))
    assert one == two == json.loads(json.dumps(one))
    assert one["games"] == 150 * players and sum(one["pairs"] or [150]) == 150
    assert one["won"] + one["lost"] + one["shared"] + one["truncated"] == one["games"]


def test_an_agent_against_itself_without_chance_scores_a_half_on_every_deal():
    found = match("greedy", "greedy", 200)
    assert found.pairs is not None and found.pairs[2] == 200
    assert found.strength.share.value == 0.5 and found.strength.elo.value == 0 and found.strength.superiority == 0.5
    assert found.strength.share.low < 0.5 < found.strength.share.high


def test_a_truncated_game_counts_the_same_for_every_seat():
    found = match("greedy", "random", 20, max_turns=3)
    assert found.truncated == 40 and found.strength.share.value == 0.5 and found.lost == found.won == 0


def test_a_test_ends_the_match_after_the_same_deals_on_any_number_of_threads():
    one, two = (match("guide", "greedy", 100_000, sprt=(0, 20), threads=threads) for threads in (1, 2))
    assert one == two and one.deals < 1000
    assert one.sprt is not None and one.sprt.accepted == 20 and one.sprt.llr >= one.sprt.upper
    assert match("guide", "greedy", one.deals).pairs == one.pairs


def test_records_of_a_match_can_be_played_again(tmp_path):
    path = tmp_path / "games.csv"
    found = match("guide", "greedy:epsilon=0.2", 100_000, sprt=(0, 20), records=path)
    rows = path.read_text().splitlines()
    assert len(rows) == 1 + found.games and len({row.split(",")[1] for row in rows[1:]}) == found.deals
    assert [ss.replay(path, index).row["agents"] for index in (0, 1)] == [
        ["guide", "greedy:epsilon=0.2"],
        ["greedy:epsilon=0.2", "guide"],
    ]
    with pytest.raises(RecordsError, match="exists already"):
        match("guide", "greedy", 10, records=path)
    assert match("guide", "greedy", 10, records=path, overwrite=True).games == len(path.read_text().splitlines()) - 1


def test_games_with_search_can_be_played_again_decision_by_decision(tmp_path):
    path = tmp_path / "games.jsonl"
    match("mcts:simulations=8", "mcts:simulations=5,turns=1", 1, seed=3, records=path)
    assert [ss.replay(path, index).row["turns"] for index in (0, 1)] == [
        json.loads(line)["turns"] for line in path.read_text().splitlines()
    ]


def test_totals_from_records_are_those_of_the_kernels():
    plan, _ = match_plan("guide", "random", 40, 3, 1, "official", 90, None)
    played = play_games(plan, 0, plan.games)
    found = totals_of(plan, played.records)
    assert found.counts.tobytes() == played.counts.tobytes() and found.by_turns.tolist() == played.by_turns.tolist()
    assert (shares_of(plan, played.records).sum(axis=1) == 12).all()


@pytest.mark.parametrize(
    "given, error",
    [
        ({"sprt": (5, 0)}, RatingError),
        ({"sprt": (0, math.inf)}, RatingError),
        ({"sprt": 5}, SimulationError),
        ({"sprt": (0, 5), "players": 3}, SimulationError),
        ({"deals": 0}, SimulationError),
        ({"limit": 0}, SimulationError),
        ({"b": "gredy"}, AgentError),
        ({"overwrite": True}, SimulationError),
    ],
)
def test_what_makes_no_sense_is_refused(given, error):
    with pytest.raises(error):
        match(**{"a": "random", "b": "random", "deals": 10, **given})


# ---------------------------------------------------------------------------------------------------------- tournaments


@pytest.mark.parametrize("players", [2, 3])
def test_a_tournament_ranks_agents_and_is_the_same_on_any_number_of_threads(players):
    specs = ["random", "guide", "greedy"]
    one, two = (tournament(specs, 60, players, threads=threads) for threads in (1, 2))
    assert one == two and one.to_dict() == json.loads(json.dumps(two.to_dict()))
    assert [found.spec for found in one.standings] == ["guide", "greedy", "random"]
    assert sum(found.rating.value for found in one.standings) == pytest.approx(0, abs=1e-6)
    assert one.games == 60 * (3 * 2 if players == 2 else 6)


def test_a_pair_of_a_tournament_is_the_match_of_the_two():
    found = tournament(["random", "guide", "greedy"], 50, seed=3)
    assert found.pairs is not None and found.pairs[1][2] == match("guide", "greedy", 50, seed=3).strength
    assert found.pairs[1][1] is None


@pytest.mark.parametrize("specs", ["random", ["random"], ["random", "gredy"], ["random"] * 33])
def test_a_tournament_needs_as_many_agents_as_seats(specs):
    with pytest.raises((SimulationError, AgentError)):
        tournament(specs, 10)


# ------------------------------------------------------------------------------------------------------- Python classes


def test_a_class_takes_part_and_what_it_prints_does_no_harm(agents):
    found = match("some_agents:Print", "some_agents:Names", 1, threads=1, max_turns=6, records=agents / "games.jsonl")
    assert found.complaints == () and found.truncated == 2
    with pytest.raises(RecordsError, match="cannot be played again"):
        ss.replay(agents / "games.jsonl", 0)


@pytest.mark.parametrize(
    "name, told",
    [
        ("Loop", "did not answer within 0.3 s"),
        ("Raise", "KeyError: 'no idea'"),
        ("Exit", "SystemExit: 3"),
        ("Die", "exit code 7"),
        ("Nonsense", "{'action': 3}, which is no decision"),
        ("Illegal", "'noble 5' is not legal"),
    ],
)
def test_a_class_that_fails_loses_the_game_and_it_is_said_why(agents, name, told):
    limit = 0.3 if name == "Loop" else 10
    found = match(f"some_agents:{name}", "random", 1, threads=1, limit=limit, max_turns=20, records=agents / "g.jsonl")
    assert found.forfeited == (2, 0) and found.strength.share.value == 0 and found.lost == 2
    assert all(told in text and f"some_agents:{name} at seat" in text for text in found.complaints)
    row = json.loads((agents / "g.jsonl").read_text().splitlines()[1])
    assert row["ending"] == "forfeited" and row["winners"] == [0]


@pytest.mark.parametrize(
    "spec, told",
    [
        ("broken_agents:Fair", "there_is_no_such_module"),
        ("missing_agents:Fair", "missing_agents"),
        ("some_agents:Absent", "Absent"),
        ("some_agents:Unmade", "not today"),
        ("some_agents:Mute", "no method choose"),
    ],
)
def test_a_class_that_cannot_begin_ends_the_match(agents, spec, told):
    with pytest.raises(AgentError, match=f"cannot begin: .*{told}"):
        match(spec, "random", 5, threads=1, max_turns=4)


def test_processes_of_a_class_that_is_stopped_are_ended_with_their_children(agents):
    match("some_agents:Child", "random", 1, threads=1, limit=1.5)
    pid, until = int((agents / "child").read_text()), time.monotonic() + 5
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_view_tells_nothing_that_its_seat_does_not_know():
    game = ss.Game(3, seed=5)
    for action in ("reserve 3.deck", "reserve 1.deck", "reserve 2.1"):
        game.apply(action)
    for seat in range(3):
        other = game.determinize(seat, 99)
        assert other.position() != game.position()
        assert seen(game, seat) == seen(other, seat)
        view = View(**seen(game, seat))
        for seed in range(3):
            possible = view.determinize(seed)
            assert seen(possible, seat) == seen(game, seat)
        assert view.determinize(1).position() == view.determinize(1).position() != view.determinize(2).position()


def test_games_of_a_class_are_those_of_the_kernel_that_decides_alike(agents):
    (agents / "same.py").write_text(
        "from splendor_sim.stepwise import decide\nfrom splendor_sim.agents import parse_agent\n"
        "import numpy as np\n"
        "class Greedy:\n    def __init__(self, players, rules): self.agent = parse_agent('greedy')\n"
        "    def choose(self, view): return decide(self.agent, view.determinize(1).state, np.uint64(0))\n"
    )
    one, two = (match(a, "guide", 2, threads=1, seed=6) for a in ("same:Greedy", "greedy"))
    assert (one.pairs, one.by_seat, one.turns) == (two.pairs, two.by_seat, two.turns) and one.complaints == ()


def test_the_example_wins_against_random(monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    found = match("patient:Patient", "random", 3, threads=1)
    assert found.complaints == () and found.won >= 5


# ---------------------------------------------------------------------------------------------------- the command line


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_match_says_how_to_play_it_again_and_does(capsys, tmp_path):
    code, out, err = run(capsys, "match", "guide", "greedy", "--sprt", "0,20", "--out", tmp_path / "out.json")
    assert code == 0 and err == "" and "20 Elo" in out
    again = shlex.split(out.splitlines()[-1].removeprefix("again: splendor-sim "))
    code, out, _ = run(capsys, *again, "--json")
    there, here = json.loads((tmp_path / "out.json").read_text()), json.loads(out)
    assert code == 0 and {**there, "sprt": None} == here


def test_a_tournament_is_that_of_the_library(capsys):
    code, out, _ = run(capsys, "tournament", "random", "greedy", "guide", "-n", 20, "-p", 3, "-s", 5, "--json")
    assert code == 0 and json.loads(out) == tournament(["random", "greedy", "guide"], 20, 3, seed=5).to_dict()
    code, out, _ = run(capsys, "tournament", "random", "greedy", "-n", 20)
    assert code == 0 and "1  greedy" in out and "again: splendor-sim tournament random greedy --deals 20" in out


@pytest.mark.parametrize(
    "line, told, wrong_usage",
    [
        ("match random", "B", True),
        ("match random gredy", "the agents are random, greedy", True),
        ("match random random --sprt 5", "ELO0,ELO1", True),
        ("match random random --alpha 0.1", "--sprt", True),
        ("match random random --overwrite", "--records", True),
        ("match random random --limit 0", "limit", True),
        ("match random missing:Agent", "cannot begin", False),
        ("tournament random", "2 seats needs 2 to", True),
    ],
)
def test_a_mistake_is_told_in_a_line(capsys, line, told, wrong_usage):
    code, out, err = run(capsys, *line.split(), *(["-n", 5] if " -n" not in line else []))
    assert (code, out) == (2 if wrong_usage else 1, "") and told in err and err.count("\n") == 1


def test_a_tournament_can_be_the_first_thing_that_a_process_does():
    program = "import sys; from splendor_sim.cli import main; sys.exit(main())"
    words = ["tournament", "random", "greedy", "guide", "--deals", "20", "--seed", "1", "--quiet"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "") and "guide" in done.stdout


def test_an_interrupt_reports_what_is_finished_while_a_class_thinks(agents):
    (agents / "slow.py").write_text(
        "import time\nclass Slow:\n    def __init__(self, **_): self.games = 0\n"
        "    def start(self, seat, seed): self.games += 1\n"
        "    def choose(self, view):\n        if self.games == 3:\n            open('thinks', 'w')\n"
        "            time.sleep(1000)\n        return view.legal_actions[0]\n"
    )
    words = ["match", "slow:Slow", "random", "-n", "50", "-t", "1", "--max-turns", "4", "--limit", "500", "--json"]
    # A shell starts what it puts in the background deaf to interrupts, and so all that this starts.
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{hear}; import sys; from splendor_sim.cli import main; sys.exit(main())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES.parent), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        until = time.monotonic() + 60
        while not (agents / "thinks").exists():
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130 and "of the 2 deals finished out of 50" in err
    assert json.loads(out)["games"] == 4
