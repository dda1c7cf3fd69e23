"""The program `splendor-sim`: what it prints, writes and refuses, and how it ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numba
import pytest

import splendor_sim as ss
from games import POSITIONS
from splendor_sim.cli import COMMANDS, main

PROGRAM = "import sys; from splendor_sim.cli import main; sys.exit(main())"
OPENING = POSITIONS[0]


@pytest.fixture
def run(capsys):
    """`run(arguments)`: exit code, standard output and standard error of the program, in this process."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def opening(tmp_path: Path) -> Path:
    path = tmp_path / "opening.json"
    path.write_text(json.dumps(OPENING["position"]))
    return path


def start(*arguments: str, before: str = "", **how) -> "subprocess.Popen[str]":
    """Start the program in a process of its own, whatever the signals of this one are."""
    return subprocess.Popen(
        [sys.executable, "-c", before + PROGRAM, *arguments],
        stdout=how.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        encoding=how.pop("encoding", "utf-8"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **how,
    )


# ------------------------------------------------------------------------------------------------- help and mistakes


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"splendor-sim {command} " in out.partition("Example")[2]


def test_the_program_lists_its_commands(run):
    code, out, _ = run("--help")
    assert code == 0
    assert [line.split()[0] for line in out.partition("Commands:\n")[2].splitlines()] == list(COMMANDS)


def test_nothing_at_all_is_wrong_usage_and_shows_the_help(run):
    code, out, _ = run()
    assert code == 2 and "Commands:" in out


def test_the_version_is_told(run):
    assert run("--version") == (0, f"splendor-sim {ss.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("rnu", "the commands are run"),
        ("run -players=2,3", "--players"),
        ("run -seed 4", "--seed"),
        ("run --game 5", "--game"),
        ("run --games x", "--games"),
        ("run --games 0", "games must be"),
        ("run --games 1.5", "--games"),
        ("run --players 5", "players must be 2, 3 or 4, not 5"),
        ("run --players 3 --agent random --agent random", "3 seats need 3 agents"),
        ("run --agent random", "once a seat"),
        ("run --agent gredy --agent random", "the agents are random, greedy"),
        ("run --seed -1", "seed"),
        ("run --seed 18446744073709551616", "seed"),
        ("run --threads 0", "threads must be"),
        ("run --max-turns 0", "max_turns must be"),
        ("run --rules officail", "the presets are"),
        ("run --rules {", "no JSON"),
        ("run --rules @no-such-file", "cannot be read"),
        ("run --rule target_prestige=99", "from 1 to 60, not 99"),
        ("run --rule target=9", "unknown rule option 'target'"),
        ("run --rule 9", "option=value"),
        ("run 1000", "1000"),
        ("legal", "POSITION.json"),
        ("legal no-such-file", "No such file"),
        ("perft no-such-file", "No such file"),
        ("perft - --depth 0", "--depth"),
        ("bench --fast", "--fast"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_2(run, arguments, told):
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and err.endswith("--help)\n")
    assert told in err


# --------------------------------------------------------------------------------------------------------------- run


def test_run_prints_who_won_and_how_to_do_it_again(run):
    code, out, err = run("run", "--games", 3000, "--agent", "greedy", "--agent", "random", "--seed", 5, "--quiet")
    assert (code, err) == (0, "")
    result = ss.simulate(3000, agents=["greedy", "random"], seed=5)
    for part in ("3,000 games of 2 seats, seed 5", "agent 0  greedy", "seat 0  begins", "deadlocked", "games/s"):
        assert part in out
    for row in (row for table in result.tables() for group in table.groups for row in group):
        assert any([*line.split()] == " ".join(row).split() for line in out.splitlines()), row
    assert "again: splendor-sim run --games 3000 --players 2 --agent greedy --agent random --seed 5\n" in out
    assert max(map(len, out.partition("again:")[0].splitlines())) <= 80


def test_run_prints_one_json_object_that_is_the_result(run):
    code, out, err = run("run", "-n", 500, "-p", 3, "-s", 2**64 - 1, "-t", 1, "--json", "--quiet")
    assert (code, err) == (0, "")
    assert json.loads(out) == ss.simulate(500, 3, seed=2**64 - 1).to_dict()


def test_the_command_that_is_printed_plays_the_same_games(run, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"preset": "basque"}')
    first = tmp_path / "first.json"
    code, out, _ = run(
        *("run", "--games", 300, "--no-rotate", "--max-turns", 400, "--rules", f"@{rules}", "--rule", "end=immediate"),
        *("--rule", "gem_tokens=[5,5,5]", "--out", first),
    )
    assert code == 0
    again = shlex.split(out.partition("again: splendor-sim ")[2])
    code, out, _ = run(*again, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(first.read_text())
    assert json.loads(out)["rule_options"]["gem_tokens"] == [5, 5, 5]


def test_a_seed_that_is_left_out_is_drawn_and_told(run):
    seeds = {json.loads(run("run", "-n", 10, "--json")[1])["seed"] for _ in range(3)}
    assert len(seeds) == 3
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_a_result_file_is_written_whole_and_nothing_else_is_left(run, tmp_path):
    out = tmp_path / "result.json"
    out.write_text("old")
    assert run("run", "-n", 100, "-s", 1, "--out", out)[0] == 0
    assert json.loads(out.read_text()) == ss.simulate(100).to_dict()
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_result_file_that_could_not_be_written_is_refused_before_the_games(run, tmp_path):
    for out in (tmp_path, tmp_path / "missing" / "result.json"):
        code, said, err = run("run", "--games", 10**12, "--out", out)
        assert (code, said) == (1, "")
        assert err.startswith("error: ") and "cannot be written" in err and err.count("\n") == 1


def test_a_result_file_behind_a_link_is_written_and_the_link_stays(run, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "folder/result.json")
    assert run("run", "-n", 10, "-s", 1, "--out", tmp_path / "link.json")[0] == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "folder/result.json").read_text())["games"] == 10


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full disk to write to")
def test_a_result_that_cannot_be_written_after_all_is_printed_and_told(run):
    code, out, err = run("run", "-n", 10, "--out", "/dev/full")
    assert code == 1 and "10 games of 2 seats" in out
    assert err == "error: /dev/full cannot be written: No space left on device\n"
    assert not Path("/dev/full").is_file()


def test_more_threads_than_processors_are_clamped_with_a_note(run):
    code, _, err = run("run", "-n", 10, "--threads", 5000)
    assert code == 0
    assert err.startswith("note: 5,000 threads were asked for") and err.count("\n") == 1
    assert run("run", "-n", 10, "--threads", 5000, "--quiet")[2] == ""


def test_a_warning_is_one_line_on_standard_error(run, monkeypatch):
    def warn(*_: object) -> None:
        warnings.warn("something\nodd", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr("splendor_sim.cli.run.draw_seed", lambda: warn() or 1)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run("run", "-n", 1)[2] == "warning: something odd\n"


# --------------------------------------------------------------------------------------------------- legal and perft


def test_legal_names_one_decision_a_line_with_its_id(run, opening):
    code, out, err = run("legal", opening)
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [name for _, name in lines] == OPENING["legal"]
    assert [ss.action_name(int(number)) for number, _ in lines] == OPENING["legal"]


def test_legal_prints_one_json_object(run, opening):
    found = json.loads(run("legal", opening, "--json")[1])
    assert found["legal"] == OPENING["legal"]
    assert (found["seat"], found["phase"], len(found["ids"])) == (0, "main", 30)


def test_perft_counts_sequences(run, opening):
    assert run("perft", opening, "--depth", 1) == (0, "405\n", "")
    assert json.loads(run("perft", opening, "--depth", 2, "--json")[1]) == {"depth": 2, "perft": 162_040}


@pytest.mark.parametrize("depth", [1, 2])
def test_perft_divides_by_the_first_decision(run, opening, depth):
    found = json.loads(run("perft", opening, "--depth", depth, "--divide", "--json")[1])
    assert list(found["divide"]) == OPENING["legal"]
    assert sum(found["divide"].values()) == found["perft"] == OPENING["perft"][depth - 1]
    out = run("perft", opening, "--depth", depth, "--divide")[1]
    assert out.endswith(f"\ntotal: {found['perft']:,}\n") and "take wug: " in out


@pytest.mark.parametrize("command", [["legal"], ["perft", "--depth", "1"]])
def test_a_dash_reads_the_position_from_standard_input(run, monkeypatch, opening, command):
    with opening.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert run(*command, "-") == run(*command, opening)


@pytest.mark.parametrize("command", [["legal"], ["perft", "--depth", "1"]])
@pytest.mark.parametrize(
    "text, told",
    [
        ("{", "is no JSON"),
        ("", "is no JSON"),
        ("[]", "known keys and types"),
        (json.dumps({**OPENING["position"], "rules": "officail"}), "the presets are"),
        (json.dumps({**OPENING["position"], "bank": [4, 4, 4, 4, 4, 4]}), "tokens"),
    ],
)
def test_a_broken_position_is_refused_in_one_line_with_the_law(run, tmp_path, command, text, told):
    path = tmp_path / "broken.json"
    path.write_text(text)
    code, out, err = run(*command, path)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {path}") and told in err and err.count("\n") == 1


# ------------------------------------------------------------------------------------------------------------- bench


def test_bench_measures_and_proves_which_games_were_played(run):
    code, out, err = run("bench", "--quick", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["seats"] for row in found["games"]] == [2, 3, 4]
    assert all(value > 0 for row in found["games"] for value in row.values())
    assert {"copy", "legal_mask", "step", "determinize", "observe"} == found["states"].keys()
    assert {"cpu", "python", "numba"} < found["machine"].keys()
    from splendor_sim.bench import fingerprint, tables

    assert found["fingerprint"] == fingerprint()
    assert "speed-up" in str(tables(found)[0])


# ------------------------------------------------------------------------------------- as a process among processes


def test_an_interrupt_ends_a_run_within_a_second_and_keeps_what_is_finished():
    # It says when the first block of games is there, so that the signal comes in the middle.
    loud = """
import sys
from splendor_sim.simulate import Tally
def add(self, block, quietly=Tally.add):
    quietly(self, block)
    print("playing", file=sys.stderr, flush=True)
Tally.add = add
"""
    process = start("run", "--games", str(10**12), "--seed", "3", "--json", "--quiet", before=loud)
    assert process.stderr is not None
    assert process.stderr.readline() == "playing\n"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 5, "an interrupt took long"
    assert process.returncode == 130
    result = json.loads(out)
    assert result == ss.simulate(result["games"], seed=3).to_dict()
    assert err.splitlines()[-1].startswith(f"interrupted: this is of the {result['games']:,} games finished")
    assert "Traceback" not in err


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_an_interrupt_ends_the_compiler_too(tmp_path):
    process = start("run", "--games", "1000", env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
    assert process.stderr is not None
    assert process.stderr.readline().startswith("note: compiling")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 5, "an interrupt took long"
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")


def test_a_closed_pipe_is_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    process = start("run", "--games", "10", "--quiet", stdout=writing)
    os.close(writing)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert "Traceback" not in err and "Exception" not in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full disk to write to")
def test_a_full_disk_is_one_line_and_exit_1():
    with open("/dev/full", "w") as full:
        process = start("run", "--games", "10", "--json", "--quiet", stdout=full)
        err = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert err.startswith("error: No space left") and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_a_process_with_one_processor_plays_on_one_thread():
    pinned = "import os\nos.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    process = start("run", "--games", "100", "--threads", "8", before=pinned)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert err == "note: 8 threads were asked for; this process may use 1, so 1 play\n"
    assert "s on 1 thread:" in out


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_output_of_few_characters_is_no_end(encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    process = start("run", "--games", "10", "--quiet", env=environment, encoding=encoding)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "agent 0  random" in out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no such terminals")
def test_progress_is_shown_on_a_terminal_and_never_in_the_output():
    terminal, its_other_end = os.openpty()
    command = [sys.executable, "-c", PROGRAM, "run", "--games", "1000", "--seed", "1", "--json"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its_other_end, env=environment)
    out = process.communicate(timeout=120)[0]
    os.close(its_other_end)
    shown = os.read(terminal, 65536)
    os.close(terminal)
    assert process.returncode == 0
    assert json.loads(out) == ss.simulate(1000, seed=1).to_dict()
    assert b"of 1,000 games" in shown
