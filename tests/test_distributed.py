"""Games on a Dask cluster: a scheduler and workers as processes of their own, on this machine's loopback alone."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

import splendor_sim as ss
from splendor_sim.cli import main
from splendor_sim.simulate import Crew, Plan, Tally, play_games, prepare

pytest.importorskip("distributed")

import splendor_sim.distributed as module
from splendor_sim.distributed import ClusterError, check_cluster, connected, versions

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="processes that play slowly show nothing more")

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "import sys; from splendor_sim.cli import main; sys.exit(main())"


def plan_of(games, agents=None, seed=1):
    return Plan.of(games, 2, agents, seed, "official", True, 1000, "summary")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """The address of a scheduler with two workers, all of them processes."""
    folder = tmp_path_factory.mktemp("dask")
    prepare(plan_of(1))  # so that the workers find it compiled
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    processes = [start([*command, "--no-dashboard", "--scheduler-file", str(folder / "where")])]
    try:
        until = time.monotonic() + 30
        while not (folder / "where").exists():
            assert time.monotonic() < until and processes[0].poll() is None, "the scheduler does not start"
            time.sleep(0.05)
        time.sleep(0.1)
        address = json.loads((folder / "where").read_text())["address"]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", "127.0.0.1"]
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(folder)]
        processes += [start([*command, *options]) for _ in range(2)]
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def start(command, **how):
    return subprocess.Popen(
        command,
        stdout=how.pop("stdout", subprocess.DEVNULL),
        stderr=how.pop("stderr", subprocess.DEVNULL),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **how,
    )


def workers_alive(parent: int) -> list[int]:
    """Which Dask workers are children of a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            is_child = int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent
        except OSError:
            continue
        if b"dask_worker" in words and is_child:
            found.append(int(folder.name))
    return found


def played_on(cluster, plan, after=None):
    tally = Tally(plan, Crew(cluster.threads))
    for block in cluster.play_blocks(plan):
        tally.add(block)
        if after is not None:
            after(tally.totals.games)
    return tally.result()


# ------------------------------------------------------------------------------------------------- where a cluster is


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:8786", "tls://scheduler.example:8786", "local:1", "local:1024"])
def test_an_address_of_a_scheduler_and_a_number_of_processes_are_clusters(where):
    assert check_cluster(where) == where


def test_local_alone_is_a_process_for_each_processor():
    assert check_cluster("local").startswith("local:")


@pytest.mark.parametrize("where", ["", "8786", "host:8786", "local:", "local:0", "local:-1", "local:1025", "tcp://", 4])
def test_what_is_no_cluster_is_refused(where):
    with pytest.raises(ClusterError, match="tcp://host:8786, or local:N"):
        check_cluster(where)
    assert issubclass(ClusterError, ValueError)


# ------------------------------------------------------------------------------------------------------ a real cluster


def test_a_cluster_plays_the_games_of_one_thread_and_the_program_says_so(scheduler, capsys):
    assert main(["run", "--dask", scheduler, "--games", "60000", "--seed", "7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ss.simulate(60_000, seed=7, threads=1).to_dict()


def test_progress_on_a_cluster_tells_of_games_up_to_all(scheduler):
    seen: list[tuple[int, int]] = []
    agents = ["greedy", "random"]
    result = ss.simulate(5000, agents=agents, dask=scheduler, progress=lambda *done: seen.append(done))
    assert result == ss.simulate(5000, agents=["greedy", "random"])
    assert seen == sorted(seen) and seen[-1] == (5000, 5000) and len(seen) > 2


def test_records_are_refused(scheduler):
    from dataclasses import replace

    with pytest.raises(ClusterError, match="records"):
        module.play_on(scheduler, replace(plan_of(10), records=True))


def test_blocks_come_in_their_order_few_at_a_time_and_grow(scheduler, monkeypatch):
    most, seen = 0, []
    plan = plan_of(100_000)
    with connected(scheduler) as cluster:
        submit = cluster.client.submit
        under_way: list = []

        def counted(*arguments, **more):
            nonlocal most
            under_way.append(submit(*arguments, **more))
            most = max(most, sum(not future.done() for future in under_way))
            return under_way[-1]

        monkeypatch.setattr(cluster.client, "submit", counted)
        tally = Tally(plan, Crew(1))
        for block in cluster.play_blocks(plan):
            first = tally.totals.games
            assert block.counts["turns"][0] == play_games(plan, first, block.games).counts["turns"][0]
            tally.add(block)
            seen.append(block.games)
    assert tally.totals.games == 100_000
    assert 1 < most <= module._AHEAD * cluster.threads
    assert seen[0] == module._FIRST and max(seen) > 1000


def test_versions_that_differ_are_refused_with_one_message(scheduler, monkeypatch):
    other = {**versions(), "splendor_sim": "0.0.1"}
    monkeypatch.setattr(module, "versions", lambda: other)
    told = r"the scheduler has splendor_sim .* instead of 0\.0\.1; install the same versions"
    with pytest.raises(ClusterError, match=told), connected(scheduler):
        pass


def test_a_worker_that_comes_later_with_other_versions_is_refused(scheduler, monkeypatch):
    with connected(scheduler) as cluster:
        monkeypatch.setattr(module, "versions", lambda: {**versions(), "numba": "0.1"})
        with pytest.raises(ClusterError, match=r"a worker has numba .* instead of 0\.1; install the same versions"):
            played_on(cluster, plan_of(100))


def test_a_missing_scheduler_is_one_clear_message_within_seconds(capsys, monkeypatch):
    monkeypatch.setattr(module, "_CONNECT", 1.0)
    began = time.monotonic()
    assert main(["run", "--dask", "tcp://127.0.0.1:1", "--games", "100"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in said.err
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("more", [["--threads", "2"], ["--records", "games.csv"]])
def test_what_does_not_go_with_a_cluster_is_wrong_usage(more, capsys):
    assert main(["run", "--dask", "local:2", *more]) == 2
    assert "does not go with --dask" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------ a local cluster


def test_a_worker_that_is_killed_costs_no_game_and_none_is_left_over():
    plan, killed = plan_of(400_000, seed=3), []
    with connected("local:2") as cluster:

        def kill_one(games):
            if games > 20_000 and not killed:
                killed.append(cluster._processes._processes[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        result = played_on(cluster, plan, kill_one)
        pids = [process.pid for process in cluster._processes._processes]
    assert killed
    assert result == ss.simulate(400_000, seed=3, threads=1)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_workers_that_cannot_start_are_told(monkeypatch):
    monkeypatch.setattr(module.sys, "executable", "/bin/false")
    with pytest.raises(ClusterError, match="keep dying"), connected("local:1"):
        pass


def test_an_interrupt_reports_what_is_finished_and_leaves_no_process():
    run = start(
        [sys.executable, "-c", PROGRAM, "run", "--dask", "local:1", "--games", "1000000000", "--seed", "3", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        until = time.monotonic() + 60
        while not (workers := workers_alive(run.pid)):
            assert time.monotonic() < until and run.poll() is None, "no worker starts"
            time.sleep(0.1)
        time.sleep(6)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
    finally:
        run.kill()
    assert run.returncode == 130, err
    if out:  # else the machine was too slow for a single block
        found = json.loads(out)
        assert found == ss.simulate(found["games"], seed=3).to_dict()
        assert b"interrupted: this is of the" in err
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
