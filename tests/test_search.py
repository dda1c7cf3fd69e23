"""Tree search: legal, fair about what is hidden, repeatable, and equal to a plain reference, node by node."""

import json
import random

import numpy as np
import pytest

import splendor_sim as ss
from broken_positions import changed, choosing_noble, give_tokens, hold, paying, returning
from games import at, jit_or, opening, random_games, walk
from search_reference import ReferenceSearch, meaning_of, read_tree
from splendor_sim.core import forest as many
from splendor_sim.core import keys
from splendor_sim.core import search as trees
from splendor_sim.search import Wood, settings_of

SIMULATIONS = jit_or(200, 12)
PLAIN = {"seconds": None, "threads": 1, "turns": 0, "exploration": 0.8}  # leaves are evaluated at once


def same(found, other):
    return (
        found.best == other.best
        and (found.visits == other.visits).all()
        and found.values == other.values
        and found.decisions == other.decisions
    )


def some_games(number, seed, decisions=60):
    """Games of all rules after a random number of random decisions, not over."""
    rng = random.Random(seed)
    for game in random_games(number, seed):
        walk(game, rng, rng.randrange(decisions))
        if not game.is_over:
            yield game


def grown(game, simulations, seed=0, nodes=None):
    """A tree over a game."""
    settings, _ = settings_of({**PLAIN, "simulations": simulations})
    wood = Wood(game.copy().state, 1, nodes or simulations + 4, seed)
    wood.grow(settings, simulations, None)
    return wood


# ------------------------------------------------------------------------------------------------ against the reference


@pytest.mark.kernel
def test_trees_are_those_of_a_plain_search():
    games = [ss.Game(players, seed=players) for players in (2, 3, 4)]
    games += [at(paying()), at(returning()), at(choosing_noble()), *some_games(jit_or(40, 3), 1)]
    for seed, game in enumerate(games):
        simulations = jit_or(300 if seed < 6 else 60, 8)
        reference = ReferenceSearch(game, seed)
        reference.run(simulations + 1)
        wood = grown(game, simulations, seed)
        assert read_tree(wood.arrays[2][0], wood.arrays[3][0]) == reference.root


def test_trees_are_those_of_a_plain_search_where_a_deal_decides_whether_there_is_a_choice():
    rules = {"gem_tokens": [1, 1, 1], "gold_tokens": [1, 1, 1], "target_prestige": 3, "take_fewer": "never"}
    rng = random.Random(4)
    for seed in range(12):
        game = ss.Game(2 + seed % 3, seed=seed, rules=rules)
        while not game.is_over:
            if rng.random() < 0.1:
                reference = ReferenceSearch(game, seed)
                reference.run(61)
                wood = grown(game, 60, seed)
                assert read_tree(wood.arrays[2][0], wood.arrays[3][0]) == reference.root
            decks = [action for action in game.legal_actions() if 42 <= action < 45]
            game.apply(rng.choice(decks or game.legal_actions()))


@pytest.mark.kernel
def test_a_key_means_one_decision_wherever_its_card_or_tile_lies():
    with np.errstate(over="ignore"):
        for game in some_games(jit_or(200, 30), 2):
            s, seat, meanings = game.state[0], game.seat_to_move, {}
            for action in game.legal_actions():
                key = int(keys.key_of(s, seat, action))
                assert 0 <= key < keys.KEY_COUNT <= 256
                assert keys.action_of(s, seat, key) == action
                meanings[key] = meaning_of(game.state, action)
            assert len(meanings) == len(game.legal_actions()) == len(set(meanings.values()))
            if game.phase == "main":
                other = game.copy()
                board = other.state["card_at"][0]
                board[:4] = board[:4][::-1].copy()
                other.state["cost_at"][0][:, :4] = other.state["cost_at"][0][:, :4][:, ::-1].copy()
                moved = {int(keys.key_of(other.state[0], seat, a)): a for a in other.legal_actions()}
                assert {key: meaning_of(other.state, action) for key, action in moved.items()} == meanings


# -------------------------------------------------------------------------------------------------------- what is found


@pytest.mark.kernel
def test_visits_add_up_and_the_best_is_the_most_visited_in_every_phase_and_at_forced_decisions():
    games = [at(paying()), at(returning()), at(choosing_noble()), *some_games(jit_or(40, 4), 3)]
    games.append(at(changed(give_tokens(opening(rules={"token_limit": 3}), 0, [4]), ("phase", "return"))))
    assert games[-1].legal_actions() == [ss.parse_action("return w")]
    assert {game.phase for game in games} == {"main", "pay", "return", "noble"}
    for seed, game in enumerate(games):
        before = game.state.tobytes()
        found = ss.search(game, SIMULATIONS, seed, turns=0)
        assert game.state.tobytes() == before
        assert found.simulations == found.visits.sum() == SIMULATIONS
        assert set(np.flatnonzero(found.visits)) <= set(game.legal_actions())
        assert found.best in game.legal_actions() and found.visits[found.best] == found.visits.max()
        assert sum(found.values) == pytest.approx(1, abs=1e-4) and len(found.values) == game.players
        assert found.seat == game.seat_to_move


def test_what_the_seat_does_not_know_has_no_influence():
    rng = random.Random(5)
    for players in (2, 3, 4):
        game = ss.Game(players, seed=players)
        while game.turn < 4 * players:
            decks = [action for action in game.legal_actions() if 42 <= action < 45]
            game.apply(rng.choice(decks if decks and rng.random() < 0.4 else game.legal_actions()))
        assert game.state["hidden"].any()
        found = ss.search(game, 500, seed=1)
        others = [game.determinize(game.seat_to_move, seed) for seed in range(3)]
        others.append(ss.Game.from_position(game.position(), seed=99))
        assert len({other.state.tobytes() for other in others}) == 4
        for other in others:
            again = ss.search(other, 500, seed=1)
            assert same(again, found) and again.line == found.line
        assert not same(ss.search(game, 500, seed=2), found)


def test_a_search_repeats_with_its_seed_and_threads_and_adds_up_their_trees():
    game = ss.Game(3, seed=4)
    assert same(ss.search(game, 400, seed=6), ss.search(game, 400, seed=6))
    both = ss.search(game, 401, seed=6, threads=2)
    assert both.visits.sum() == both.simulations == 401
    assert same(both, ss.search(game, 401, seed=6, threads=2))
    one = ss.search(game, 201, seed=6)
    assert (both.visits >= one.visits).all()


@pytest.mark.parametrize("options", [{"leaf": "playout"}, {"turns": 3}, {"leaf": "playout", "policy": "random"}])
def test_leaves_may_be_played_on_from(options):
    found = ss.search(ss.Game(2, seed=3), 100, seed=1, **options)
    assert found.visits.sum() == 100
    assert same(found, ss.search(ss.Game(2, seed=3), 100, seed=1, **options))
    assert sum(found.values) == pytest.approx(1, abs=1e-4)


def test_a_search_keeps_to_its_seconds():
    game = ss.Game(2, seed=3)
    ss.search(game, 100)
    found = ss.search(game, seconds=0.2)
    assert 0.15 < found.seconds < 5
    assert found.simulations == found.visits.sum() > 100


@pytest.mark.parametrize(
    "options, told",
    [
        ({"simulations": 0}, "1 to 16,777,216"),
        ({"simulations": -1}, "1 to 16,777,216"),
        ({"simulations": True}, "1 to 16,777,216"),
        ({"simulations": 2.5}, "1 to 16,777,216"),
        ({"simulations": 2**24 + 1}, "1 to 16,777,216"),
        ({"simulations": 10, "seconds": 1}, "not both"),
        ({"seconds": 0}, "seconds"),
        ({"threads": 0}, "threads"),
        ({"leaf": "wild"}, "evaluation or playout"),
        ({"policy": "wild"}, "greedy"),
        ({"epsilon": 2}, "epsilon"),
        ({"turns": -1}, "turns"),
        ({"exploration": float("nan")}, "exploration"),
        ({"exploration": "much"}, "exploration"),
    ],
)
def test_an_option_out_of_range_is_refused(options, told):
    with pytest.raises(ss.SearchError, match=told):
        ss.search(ss.Game(2), **options)


def test_what_cannot_be_searched_is_refused():
    game = ss.Game(2, seed=1)
    walk(game, random.Random(1))
    with pytest.raises(ss.SearchError, match="over"):
        ss.search(game)
    for wrong in (None, "game", game.position(), ss.deal(2), np.zeros(1)):
        with pytest.raises((ss.SearchError, ss.StateError)):
            ss.search(wrong)
    with pytest.raises(ss.SeedError):
        ss.search(ss.Game(2), seed=-1)


# ------------------------------------------------------------------------------------------------------------- strength


def winning_buys(game):
    """The decisions after which the seat to move has won at once."""
    found = []
    for action in game.legal_actions():
        after = game.copy()
        after.apply(action)
        if after.is_over and after.winners() == [game.seat_to_move]:
            found.append(action)
    return found


def late_games(number):
    """Positions of random games that buy what they can, near their end, without hidden cards."""
    rng = random.Random(8)
    for seed in range(number):
        game = ss.Game(2, seed=seed)
        while not game.is_over:
            if max(game.prestige) >= 9 and game.phase == "main" and not game.state["hidden"].any():
                yield game
            buys = [action for action in game.legal_actions() if 45 <= action < 60]
            game.apply(rng.choice(buys or [action for action in game.legal_actions() if not 42 <= action < 45]))


def lets_win(game, action):
    """Whether the other seat can win at once after a decision, whatever card comes up."""
    for card in game.chance_outcomes(action) or [None]:
        after = game.copy()
        after.apply(action, card)
        if after.phase != "main" or not winning_buys(after):
            return False
    return True


def test_a_decision_that_wins_at_once_is_found_and_one_that_lets_another_win_is_not_made():
    won = denied = 0
    for game in late_games(80):
        legal, wins = game.legal_actions(), winning_buys(game)
        if wins and len(wins) < len(legal):
            won += 1
            assert ss.search(game, 200).best in wins
        elif not wins and game.seat_to_move == 0 and winning_buys(at(turn_of_other(game.position()))):
            loses = [action for action in legal if lets_win(game, action)]
            if loses and len(loses) < len(legal):
                denied += 1
                assert ss.search(game, 1000).best not in loses
    assert won >= 10 and denied >= 5


def turn_of_other(position):
    """Copy a position of two seats so that the other seat is to move."""
    return changed(position, ("to_move", 1 - position["to_move"]), ("turn", position["turn"] + 1))


def test_search_beats_the_policy_that_is_its_prior():
    result = ss.simulate(80, agents=["mcts:simulations=64", "heuristic"], seed=3, threads=1).to_dict()
    assert result["by_agent"][0]["win_share"]["value"] > 0.6


# ------------------------------------------------------------------------------------------- the tree and what it takes


def test_a_simulation_takes_few_bytes():
    wood = grown(ss.Game(2, seed=1), 2000)
    assert wood.arrays[1]["nodes"][0] <= 2002
    assert wood.bytes_used / 2000 < 100


@pytest.mark.kernel
def test_a_full_tree_searches_on_in_the_room_it_has():
    game = ss.Game(4, seed=2)
    settings, _ = settings_of({**PLAIN, "simulations": 10})
    with np.errstate(over="ignore"):
        for nodes, edges in [(16, 4000), (4000, 30), (4000, 70), (4000, 200)]:
            wood = Wood(game.copy().state, 1, nodes, 0)
            wood.arrays = (*wood.arrays[:3], wood.arrays[3][:, :edges].copy())
            many.plant(*wood.arrays, 0, np.uint64(7))
            ran = trees.search(*wood.arrays, 0, settings, jit_or(300, 40))
            assert ran == (15 if nodes == 16 else jit_or(300, 40))
            assert wood.arrays[1]["nodes"][0] <= nodes and wood.arrays[1]["edges"][0] <= edges
            tree = read_tree(wood.arrays[2][0], wood.arrays[3][0])
            assert tree["visits"] == ran
            assert set(tree["edges"]) <= {meaning_of(game.state, action) for action in game.legal_actions()}


@pytest.mark.kernel
def test_a_kept_tree_is_what_follows_the_decision():
    rng = random.Random(3)
    with np.errstate(over="ignore"):
        for seed, game in enumerate(some_games(jit_or(40, 5), 6)):
            if len(game.legal_actions()) == 1:
                continue
            _, own, nodes, edges = grown(game, SIMULATIONS, seed).arrays
            before = read_tree(nodes[0], edges[0])
            spare = np.zeros_like(nodes[0]), np.zeros_like(edges[0])
            action = rng.choice(game.legal_actions())
            trees.advance_tree(game.state[0], action, own[0], nodes[0], edges[0], *spare)
            edge = before["edges"].get(meaning_of(game.state, action), {"child": None})
            kept = read_tree(nodes[0], edges[0])
            if edge["child"] is None:
                assert kept["visits"] == 0 and not kept["edges"] and own["nodes"][0] == trees.ROOT + 1
            else:
                assert kept == edge["child"]
                assert own["nodes"][0] == trees.ROOT + size(kept)


def size(tree):
    """The nodes of a tree."""
    return 1 + sum(size(edge["child"]) for edge in tree["edges"].values() if edge["child"])


# ----------------------------------------------------------------------------------------------------------- for people


def test_the_line_can_be_played_and_begins_with_the_best():
    game = ss.Game(3, seed=9)
    found = ss.search(game, 3000, seed=1)
    assert found.steps[0].action == found.best and found.line[0] == ss.action_name(found.best)
    assert len(found.line) >= 3
    visits = [step.visits for step in found.steps]
    assert visits == sorted(visits, reverse=True) and visits[0] == found.visits.max()
    for step in found.steps:
        if "." in step.name and "deck" not in step.name:
            break  # another card comes up in the line's deal
        assert step.seat == game.seat_to_move
        game.apply(step.action)


def test_what_was_found_prints_and_is_plain_json():
    found = ss.search(at(hold(opening(), 0, [3])), 200, seed=1)
    told = found.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["best"] == found.best and told["simulations"] == 200
    assert sum(each["visits"] for each in told["decisions"]) == 200
    assert [each.visits for each in found.decisions] == sorted(found.visits[found.visits > 0].tolist(), reverse=True)
    assert ss.action_name(found.best) in str(found) and found.heading() in str(found)
    assert "seconds" not in told and len(found.tables()) == 2
