"""Runs with records that are stopped, killed or damaged, and continued: what is finished stays, to the same bytes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import splendor_sim as ss
from splendor_sim import long_runs, records
from splendor_sim.cli import main
from splendor_sim.long_runs import Recording, begun_as
from splendor_sim.records import RecordsError
from splendor_sim.simulate import Plan

FORMATS = ("parquet", "csv", "jsonl")
PROGRAM = "import sys; from splendor_sim.cli import main; sys.exit(main())"
# Small parts, and a word when one is on the disk.
LOUD = """
import sys
from splendor_sim import long_runs
long_runs.PART = 10_000
def store(self, blocks, quietly=long_runs.Recording._store):
    quietly(self, blocks)
    print("part", file=sys.stderr, flush=True)
long_runs.Recording._store = store
"""


@pytest.fixture
def small(monkeypatch):
    """Parts and row groups of few games, in this process."""
    monkeypatch.setattr(long_runs, "PART", 1000)
    monkeypatch.setattr(records, "GROUP", 700)
    monkeypatch.setattr(sys.modules["splendor_sim.simulate"], "BLOCK", 300)


@pytest.fixture
def run(capsys):
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def start(*arguments: object, before: str = "", **how) -> "subprocess.Popen[str]":
    """Start the program in a process of its own, whatever the signals of this one are."""
    return subprocess.Popen(
        [sys.executable, "-c", before + PROGRAM, *map(str, arguments)],
        stdout=how.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=how.pop("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)),
        **how,
    )


def files(path: Path) -> dict[str, bytes]:
    """The file of records and what lies beside it."""
    return {
        found.name: found.read_bytes()
        for found in sorted(path.parent.iterdir())
        if found.name.startswith(path.name) and found.is_file()
    }


def straight(path: Path, games: int, **options) -> dict[str, bytes]:
    """What a run without interruption writes."""
    there = path.parent / "straight"
    there.mkdir(exist_ok=True)
    ss.simulate(games, records=there / path.name, overwrite=True, threads=1, **options)
    return files(there / path.name)


def interrupt(path: Path, games: int, after: int, **options) -> None:
    """Stop a run when so many games are finished."""

    def stop(done: int, _: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.simulate(games, records=path, progress=stop, threads=2, **options)


def parts(path: Path) -> list[Path]:
    return sorted(path.with_name(f"{path.name}.parts").glob("*.part"))


def kept(path: Path) -> int:
    """How many games the parts hold."""
    ranges = [tuple(map(int, part.stem.split("-"))) for part in parts(path)]
    assert [first for first, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
    return ranges[-1][1]


# -------------------------------------------------------------------------------------------- signals, in the middle


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_by_a_signal_is_continued_to_the_same_bytes(tmp_path, ending, sign):
    path = tmp_path / f"games.{ending}"
    process = start("run", "-n", 10**12, "-s", 3, "--records", path, "--quiet", before=LOUD)
    assert process.stderr is not None
    for _ in range(3):
        assert process.stderr.readline() == "part\n"
    process.send_signal(sign)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 5, "the end took long"
    assert not path.exists() and kept(path) >= 30_000
    games = kept(path) + 12_345
    if sign == signal.SIGINT:
        assert process.returncode == 130
        told, how = err.replace("part\n", "").splitlines()
        assert told == f"interrupted: this is of the {kept(path):,} games finished out of {10**12:,}"
        assert how == (
            f"to go on: splendor-sim run --games {10**12} --players 2 --seed 3 --records {path} --resume"
        )  # fmt: skip
    result = ss.simulate(games, seed=3, records=path, resume=True)
    assert files(path) == straight(path, games, seed=3)
    assert result == ss.simulate(games, seed=3)
    assert not parts(path) and sorted(found.name for found in tmp_path.iterdir()) == [*files(path), "straight"]


def test_an_interrupt_before_the_first_game_leaves_nothing(tmp_path):
    waiting = (
        "import time\nfrom splendor_sim import simulate\nimport sys\nmodule = sys.modules['splendor_sim.simulate']\n"
    )
    waiting += "def prepare(plan, stop):\n print('here', file=sys.stderr, flush=True)\n stop.wait()\n"
    waiting += "module.prepare = prepare\n"
    process = start("run", "-n", 10**12, "--records", tmp_path / "games.csv", before=waiting)
    assert process.stderr is not None
    while process.stderr.readline() != "here\n":
        pass
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "error: interrupted\n")
    assert process.returncode == 130 and os.listdir(tmp_path) == []


def test_the_program_goes_on_with_the_seed_that_was_drawn(tmp_path, run):
    path = tmp_path / "games.csv"
    assert run("run", "-n", 500, "--records", path)[0] == 0
    seed = begun_as(path)["seed"]
    code, out, _ = run("run", "-n", 900, "--records", path, "--resume", "--json")
    assert code == 0 and json.loads(out) == ss.simulate(900, seed=seed).to_dict()
    assert files(path) == straight(path, 900, seed=seed)


def test_a_closed_pipe_loses_no_record(tmp_path):
    path = tmp_path / "games.csv"
    reading, writing = os.pipe()
    os.close(reading)
    process = start("run", "-n", 5000, "-s", 3, "--records", path, "--quiet", stdout=writing)
    os.close(writing)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 1 and err.count("\n") <= 1 and "Traceback" not in err
    assert files(path) == straight(path, 5000, seed=3)


# ------------------------------------------------------------------------------------------ continued in this process


@pytest.mark.parametrize("ending", FORMATS)
def test_a_run_may_be_stopped_many_times(tmp_path, small, ending):
    path = tmp_path / f"games.{ending}"
    interrupt(path, 9000, 1500)
    interrupt(path, 9000, 2500, resume=True)
    interrupt(path, 9000, 6000, resume=True)
    assert not path.exists() and 6000 <= kept(path) < 9000
    assert ss.simulate(9000, records=path, resume=True) == ss.simulate(9000)
    assert files(path) == straight(path, 9000)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_finished_run_is_extended_from_its_file_alone(tmp_path, small, ending):
    path = tmp_path / f"games.{ending}"
    agents = ["greedy", "random", "random"]
    for games in (1, 650, 1400, 3001, 3001):
        result = ss.simulate(games, 3, agents, records=path, resume=True)
        assert result == ss.simulate(games, 3, agents)
        assert files(path) == straight(path, games, players=3, agents=agents)
    assert result.games_per_second == 0  # none was played the last time


@pytest.mark.parametrize("ending", FORMATS)
def test_an_extension_may_be_stopped_and_leaves_the_finished_file_meanwhile(tmp_path, small, ending):
    path = tmp_path / f"games.{ending}"
    ss.simulate(1000, records=path)
    before = files(path)
    interrupt(path, 9000, 4000, resume=True)
    assert files(path) == before and parts(path)
    ss.simulate(9000, records=path, resume=True)
    assert files(path) == straight(path, 9000)


def test_the_balance_of_a_continued_run_is_that_of_a_straight_one(tmp_path, small):
    path = tmp_path / "games.parquet"
    interrupt(path, 4000, 1500, statistics="full")
    ss.simulate(4000, records=path, resume=True, statistics="full")
    longer = ss.simulate(5000, records=path, resume=True, statistics="full")
    assert longer == ss.simulate(5000, statistics="full")


def test_resuming_what_was_not_begun_begins_it(tmp_path):
    path = tmp_path / "games.csv"
    ss.simulate(300, records=path, resume=True)
    assert files(path) == straight(path, 300)


def test_a_file_behind_a_link_is_continued_and_the_link_stays(tmp_path, small):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "folder/games.csv")
    interrupt(link, 3000, 1500)
    ss.simulate(3000, records=link, resume=True)
    assert link.is_symlink() and files(tmp_path / "folder/games.csv") == straight(tmp_path / "games.csv", 3000)


# ------------------------------------------------------------------------------------------------------------- damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"rest")


@pytest.mark.parametrize("damage", [cut, empty, garble, lengthen, Path.unlink])
@pytest.mark.parametrize("place", [0, 2, -1])
def test_a_part_that_is_not_whole_is_played_again(tmp_path, small, damage, place):
    path = tmp_path / "games.csv"
    interrupt(path, 6000, 5000)
    damage(parts(path)[place])
    assert ss.simulate(6000, records=path, resume=True) == ss.simulate(6000)
    assert files(path) == straight(path, 6000)


def test_a_part_of_another_run_is_not_taken(tmp_path, small):
    path, other = tmp_path / "games.csv", tmp_path / "other.csv"
    interrupt(path, 6000, 3000, seed=1)
    interrupt(other, 6000, 3000, seed=2)
    shutil.copy(parts(other)[0], parts(path)[0])
    ss.simulate(6000, records=path, resume=True)
    assert files(path) == straight(path, 6000)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("damage", [cut, empty, garble, lengthen])
def test_a_finished_file_that_is_not_whole_is_not_continued_and_not_changed(tmp_path, small, ending, damage):
    path = tmp_path / f"games.{ending}"
    ss.simulate(3000, records=path)
    damage(path)
    before = files(path)
    with pytest.raises(RecordsError, match="damaged"):
        ss.simulate(4000, records=path, resume=True)
    assert files(path) == before


def test_a_text_whose_metadata_is_missing_is_not_continued(tmp_path):
    path = tmp_path / "games.csv"
    ss.simulate(30, records=path)
    records.beside(path).unlink()
    with pytest.raises(RecordsError, match=r"games\.csv\.meta\.json is missing"):
        ss.simulate(40, records=path, resume=True)


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_damaged_manifest_is_told_and_overwritten_when_asked(tmp_path, small, text):
    path = tmp_path / "games.csv"
    interrupt(path, 6000, 3000)
    (tmp_path / "games.csv.parts/manifest.json").write_text(text)
    with pytest.raises(RecordsError, match=r"manifest\.json .*overwrite begins anew"):
        ss.simulate(6000, records=path, resume=True)
    ss.simulate(6000, records=path, overwrite=True)
    assert files(path) == straight(path, 6000)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("extending", [False, True])
@pytest.mark.parametrize("moment", [1, 2])
def test_a_crash_while_files_get_their_names_loses_nothing(tmp_path, small, monkeypatch, ending, extending, moment):
    path = tmp_path / f"games.{ending}"
    if extending:
        ss.simulate(1000, records=path)
    renames: list[object] = []

    def replace(source: Path, target: Path, really: Callable = os.replace) -> None:
        if Path(target).name.startswith(path.name):
            renames.append(target)
            if len(renames) == moment:
                raise KeyboardInterrupt
        really(source, target)

    def drop(place: object, first: int | None = None) -> None:
        if first is None:
            raise KeyboardInterrupt  # the file has its name; the parts stay

    with monkeypatch.context() as crash:
        crash.setattr(os, "replace", replace)
        if moment == 2 and ending == "parquet":
            crash.setattr(long_runs._Place, "drop_parts", drop)
        with pytest.raises(KeyboardInterrupt):
            ss.simulate(5000, records=path, resume=extending)
    assert parts(path)
    for games in (5000, 6000):
        assert ss.simulate(games, records=path, resume=True) == ss.simulate(games)
        assert not parts(path)
    assert files(path) == straight(path, 6000)


# ------------------------------------------------------------------------------------------------------- full and shut


@pytest.fixture
def full(tmp_path) -> Iterator[tuple[Path, Callable | None, Callable[[], None]]]:
    """A folder on a small disk, what limits a process to it instead if disks cannot be mounted, and how it grows."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("mount")
    if mounted:
        mounted = not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], capture_output=True
        ).returncode
    if mounted:
        try:
            yield disk, None, lambda: subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
        finally:
            subprocess.run(["umount", "-l", disk], check=True)
    else:
        resource = pytest.importorskip("resource")
        yield disk, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000)), lambda: None


@pytest.mark.parametrize("ending", FORMATS)
def test_a_full_disk_is_one_line_and_keeps_what_is_finished(full, ending):
    disk, limit, grow = full
    path = disk / f"games.{ending}"
    process = start("run", "-n", 10**8, "-s", 3, "--records", path, "--quiet", before=LOUD, preexec_fn=limit)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (1, "")
    told = err.replace("part\n", "")
    assert told.startswith("error: ") and told.count("\n") == 1
    assert "No space left" in told or "too large" in told
    assert f"{kept(path):,} finished games are kept, --resume goes on with them" in told
    assert files(path) == {} and kept(path) >= 10_000
    grow()
    games = kept(path) + 1000
    ss.simulate(games, seed=3, records=path, resume=True)
    assert files(path) == straight(path, games, seed=3)


def test_a_folder_that_cannot_be_written_is_told_before_the_games(tmp_path, run):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    places = [tmp_path / "missing/games.csv", tmp_path / "file/games.csv", tmp_path / "folder.csv"]
    if os.path.exists("/proc/version"):
        places.append(Path("/proc/games.csv"))
    for path in places:
        code, out, err = run("run", "-n", 10**12, "--records", path)
        assert (code, out) == (1, "")
        assert err.startswith("error: ") and err.count("\n") == 1 and path.name in err
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.csv"]


def test_two_runs_do_not_write_one_file(tmp_path):
    path = tmp_path / "games.csv"
    process = start("run", "-n", 10**12, "-s", 3, "--records", path, "--quiet", before=LOUD)
    assert process.stderr is not None and process.stderr.readline() == "part\n"
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(RecordsError, match="another run is writing"):
            ss.simulate(10, seed=3, records=path, **options)
    process.kill()
    process.communicate(timeout=60)
    games = kept(path) + 10
    ss.simulate(games, seed=3, records=path, resume=True)
    assert files(path) == straight(path, games, seed=3)


# ------------------------------------------------------------------------------------------------------ what is refused


def test_nothing_that_is_there_is_overwritten_unasked(tmp_path, small, run):
    for name, content in {"a.csv": "mine", "b.csv.meta.json": "mine", "c.jsonl": "", "d.parquet": ""}.items():
        (tmp_path / name).write_text(content)
        path = tmp_path / name.removesuffix(".meta.json")
        code, out, err = run("run", "-n", 10**12, "--records", path)
        assert (code, out) == (1, "")
        assert err == f"error: {tmp_path / name} exists already; resume goes on with it, overwrite begins anew\n"
        assert (tmp_path / name).read_text() == content
    interrupt(tmp_path / "e.csv", 3000, 1500)
    before = [part.read_bytes() for part in parts(tmp_path / "e.csv")]
    with pytest.raises(RecordsError, match="unfinished run"):
        ss.simulate(3000, records=tmp_path / "e.csv")
    assert [part.read_bytes() for part in parts(tmp_path / "e.csv")] == before
    (tmp_path / "f.csv.parts").mkdir()
    (tmp_path / "f.csv.parts/mine.txt").write_text("mine")
    with pytest.raises(RecordsError, match=r"holds mine\.txt"):
        ss.simulate(3000, records=tmp_path / "f.csv", overwrite=True)
    assert os.listdir(tmp_path / "f.csv.parts") == ["mine.txt"]


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize(
    "change, told",
    [
        ({"seed": 2}, "seed 1, not 2"),
        ({"players": 3}, "players 2, not 3"),
        ({"agents": ["greedy", "random"]}, r"agents \['random', 'random'\], not \['greedy', 'random'\]"),
        ({"rules": {"target_prestige": 9, "end": "immediate"}}, "rule target_prestige 15, not 9; rule end 'finish"),
        ({"rotate": False}, "rotate True, not False"),
        ({"max_turns": 99}, "max_turns 1000, not 99"),
        ({"statistics": "full"}, "statistics 'summary', not 'full'"),
    ],
)
def test_another_run_is_not_continued_and_both_values_are_said(tmp_path, small, finished, change, told):
    path = tmp_path / "games.parquet"
    if finished:
        ss.simulate(2000, records=path)
    else:
        interrupt(path, 3000, 1500)
    before = files(path), [part.read_bytes() for part in parts(path)]
    with pytest.raises(RecordsError, match=told):
        ss.simulate(4000, records=path, resume=True, **change)
    assert (files(path), [part.read_bytes() for part in parts(path)]) == before


def test_records_of_another_version_or_format_are_not_continued(tmp_path, small, monkeypatch):
    path = tmp_path / "games.csv"
    interrupt(path, 3000, 1500)
    ss.simulate(2000, records=tmp_path / "done.csv")
    monkeypatch.setattr(records, "__version__", "0.0.9")
    for name in ("games.csv", "done.csv"):
        with pytest.raises(RecordsError, match=f"version '{ss.__version__}', not '0.0.9'"):
            ss.simulate(4000, records=tmp_path / name, resume=True)
    monkeypatch.undo()
    (tmp_path / "done.csv").rename(tmp_path / "done.parquet")
    with pytest.raises(RecordsError, match="no Parquet file"):
        ss.simulate(4000, records=tmp_path / "done.parquet", resume=True)


def test_rules_may_be_written_otherwise_if_they_mean_the_same(tmp_path, small):
    path = tmp_path / "games.csv"
    interrupt(path, 3000, 1500, rules="italian")
    ss.simulate(3000, records=path, resume=True, rules={"take_two_min": 5})
    assert files(path) == straight(path, 3000, rules="italian")


def test_fewer_games_than_are_finished_are_refused(tmp_path, small):
    path = tmp_path / "games.csv"
    interrupt(path, 3000, 1500)
    with pytest.raises(RecordsError, match="games are finished already, more than the 10 asked for"):
        ss.simulate(10, records=path, resume=True)
    ss.simulate(3000, records=path, resume=True)
    with pytest.raises(RecordsError, match="3,000 games are finished already, more than the 2,999 asked for"):
        ss.simulate(2999, records=path, resume=True)


def test_to_overwrite_replaces_a_file_when_the_new_one_is_whole(tmp_path, small):
    path = tmp_path / "games.csv"
    ss.simulate(5000, records=path, seed=1)
    before = files(path)
    interrupt(path, 3000, 1500, seed=2, overwrite=True)
    assert files(path) == before
    ss.simulate(3000, seed=2, records=path, resume=True)
    assert files(path) == straight(path, 3000, seed=2)


def test_to_resume_and_to_overwrite_need_records_and_exclude_each_other(tmp_path, run):
    for options in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(ValueError, match="only a run with records"):
            ss.simulate(10, **options)
    with pytest.raises(RecordsError, match="not both"):
        ss.simulate(10, records=tmp_path / "games.csv", resume=True, overwrite=True)
    for words in (["--resume"], ["--overwrite"], ["--resume", "--overwrite", "--records", "games.csv"]):
        code, out, err = run("run", *words)
        assert (code, out) == (2, "") and "goes with --records" in err
    with pytest.raises(RecordsError, match="must have them"):
        Recording(Plan.of(10, 2, None, 1, "official", True, 1000, "summary"), tmp_path / "games.csv")


# ------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system does not tell the memory of a process")
def test_memory_does_not_grow_with_the_number_of_games(tmp_path):
    measure = """
import re, sys
import splendor_sim as ss
def most():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024
seen = []
ss.simulate(400_000, records=sys.argv[1], progress=lambda done, _: seen.append(most()))
print(seen[len(seen) // 2], most())
"""
    done = subprocess.run([sys.executable, "-c", measure, tmp_path / "games.parquet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    half, whole = map(int, done.stdout.split())
    assert whole < 400 and whole < half + 40
