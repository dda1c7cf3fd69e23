"""Forest: the trees of search in steps, leaves for a user's network, and whole games of self-play."""

import random

import numpy as np
import pytest

import splendor_sim as ss
from games import jit_or, random_walk
from splendor_sim.core import search as trees
from splendor_sim.core.settings import UNIFORM

ROUNDS = jit_or(150, 8)


def play_evaluated(forest, rounds, most=1):
    """Value leaves by the built-in evaluation."""
    for _ in range(rounds):
        leaves = forest.select(most)
        forest.update(None, ss.evaluate(leaves.states) if len(leaves) else np.zeros((0, forest.players)))


def network(leaves, players, seed=0):
    """Logits and values as a network would give them, which depend on what is seen alone."""
    weights = np.random.default_rng(seed).normal(size=(ss.OBSERVATION_SIZE, ss.ACTION_COUNT + players)) / 100
    out = leaves.observations @ weights
    return out[:, : ss.ACTION_COUNT], 1 / (1 + np.exp(-out[:, ss.ACTION_COUNT :]))


def bytes_of(forest):
    return b"".join(array.tobytes() for array in (forest.states, forest._known, forest._trees)) + b"".join(
        part[row, : room[row]].tobytes()
        for part, room in ((forest._nodes, forest._trees["nodes"]), (forest._edges, forest._trees["edges"]))
        for row in range(len(forest))
    )


def halfway(players, seed, decisions=30):
    """A game after some random decisions, some cards reserved from decks among them."""
    game, rng = ss.Game(players, seed=seed), random.Random(seed)
    for _ in range(decisions):
        decks = [action for action in game.legal_actions() if 42 <= action < 45]
        game.apply(rng.choice(decks if decks and rng.random() < 0.3 else game.legal_actions()))
    return game


@pytest.mark.kernel
def test_a_forest_with_the_built_in_evaluation_finds_what_search_finds():
    for players in (2, 3, 4):
        for game in (ss.Game(players, seed=players), halfway(players, players)):
            forest = ss.Forest(game.state, seed=5, exploration=0.8, uniform=UNIFORM)
            play_evaluated(forest, ROUNDS + 1)
            number = int(forest.visits().sum())
            assert number >= ROUNDS
            found = ss.search(game, number, seed=5, turns=0, exploration=0.8)
            assert (forest.visits()[0] == found.visits).all()
            assert forest.values()[0] == pytest.approx(found.values, abs=1e-6)


@pytest.mark.kernel
def test_the_leaves_of_a_batch_are_different_nodes_that_wait_for_their_values():
    forest = ss.Forest(ss.deal(3, 3, seed=2), seed=1)
    for _ in range(jit_or(20, 4)):
        leaves = forest.select(8)
        assert len(leaves) == len(leaves.states) == len(leaves.tree) == len(leaves.seat) <= 24
        ends = {(int(row), int(path.node[path.length - 1])) for row, path in zip(leaves.tree, forest._paths)}
        assert len(ends) == len(leaves)
        for row, node in ends:
            assert forest._nodes[row, node]["pending"] == forest._nodes[row, node]["visits"] == 1
        assert (leaves.seat == leaves.states["to_move"]).all()
        forest.update(*network(leaves, 3))
        assert not any(
            forest._nodes["pending"][row, trees.ROOT : forest._trees["nodes"][row]].any() for row in range(3)
        )
    assert (forest.visits().sum(axis=1) > jit_or(60, 8)).all()


def test_leaves_show_what_the_seat_sees_and_what_is_legal():
    game = halfway(3, 8)
    assert game.state["hidden"].any()
    forests = [
        ss.Forest(states, seed=4)
        for states in (
            game.state,
            game.determinize(game.seat_to_move, 1).state,
            game.determinize(game.seat_to_move, 2).state,
        )
    ]
    assert len({forest.states.tobytes() for forest in forests}) == 3
    for _ in range(30):
        batches = [forest.select(3) for forest in forests]
        assert len({leaves.states.tobytes() for leaves in batches}) == 1
        leaves = batches[0]
        assert (leaves.observations == ss.observe(leaves.states)).all()
        assert (leaves.masks == ss.legal_mask(leaves.states)).all() and leaves.masks.any(axis=1).all()
        for forest in forests:
            forest.update(*network(leaves, 3))
    assert (forests[0].visits() == forests[1].visits()).all() and (forests[0].visits() == forests[2].visits()).all()


def test_games_that_end_in_the_tree_need_no_value_and_finished_games_give_no_leaves():
    game = ss.Game(2, seed=1, rules={"target_prestige": 1})
    rng = random.Random(3)
    *_, late, over = (position.copy() for position in random_walk(game, rng))
    assert over.is_over and not late.is_over
    forest = ss.Forest(np.concatenate([late.state, over.state]), seed=1)
    for _ in range(40):
        leaves = forest.select(2)
        assert (leaves.states["phase"] != 4).all() and (leaves.tree == 0).all()
        forest.update(*network(leaves, 2))
    assert forest.is_over.tolist() == [False, True]
    assert forest.visits()[0].sum() > 0 and not forest.visits()[1].any()
    assert not forest.policy()[1].any() and forest.sample()[1] == -1
    assert forest.advance(forest.sample())[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    "logits, values, told",
    [
        (np.zeros((4, 77)), np.zeros((4, 2)), "logits must have the shape"),
        (np.zeros((3, 78)), np.zeros((4, 2)), "logits must have the shape"),
        (np.zeros((4, 78)), np.zeros((4, 3)), "values must have the shape"),
        (np.zeros((4, 78)), np.zeros(4), "values must have the shape"),
        (np.full((4, 78), np.nan), np.zeros((4, 2)), "logits must be finite"),
        (np.zeros((4, 78)), np.full((4, 2), np.inf), "values must be finite"),
        (None, np.zeros((4, 2)), "with every update or with none"),
    ],
)
def test_what_no_network_should_give_is_refused_and_nothing_changed(logits, values, told):
    forest = ss.Forest(ss.deal(4, seed=2))
    forest.update(*network(forest.select(1), 2))
    forest.select(1)
    before = bytes_of(forest)
    with pytest.raises(ss.SearchError, match=told):
        forest.update(logits, values)
    assert bytes_of(forest) == before
    illegal = np.where(ss.legal_mask(forest._leaves[:4]), 0.0, np.nan)
    forest.update(illegal, np.full((4, 2), 0.5))  # only the legal ones are looked at


def test_steps_out_of_turn_and_options_out_of_range_are_refused():
    forest = ss.Forest(ss.deal(2, seed=2), room=16)
    with pytest.raises(ss.SearchError, match="1 to 200"):
        forest.select(0)
    forest.select(1)
    for step in (
        forest.select,
        forest.add_noise,
        lambda: forest.advance([0, 0]),
        lambda: forest.reset([0], ss.deal(1)),
    ):
        with pytest.raises(ss.SearchError, match="under way"):
            step()
    forest.update(None, np.full((2, 2), 0.5))
    before = bytes_of(forest)
    with pytest.raises(ss.IllegalActionError):
        forest.advance([0, 60])
    for wrong in ([0], [0.0, 0.0], "ab"):
        with pytest.raises(ss.SearchError, match="whole numbers"):
            forest.advance(wrong)
    for rows in ([2], [-1], [0, 1], [0.0]):
        with pytest.raises(ss.SearchError, match="rows"):
            forest.reset(rows, ss.deal(1))
    assert bytes_of(forest) == before
    for options in ({"room": 15}, {"room": 2**24 + 1}, {"exploration": -1}, {"uniform": 1.5}, {"uniform": "much"}):
        with pytest.raises(ss.SearchError):
            ss.Forest(ss.deal(1), **options)
    with pytest.raises(ss.StateError):
        ss.Forest([1, 2])
    for _ in range(40):  # a full tree gives no more leaves
        leaves = forest.select(3)
        forest.update(None, ss.evaluate(leaves.states))
    assert len(leaves) == 0 and (forest._trees["nodes"] == 16).all()


def test_what_follows_a_decision_is_kept_unless_it_rests_on_hidden_cards():
    states = np.concatenate([ss.deal(1, seed=6)] * 2)
    forest = ss.Forest(states, seed=2)
    for _ in range(100):
        leaves = forest.select(2)
        forest.update(np.zeros((len(leaves), 78)), network(leaves, 2)[1])
    take, deck = ss.parse_action("take wug"), ss.parse_action("reserve 1.deck")
    visits, values = forest.visits(), forest.values()
    child = trees.child_of(forest._nodes[0, trees.ROOT], forest._edges[0], take)
    value = forest._nodes[0, child]["value"].copy()
    assert visits[0, take] > 1 and visits[1, deck] > 1
    forest.advance([take, deck])
    assert forest._nodes["visits"][:, trees.ROOT].tolist() == [visits[0, take], 0]
    assert (forest._nodes["value"][0, trees.ROOT] == value).all()
    assert forest.visits()[0].sum() == visits[0, take] - 1 and not forest.visits()[1].any()
    assert values.shape == (2, 2) and forest._trees["seat"].tolist() == [1, 1]
    forest.reset([1], ss.deal(1, seed=9))
    assert forest.states[1].tobytes() == ss.deal(1, seed=9)[0].tobytes() and forest._trees["seat"].tolist() == [1, 0]
    assert forest.visits()[0].sum() == visits[0, take] - 1


def test_policy_and_sample_follow_the_visits():
    forest = ss.Forest(ss.deal(50, seed=6), seed=2)
    legal = ss.legal_mask(forest.states)
    assert forest.policy() == pytest.approx(legal / legal.sum(axis=1, keepdims=True))
    play_evaluated(forest, 30)
    visits = forest.visits()
    assert (visits[~legal] == 0).all() and (visits.sum(axis=1) >= 29).all()
    assert forest.policy() == pytest.approx(visits / visits.sum(axis=1, keepdims=True))
    sharp = visits.astype(float) ** 2
    assert forest.policy(0.5) == pytest.approx(sharp / sharp.sum(axis=1, keepdims=True))
    assert (forest.sample(0) == visits.argmax(axis=1)).all()
    drawn = forest.sample(1.0, seed=3)
    assert (visits[np.arange(50), drawn] > 0).all() and (drawn == forest.sample(1.0, seed=3)).all()
    assert (drawn != forest.sample(1.0, seed=4)).any()
    with pytest.raises(ss.SearchError, match="temperature"):
        forest.policy(-1)


def test_noise_changes_priors_by_its_seed_and_they_still_sum_to_one():
    priors = []
    for seed in (1, 1, 2):
        forest = ss.Forest(ss.deal(3, seed=6), seed=2)
        forest.update(*network(forest.select(1), 2))
        first, count = forest._nodes["edges"][0, trees.ROOT], forest._nodes["edge_count"][0, trees.ROOT]
        before = forest._edges["prior"][0, first : first + count].copy()
        forest.add_noise(alpha=0.3, share=0.25, seed=seed)
        prior = forest._edges["prior"][0, first : first + count].astype(int)
        assert (prior >= before * 0.75 - 2).all() and (prior != before).any()
        assert prior.sum() == pytest.approx(65535, rel=0.01)
        priors.append(prior.tolist())
    assert priors[0] == priors[1] != priors[2]
    for wrong in ({"alpha": 0}, {"share": 2}):
        with pytest.raises(ss.SearchError):
            forest.add_noise(**wrong)


@pytest.mark.kernel
def test_whole_games_are_played_by_searches_with_a_network():
    target = jit_or(15, 1)
    states = np.concatenate([ss.deal(2, players, seed=1, rules={"target_prestige": target}) for players in (2, 3, 4)])
    forest, shares, decisions = ss.Forest(states, seed=3, room=256), np.zeros((6, 4)), 0
    while not forest.is_over.all():
        for _ in range(jit_or(4, 2)):
            leaves = forest.select(2)
            forest.update(*network(leaves, 4))
        chosen = forest.sample(seed=decisions)
        assert ((chosen >= 0) != forest.is_over).all()
        shares += forest.advance(chosen)
        decisions += 1
    assert shares.sum(axis=1) == pytest.approx(np.ones(6))
    assert not shares[:2, 2:].any() and not shares[2:4, 3].any()
    assert len(forest.select(3)) == 0


def test_evaluate_and_score_decisions_are_for_all_states():
    states = np.concatenate([ss.deal(2, players, seed=1) for players in (2, 3, 4)])
    values, scores = ss.evaluate(states), ss.score_decisions(states)
    assert values.shape == (6, 4) and values.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    assert ((scores > -np.inf) == ss.legal_mask(states)).all()
    over = ss.deal(3, 2, seed=1)
    shares = ss.playout(over, seed=2)
    assert (ss.evaluate(over) == shares).all() and (ss.score_decisions(over) == -np.inf).all()
    for function in (ss.evaluate, ss.score_decisions):
        with pytest.raises(ss.StateError):
            function(np.zeros(3))
