"""Game: what it says, what it refuses, its copies and what a seat may know of it."""

import copy
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest

import splendor_sim as ss
from broken_positions import changed, give_tokens, paying
from games import POSITIONS, at, jit_or, opening, play, random_games, random_walk, walk

WRONG_SEEDS = [-1, 2**64, 1.0, "7", None, True, np.float64(3), np.int64(-1)]


def bytes_of(game):
    return game.state.tobytes()


# --------------------------------------------------------------------------------------------------- what a game says


@pytest.mark.kernel
def test_a_new_game_stands_at_its_opening():
    game = ss.Game(players=3, seed=7, rules="official")
    assert (game.players, game.rules, game.turn, game.phase, game.seat_to_move) == (3, "official", 0, "main", 0)
    assert (game.is_over, game.is_deadlocked, game.prestige, game.winners()) == (False, False, [0, 0, 0], [])
    assert game.ranks() == [0, 0, 0]
    assert game.state.shape == (1,)
    assert game.state.dtype == ss.STATE_DTYPE


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_same_seed_gives_the_same_deal_everywhere(players):
    for seed in (0, 7, 2**63, 2**64 - 1):
        game = ss.Game(players, seed=seed)
        assert bytes_of(game) == ss.deal(1, players, seed)[0].tobytes() == ss.deal(5, players, seed)[0].tobytes()
        assert bytes_of(ss.Game(players, np.uint64(seed))) == bytes_of(game)


def test_seeds_are_told_apart_to_the_last_bit():
    seeds = [0, 1, 2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1]
    assert len({str(ss.Game(seed=seed).position()) for seed in seeds}) == len(seeds)


@pytest.mark.kernel
def test_names_and_ids_of_decisions_do_the_same():
    by_id, by_name = ss.Game(), ss.Game()
    rng = random.Random(4)
    for _ in range(jit_or(60, 10)):
        action = rng.choice(by_id.legal_actions())
        name = ss.action_name(action)
        assert by_id.chance_outcomes(action) == by_name.chance_outcomes(name)
        assert ss.parse_action(name) == action
        by_id.apply(np.int64(action))
        by_name.apply(f"  {name.replace(' ', '  ')} ")
        assert bytes_of(by_id) == bytes_of(by_name)


@pytest.mark.kernel
def test_decisions_are_listed_once_ascending_and_as_plain_numbers():
    for game in random_games(jit_or(30, 2), seed=3):
        for each in random_walk(game, random.Random(1), jit_or(300, 12)):
            actions = each.legal_actions()
            assert actions == sorted(set(actions))
            assert all(type(action) is int for action in actions)
            assert bool(actions) != each.is_over


def test_a_finished_game_has_no_decisions_and_refuses_all():
    game = ss.Game(seed=3)
    walk(game, random.Random(2))
    assert game.is_over
    assert (game.legal_actions(), game.phase) == ([], "over")
    before = bytes_of(game)
    for action in range(78):
        with pytest.raises(ss.IllegalActionError, match="over"):
            game.apply(action)
        with pytest.raises(ss.IllegalActionError, match="over"):
            game.chance_outcomes(action)
    assert bytes_of(game) == before
    assert [ss.perft(game, depth) for depth in (0, 1, 2, 5)] == [1, 0, 0, 0]


def test_a_game_is_shown_readably():
    game = ss.Game.from_position(POSITIONS[60]["position"])
    assert repr(game).startswith("<Game: 4 players, turn ")
    shown = str(game)
    for card in sum(game.position()["board"], []):
        assert f"(card {card})" in shown
    assert "paying for" in str(at(paying()))
    assert "won by seat" in repr(at(changed(opening(), ("phase", "over"), ("passes", 2))))
    empty = at(changed(opening(), ("phase", "over"), ("passes", 2)))
    assert isinstance(str(empty), str)


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.kernel
def test_a_decision_is_legal_exactly_if_apply_accepts_it_and_a_refusal_changes_nothing():
    for game in random_games(jit_or(25, 1), seed=21):
        for each in random_walk(game, random.Random(6), jit_or(120, 5)):
            legal_ids = set(each.legal_actions())
            before = bytes_of(each)
            for action in range(78):
                twin = each.copy()
                if action in legal_ids:
                    outcomes = twin.chance_outcomes(action)
                    twin.apply(action, deal=outcomes[-1] if outcomes else None)
                    assert bytes_of(twin) != before
                else:
                    with pytest.raises(ss.IllegalActionError):
                        twin.apply(action)
                    assert bytes_of(twin) == before


@pytest.mark.parametrize("action", ["take wu", "pass", "return w", "gold for w", "pay", "noble 1", "buy 1.1"])
def test_what_is_not_legal_is_refused_with_what_would_be(action):
    game = ss.Game.from_position(opening())
    before = bytes_of(game)
    with pytest.raises(ss.IllegalActionError) as refusal:
        game.apply(action)
    assert repr(action) in str(refusal.value)
    assert "take wug" in str(refusal.value)
    assert bytes_of(game) == before


@pytest.mark.kernel
@pytest.mark.parametrize("deal", [7, 40, 70, 89, 90, 255, -1, -2, 2**40, -(2**70), True, 3.0, "3", [3]])
def test_a_card_that_cannot_come_up_is_refused(deal):
    # Slot 1.1 is dealt from level 1, in whose deck card 7 is not.
    game = ss.Game.from_position(opening())
    before = bytes_of(game)
    for name in ("reserve 1.1", "reserve 1.deck"):
        with pytest.raises(ss.IllegalActionError):
            game.apply(name, deal=deal)
        assert bytes_of(game) == before


@pytest.mark.parametrize("deal", [0, -1, 7, 89, False])
def test_a_card_is_refused_where_none_is_dealt(deal):
    game = ss.Game.from_position(opening())
    before = bytes_of(game)
    with pytest.raises(ss.IllegalActionError):
        game.apply("take wug", deal=deal)
    assert bytes_of(game) == before


def test_every_card_that_may_come_up_can_be_given():
    game = ss.Game(seed=2)
    for name in ("reserve 1.3", "reserve 2.deck", "reserve 3.1"):
        outcomes = game.chance_outcomes(name)
        assert outcomes == sorted(set(outcomes))
        for card in outcomes:
            twin = game.copy()
            twin.apply(name, deal=np.int64(card))
            assert card not in sum(twin.position()["decks"], [])
    assert game.chance_outcomes("take wug") == []


@pytest.mark.parametrize("seed", WRONG_SEEDS)
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ss.SeedError, match="seed"):
        ss.Game(seed=seed)
    with pytest.raises(ss.SeedError, match="seed"):
        ss.Game().determinize(0, seed)


@pytest.mark.parametrize("seat", [-1, 2, 4, 10**6, 2**70, 1.0, "0", True, [0]])
def test_a_seat_that_is_none_of_the_game_is_refused(seat):
    for call in (lambda: ss.Game().determinize(seat, 1), lambda: ss.Game().observe(seat)):
        with pytest.raises(ss.StateError, match="seat"):
            call()


@pytest.mark.parametrize("depth", [-1, 101, 1.0, "2", None, True])
def test_a_depth_of_perft_out_of_range_is_refused(depth):
    with pytest.raises(ss.DepthError, match="depth"):
        ss.perft(ss.Game(), depth)


def test_every_refusal_is_a_value_error():
    names = [name for name in ss.__all__ if name.endswith("Error")]
    assert {"IllegalActionError", "PositionError", "RulesError", "SeedError", "StateError"} <= set(names)
    for name in names:
        assert issubclass(getattr(ss, name), ValueError)


# ---------------------------------------------------------------------------------------------------------------- perft


def test_perft_changes_nothing_and_depth_0_is_1():
    game = at(POSITIONS[4]["position"])
    before = bytes_of(game)
    assert [ss.perft(game, np.int64(depth)) for depth in (0, 1, 2)] == [1, 62, 770]
    assert bytes_of(game) == before


def test_perft_is_the_sum_over_decisions_and_deals():
    for stored in POSITIONS[:12]:
        game = at(stored["position"])
        total = 0
        for action in game.legal_actions():
            for card in game.chance_outcomes(action) or [None]:
                child = game.copy()
                child.apply(action, card)
                total += ss.perft(child, 2)
            if total > 300_000:
                break
        else:
            assert total == ss.perft(game, 3)


def test_perft_goes_on_where_a_block_of_it_ended(monkeypatch):
    from splendor_sim import game as module

    game = at(POSITIONS[13]["position"])
    whole = [ss.perft(game, depth) for depth in (2, 3, 4)]
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert [ss.perft(game, depth) for depth in (2, 3, 4)] == whole


# --------------------------------------------------------------------------------------------------------------- copies


@pytest.mark.kernel
@pytest.mark.parametrize(
    "duplicate", [ss.Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))]
)
def test_playing_on_a_copy_leaves_the_original_as_it_is(duplicate):
    game = ss.Game(seed=11, rules={"payment": "choice"})
    before, position = bytes_of(game), game.position()
    twin = duplicate(game)
    assert bytes_of(twin) == before
    assert twin.rules == game.rules
    walk(twin, random.Random(5), jit_or(200, 15))
    assert bytes_of(twin) != before
    assert bytes_of(game) == before
    assert game.position() == position


@pytest.mark.kernel
def test_a_copy_goes_on_with_the_same_cards_to_come():
    game = ss.Game(seed=1)
    twin = game.copy()
    for name in ["reserve 1.1", "reserve 2.deck"]:
        play(game, name)
        play(twin, name)
    assert bytes_of(game) == bytes_of(twin)


def test_the_state_is_the_games_own_memory():
    game = ss.Game()
    ss.step(game.state, [ss.parse_action("take wug")])
    assert game.turn == 1
    assert game.position()["seats"][0]["tokens"] == [1, 1, 1, 0, 0, 0]


@pytest.mark.kernel
def test_a_seat_stays_to_move_until_its_turn_has_ended():
    for game in random_games(jit_or(40, 2), seed=17):
        seat, turn = 0, 0
        for each in random_walk(game, random.Random(8), jit_or(300, 12)):
            if each.turn == turn:
                assert each.seat_to_move == seat
            else:
                assert (each.turn, each.seat_to_move) == (turn + 1, (seat + 1) % each.players)
            seat, turn = each.seat_to_move, each.turn


# --------------------------------------------------------------------------------------------------- what a seat knows


def blind(level=2):
    """A game in which seat 0 has reserved from a deck and seat 1 a card of the board."""
    return play(ss.Game(seed=6), f"reserve {level}.deck", "reserve 1.1")


def reserved(game, seat):
    return [held["card"] for held in game.position()["seats"][seat]["reserved"]]


def test_a_hidden_card_is_redrawn_for_others_and_kept_for_its_owner():
    game = blind()
    (own,) = reserved(game, 0)
    unseen = {*game.position()["decks"][1], own}
    drawn = [reserved(game.determinize(1, seed), 0)[0] for seed in range(600)]
    assert set(drawn) == unseen
    assert {reserved(game.determinize(0, seed), 0)[0] for seed in range(50)} == {own}
    counts = np.bincount(drawn, minlength=90)[sorted(unseen)]
    expected = len(drawn) / len(unseen)
    assert ((counts - expected) ** 2 / expected).sum() < 60  # 26 degrees of freedom


def test_a_card_reserved_from_the_board_is_never_redrawn():
    game = blind()
    for seed in range(50):
        for seat in (0, 1):
            assert reserved(game.determinize(seat, seed), 1) == reserved(game, 1)


@pytest.mark.kernel
def test_a_determinized_game_keeps_all_that_the_seat_sees_and_each_card_in_one_place():
    for game in random_games(jit_or(60, 3), seed=31):
        walk(game, random.Random(9), jit_or(120, 10))
        for seat in range(game.players):
            for seed in range(3):
                other = game.determinize(seat, seed)
                assert ss.Game.from_position(other.position()).position() == other.position()
                assert other.observe(seat).tobytes() == game.observe(seat).tobytes()
                assert (other.players, other.rules, other.turn) == (game.players, game.rules, game.turn)
                assert bytes_of(other) == bytes_of(other.determinize(seat, 0).determinize(seat, seed))


def test_determinizing_changes_the_cards_to_come_and_not_the_game_itself():
    game = ss.Game(seed=6)
    before = bytes_of(game)
    dealt = set()
    for seed in range(20):
        twin = game.determinize(0, seed)
        assert twin.position() == game.position()
        dealt.add(play(twin, "reserve 1.1").position()["board"][0][0])
    assert len(dealt) > 5
    assert bytes_of(game) == before


def test_a_bought_hidden_card_is_known_to_all():
    position = changed(opening(), ("seats.0.reserved", [{"card": 5, "hidden": True}]))
    position["decks"][0].remove(5)
    game = play(give_tokens(position, 0, [0, 3, 0, 0, 0, 0]), "buy reserved.1")
    for seed in range(20):
        assert game.determinize(1, seed).position()["seats"][0]["cards"] == [5]
    assert game.observe(1).view(ss.OBSERVATION_DTYPE)["unseen"][0, 5] == 0


# ------------------------------------------------------------------------------------------------------------ the names


def test_every_name_of_the_package_can_be_used():
    for name in ss.__all__:
        assert getattr(ss, name) is not None
        assert name in dir(ss)
    with pytest.raises(AttributeError, match="no attribute 'gmae'"):
        _ = ss.gmae


@pytest.mark.parametrize("first", ["", "ss.simulate", "import splendor_sim.simulate", "from splendor_sim import *"])
def test_names_that_modules_share_are_functions_however_they_are_imported(first):
    code = f"""
import sys
import splendor_sim as ss
assert not {{"numpy", "numba"}} & set(sys.modules)
{first}
import splendor_sim.simulate
assert callable(ss.simulate), ss.simulate
from splendor_sim.simulate import simulate
assert ss.simulate is simulate is sys.modules["splendor_sim.simulate"].simulate
from splendor_sim import simulate as again
assert again is simulate
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
