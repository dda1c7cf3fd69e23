"""`splendor-sim analyse`: what it prints, what it refuses."""

import json

import pytest

import splendor_sim as ss
from splendor_sim.cli import main


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def opening(tmp_path):
    path = tmp_path / "opening.json"
    path.write_text(json.dumps(ss.Game(seed=7).position()))
    return path


def test_the_best_decision_comes_first_and_begins_the_expected_line(run, opening):
    code, out, err = run("analyse", opening, "--simulations", 500, "--seed", 3, "--quiet")
    found = ss.search(ss.Game(seed=7), 500, 3)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    best = ss.action_name(found.best).split()
    head = next(number for number, row in enumerate(rows) if row[:1] == ["Decision"])
    assert rows[head + 2][: len(best)] == best
    assert next(row for row in rows if row[:1] == ["1."])[1 : 3 + len(best)] == ["seat", "0", *best]
    assert out.rstrip().endswith(
        f"again: splendor-sim analyse {opening} --simulations 500 --threads 1 --turns 2 --seed 3"
    )


def test_json_is_what_the_search_found(run, opening):
    code, out, _ = run("analyse", opening, "-n", 300, "--seed", 1, "--json", "--quiet")
    assert code == 0 and json.loads(out) == ss.search(ss.Game(seed=7), 300, 1).to_dict()


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--simulations", 0], "simulations"),
        (["--simulations", 5, "--seconds", 1], "not both"),
        (["--leaf", "guess"], "evaluation or playout"),
        (["--policy", "gredy"], "random or greedy"),
        (["--seed", -1], "seed"),
        (["--threads", 0], "threads"),
    ],
)
def test_an_option_out_of_range_is_refused_in_one_line(run, opening, arguments, told):
    code, out, err = run("analyse", opening, "--quiet", *arguments)
    assert code in (1, 2) and out == ""
    assert told in err and len(err.splitlines()) == 1


def test_a_game_that_is_over_is_refused(run, tmp_path):
    game = ss.Game(seed=1)
    while not game.is_over:
        game.apply(game.legal_actions()[-1])
    path = tmp_path / "over.json"
    path.write_text(json.dumps(game.position()))
    code, _, err = run("analyse", path, "--quiet")
    assert code == 1 and "over" in err
