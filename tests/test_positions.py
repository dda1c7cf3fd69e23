"""Positions: what is written comes back, every law is checked, and the state is that which play gives."""

import copy
import json
import random
import re

import numpy as np
import pytest

import reference
import splendor_sim as ss
from broken_positions import broken_positions, changed, lawful_positions
from games import POSITIONS, jit_or, opening, random_games, random_walk

LAWFUL = [pytest.param(position, id=name) for name, position in lawful_positions()]
BROKEN = [pytest.param(position, word, id=name) for name, position, word in broken_positions()]


@pytest.mark.kernel
@pytest.mark.parametrize("position", LAWFUL)
def test_lawful_positions_are_accepted_and_come_back(position):
    before = copy.deepcopy(position)
    game = ss.Game.from_position(position)
    assert game.position() == {"passes": 0, **position}
    assert position == before
    assert game.legal_actions() == reference.Game.from_position(position).legal_actions()


@pytest.mark.parametrize(("position", "word"), BROKEN)
def test_a_position_that_breaks_a_law_is_refused_with_a_message_that_says_which(position, word):
    before = copy.deepcopy(position)
    with pytest.raises(ss.PositionError) as refusal:
        ss.Game.from_position(position)
    assert word in str(refusal.value)
    assert position == before


def test_a_refusal_names_the_law_and_the_place():
    def refused(*changes):
        with pytest.raises(ss.PositionError) as refusal:
            ss.Game.from_position(changed(opening(), *changes))
        return str(refusal.value)

    assert refused(("seats.1.tokens.2", True)) == (
        "known keys and types: seats[1].tokens[2] is a whole number of 0 or more, not True"
    )
    assert (
        refused(("bank.0", 3)) == "tokens of each colour sum to the set-up's: bank and seats hold 3 white tokens, not 4"
    )
    assert refused(("decks.0.0", 1)) == "every card in exactly one place: card 1 is in decks[0] and in decks[0]"
    assert refused(("turn", 3)) == "turn equals to_move modulo the players: turn 3 is that of seat 1, but to_move is 0"
    assert refused(("rules", {"token_limit": 99})).startswith("known keys and types: rules: token_limit")


@pytest.mark.parametrize("stored", POSITIONS, ids=range(1, len(POSITIONS) + 1))
def test_stored_positions_survive_json_and_give_one_state_each(stored):
    for position in [stored["position"], *(after for _, _, after in stored["walk"])]:
        game = ss.Game.from_position(position, seed=3)
        again = ss.Game.from_position(json.loads(json.dumps(game.position())), seed=3)
        assert again.position() == position
        assert again.state.tobytes() == game.state.tobytes()


@pytest.mark.kernel
def test_the_state_of_a_position_is_byte_for_byte_the_one_that_play_gives():
    rng = random.Random(1)
    for game in random_games(jit_or(60, 3), seed=5):
        for each in random_walk(game, rng, jit_or(400, 12)):
            position = each.position()
            states, rules = ss.from_position(position)
            states["key"] = each.state["key"]
            assert states.tobytes() == each.state.tobytes()
            assert rules == each.rules
            assert json.loads(json.dumps(position)) == position


def test_walks_with_given_cards_give_the_states_of_their_positions():
    for stored in POSITIONS:
        game = ss.Game.from_position(stored["position"], seed=9)
        for name, deal, after in stored["walk"]:
            game.apply(name, deal)
            assert ss.Game.from_position(after, seed=9).state.tobytes() == game.state.tobytes()


def test_the_cards_to_come_follow_from_the_seed():
    def dealt(seed):
        game = ss.Game.from_position(opening(), seed=seed)
        for _ in range(6):
            game.apply("reserve 1.1")
        return game.position()

    assert dealt(4) == dealt(4)
    assert len({json.dumps(dealt(seed)) for seed in range(8)}) == 8
    assert ss.Game.from_position(opening()).state.tobytes() == ss.Game.from_position(opening(), seed=0).state.tobytes()


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "7", None, True])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ss.SeedError, match="seed"):
        ss.Game.from_position(opening(), seed=seed)


@pytest.mark.parametrize(
    "rules",
    [
        "official",
        "italian",
        {},
        {"preset": "basque"},
        {"gold_tokens": [5, 5, 5]},
        {"payment": "choice", "token_limit": 12},
    ],
)
def test_rules_come_back_as_they_were_given(rules):
    game = ss.Game(3, rules=rules)
    assert game.position()["rules"] == rules
    assert ss.Game(3, rules=copy.deepcopy(rules)).rules == rules
    position = ss.Game(4, rules=rules).position()
    assert ss.Game.from_position(position).position()["rules"] == rules


def test_a_game_keeps_its_rules_apart_from_what_was_given_and_handed_out():
    rules = {"gem_tokens": [4, 5, 7]}
    game = ss.Game(rules=rules)
    rules["gem_tokens"][0] = 1
    game.position()["rules"]["gem_tokens"][0] = 2
    game.rules["gem_tokens"][0] = 3
    assert game.position()["rules"] == {"gem_tokens": [4, 5, 7]}
    position = game.position()
    read = ss.Game.from_position(position)
    position["rules"]["gem_tokens"][0] = 1
    assert read.rules == {"gem_tokens": [4, 5, 7]}


def test_rules_of_other_types_are_written_as_plain_json():
    for rules in (ss.Rules(token_limit=12), {"gem_tokens": (4, 5, 7), "token_limit": np.int64(12)}):
        position = ss.Game(rules=rules).position()
        assert json.loads(json.dumps(position)) == position
        assert ss.Rules.of(position["rules"]) == ss.Rules(token_limit=12)


@pytest.mark.kernel
def test_a_state_alone_says_rules_that_mean_the_same():
    for game in random_games(jit_or(60, 6), seed=2):
        position = ss.to_position(game.state[0])
        assert ss.Rules.of(position["rules"]).for_players(game.players) == ss.Rules.of(game.rules).for_players(
            game.players
        )
        states, _ = ss.from_position(position)
        states["key"] = game.state["key"]
        assert states.tobytes() == game.state.tobytes()
    assert ss.to_position(ss.deal(3)[1])["rules"] == "official"
    assert ss.to_position(ss.deal(1, rules="italian")[0])["rules"] == {"take_two_min": 5}


def test_a_position_says_nothing_of_the_order_of_hidden_cards():
    games = [ss.Game.from_position(opening(), seed=seed) for seed in (1, 2)]
    assert games[0].state["key"] != games[1].state["key"]
    assert games[0].position() == games[1].position()
    assert set(games[0].position()) == set(opening())


def test_the_same_cards_bought_in_another_order_give_the_same_state():
    position = opening()
    orders = []
    for order in (("buy reserved.1", "buy reserved.1"), ("buy reserved.2", "buy reserved.1")):
        held = [{"card": 16, "hidden": False}, {"card": 8, "hidden": False}]
        start = changed(position, ("seats.0.reserved", held), ("seats.0.tokens", [0, 0, 0, 3, 3, 0]))
        start = changed(start, ("bank", [4, 4, 4, 1, 1, 5]))
        start["decks"][0] = [card for card in start["decks"][0] if card not in (8, 16)]
        game = ss.Game.from_position(start)
        for name in (order[0], "take wug", order[1]):
            game.apply(name)
        orders.append(game)
    assert orders[0].state.tobytes() == orders[1].state.tobytes()
    assert orders[0].position()["seats"][0]["cards"] == [8, 16]


def test_counts_beyond_what_a_state_can_hold_are_refused():
    assert ss.Game.from_position(changed(opening(), ("turn", 2**32 - 2))).turn == 2**32 - 2
    with pytest.raises(ss.PositionError, match="turn"):
        ss.Game.from_position(changed(opening(), ("turn", 2**32)))
    with pytest.raises(ss.PositionError, match="passes"):
        ss.Game.from_position(changed(opening(), ("phase", "over"), ("passes", 256)))


def test_numpy_numbers_and_tuples_are_no_json():
    for path, value in [("turn", np.int64(0)), ("bank", (4, 4, 4, 4, 4, 5)), ("nobles.0", np.int64(0))]:
        with pytest.raises(ss.PositionError, match=re.escape(path.split(".")[0])):
            ss.Game.from_position(changed(opening(), (path, value)))


def mutated(position, rng):
    """A position with one random change somewhere, which may break a law or none."""
    position = copy.deepcopy(position)
    where, place = None, position
    while isinstance(place, dict | list) and place and (where is None or rng.random() < 0.85):
        parent = place
        where = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        place = parent[where]
    kind = rng.randrange(6)
    if kind == 0 and isinstance(place, int):
        parent[where] = place + rng.choice([-1, 1])
    elif kind == 1:
        parent[where] = rng.choice([None, True, 0, 1, 2, 3, 10, 15, 90, -1, 1.0, "0", [], {}, "over", "main", "noble"])
    elif kind == 2:
        del parent[where]
    elif kind == 3 and isinstance(place, list):
        rng.shuffle(place)
    elif kind == 4:
        position["phase"] = rng.choice(["main", "pay", "return", "noble", "over"])
    else:
        seat = rng.choice(position["seats"])
        colour = rng.randrange(6)
        moved = min(position["bank"][colour], rng.randrange(1, 4))
        position["bank"][colour] -= moved
        seat["tokens"][colour] += moved
    return position


@pytest.mark.slow
def test_both_engines_accept_and_refuse_the_same_positions(at_size):
    rng = random.Random(11)
    seen = {True: 0, False: 0}
    for game in random_games(at_size(2000, 40), seed=8):
        for each in random_walk(game, rng, 300):
            if rng.random() < 0.1:
                for _ in range(4):
                    position = mutated(each.position(), rng)
                    verdicts = []
                    for check in (reference.check_position, ss.from_position):
                        try:
                            check(position)
                            verdicts.append(True)
                        except (reference.PositionLawError, ss.PositionError):
                            verdicts.append(False)
                    assert verdicts[0] == verdicts[1], position
                    seen[verdicts[0]] += 1
    assert min(seen.values()) > 100
