"""The compiled engine against the plain reference, decision by decision through random games."""

import random

import pytest

import reference
import splendor_sim as ss
from games import POSITIONS, PRESETS, RULES, jit_or, random_rules

MOST_DECISIONS = 600  # some rules let random play go on for ever


def compare(game, plain):
    """Everything that both engines say of a game."""
    assert game.legal_actions() == plain.legal_actions()
    assert game.position() == plain.position()
    assert (game.phase, game.turn, game.seat_to_move) == (plain.phase, plain.turn, plain.to_move)
    assert (game.is_over, game.is_deadlocked) == (plain.is_over, plain.deadlocked)
    assert game.prestige == [plain.prestige(seat) for seat in range(plain.players)]
    assert (game.winners(), game.ranks()) == (plain.winners(), plain.ranks())
    for action in game.legal_actions():
        assert game.chance_outcomes(action) == plain.chance_outcomes(action)


def decide(game, plain, rng):
    """Make one random decision in both; the card that comes up is a given one or the game's own."""
    action = rng.choice(game.legal_actions())
    outcomes = game.chance_outcomes(action)
    if not outcomes or rng.random() < 0.5:
        before = game.position()["decks"] if outcomes else None
        game.apply(action)
        dealt = None
        if outcomes:
            after = game.position()["decks"]
            (dealt,) = {card for deck in before for card in deck} - {card for deck in after for card in deck}
            assert dealt in outcomes
    else:
        dealt = rng.choice(outcomes)
        game.apply(action, deal=dealt)
    plain.apply(action, dealt)


def play_both(players, rules, seed, every):
    """Play a random game in both engines and compare them before every so many decisions, and at the end."""
    rng = random.Random(seed)
    game = ss.Game(players, seed=seed, rules=rules)
    plain = reference.Game.from_position(game.position())
    for decision in range(MOST_DECISIONS):
        if plain.is_over:
            break
        if decision % every == 0:
            compare(game, plain)
        decide(game, plain, rng)
    compare(game, plain)
    return game


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_decision_of_random_games_is_as_in_the_reference(players, rules):
    for seed in range(jit_or(3, 0)):
        play_both(players, rules, seed, every=1)
    if jit_or(0, 1):
        rng = random.Random(7)
        game = ss.Game(players, seed=7, rules=rules)
        plain = reference.Game.from_position(game.position())
        for _ in range(40):
            if not plain.is_over:
                compare(game, plain)
                decide(game, plain, rng)
        compare(game, plain)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_options_are_played_as_in_the_reference(players):
    rng = random.Random(players)
    for seed in range(40):
        play_both(players, random_rules(rng), seed, every=3)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_many_games_are_played_as_in_the_reference(players, at_size):
    for seed in range(at_size(20_000, 200)):
        play_both(players, RULES[seed % len(RULES)], 1000 + seed, every=20)


@pytest.mark.slow
def test_many_random_options_are_played_as_in_the_reference(at_size):
    rng = random.Random(0)
    for seed in range(at_size(20_000, 200)):
        play_both(2 + seed % 3, random_rules(rng), 10**6 + seed, every=20)


def test_random_games_reach_every_kind_of_end():
    ends = set()
    for seed in range(200):
        game = play_both(2, {"gem_tokens": [2, 5, 7], "gold_tokens": [1, 5, 5]}, seed, every=1000)
        ends.add((game.is_deadlocked, len(game.winners())))
    assert {(False, 1), (True, 1)} <= ends


@pytest.mark.parametrize("preset", PRESETS)
def test_perft_counts_what_the_reference_counts(preset):
    rng = random.Random(preset)
    for players in (2, 3, 4):
        game = ss.Game(players, seed=rng.randrange(2**64), rules={"preset": preset, "payment": "choice"})
        for _ in range(rng.randrange(150)):
            if not game.is_over:
                game.apply(rng.choice(game.legal_actions()))
        plain = reference.Game.from_position(game.position())
        depth = 2 if ss.perft(game, 2) < 4000 else 1
        for each in range(depth + 1):
            assert ss.perft(game, each) == reference.perft(plain, each)


@pytest.mark.slow
def test_deep_perft_counts_what_the_reference_counts(at_size):
    compared = 0
    for stored in POSITIONS:
        game = ss.Game.from_position(stored["position"])
        if ss.perft(game, 3) <= at_size(200_000, 8_000):
            assert ss.perft(game, 3) == reference.perft(reference.Game.from_position(stored["position"]), 3)
            compared += 1
    assert compared >= 3


@pytest.mark.kernel
@pytest.mark.parametrize("stored", POSITIONS[:: jit_or(1, 6)], ids=lambda stored: str(POSITIONS.index(stored) + 1))
def test_stored_positions_have_their_decisions_perft_walks_and_winners(stored):
    game = ss.Game.from_position(stored["position"])
    assert game.position() == stored["position"]
    assert [ss.action_name(action) for action in game.legal_actions()] == stored["legal"]
    assert ss.perft(game, 0) == 1
    assert ss.perft(game, 1) == stored["perft"][0]
    if jit_or(True, stored["perft"][1] < 3000):
        assert ss.perft(game, 2) == stored["perft"][1]
    for name, deal, after in stored["walk"]:
        outcomes = game.chance_outcomes(name)
        assert (deal in outcomes) if outcomes else deal is None
        game.apply(name, deal)
        assert game.position() == after
    assert game.is_over == ("winners" in stored)
    assert game.winners() == stored.get("winners", [])


def test_openings_have_the_known_perft():
    game = ss.Game.from_position(POSITIONS[0]["position"])
    assert [ss.perft(game, depth) for depth in (1, 2)] == [405, 162_040]
    assert [ss.perft(ss.Game(players, seed=1), 1) for players in (2, 3, 4)] == [405, 405, 405]
