"""The policies: legal in every phase, fair about what is hidden, and each as strong or as plain as it should be."""

import random
import zlib

import numba
import numpy as np
import pytest

import splendor_sim as ss
from broken_positions import BOARD, changed, give_cards, give_tokens
from games import (
    CARD_BONUS,
    CARD_PRESTIGE,
    at,
    cards_worth,
    give_bonuses,
    jit_or,
    opening,
    random_games,
    tile_requiring,
    walk,
)
from splendor_sim.core.cards import CARD_LEVEL
from splendor_sim.core.engine import KEYED, apply, clear, determinize, lay_out, winners
from splendor_sim.core.heuristic import PRIOR, score_decisions, score_with
from splendor_sim.core.heuristic_vectors import SCORES_DTYPE
from splendor_sim.core.heuristic_weights import WEIGHTS, WEIGHTS_DTYPE
from splendor_sim.core.jit import popcount
from splendor_sim.core.policies import GREEDY, GUIDE, HEURISTIC, POLICIES, RANDOM, choose, choose_noisily
from splendor_sim.core.rng import DEAL, stream_of
from splendor_sim.core.state import OVER, STATE_DTYPE

SILENT = np.float32(12345)  # what no score is
ALL = np.uint64(2**32 - 1)
NONE = np.uint64(0)


@numba.njit
def chosen(states, policies, epsilon, word):
    """The decision of each seat's policy in the one state of `states`."""
    s = states[0]
    return choose_noisily(policies[np.int64(s.to_move)], epsilon, s, word)


@numba.njit
def plain_chosen(states, policy, word):
    return choose(policy, states[0], word)


@numba.njit
def scored(states, scores):
    s = states[0]
    score_decisions(s, scores[0])
    return score_with(s, PRIOR[np.int64(s.players) - 2], scores[0])


@numba.njit
def scored_with(states, weights, scores):
    return score_with(states[0], weights[0], scores[0])


@numba.njit
def win_share(template, policy, against, deals):
    """The share of wins of a policy that plays each deal from every seat, the other seats played by another."""
    states = template.copy()
    s = states[0]
    clear(s)
    cleared = states.copy()
    won, players = 0.0, np.int64(s.players)
    for deal in range(deals):
        for mine in range(players):
            states[0] = cleared[0]
            lay_out(s, stream_of(np.uint64(11), deal, DEAL))
            while s.phase != OVER and s.turn < 400:
                apply(s, choose(policy if s.to_move == mine else against, s, np.uint64(0)), KEYED)
            seats = winners(s)
            if s.phase == OVER and (seats >> mine) & 1 != 0:
                won += 1 / popcount(np.uint64(seats))
    return won / (deals * players)


def name_chosen(game, policy):
    """The name of the decision of a policy in a game."""
    return ss.action_name(int(plain_chosen(game._states, policy, NONE)))


def scores_of(states):
    """(scores with SILENT where none was written, the decision of highest score)."""
    scores = np.zeros(1, SCORES_DTYPE)
    scores["score"] = SILENT
    best = int(scored(states, scores))
    return scores["score"][0], best


def template(players):
    states = np.zeros(1, STATE_DTYPE)
    states["players"] = players
    for name, value in ss.Rules().for_players(players).items():
        states[name] = value
    return states


# --------------------------------------------------------------------------------------------------------- all policies


@pytest.mark.kernel
def test_every_policy_makes_legal_decisions_in_every_phase():
    rng, phases = random.Random(4), set()
    for number, game in enumerate(random_games(jit_or(300, 8), seed=5)):
        kinds = np.array([(number // 4 + seat * (number % 4)) % 4 for seat in range(4)], np.int64)
        for _ in range(jit_or(300, 25)):
            if game.is_over:
                break
            phases.add((int(kinds[game.seat_to_move]), game.phase))
            # What is not legal is refused.
            game.apply(int(chosen(game._states, kinds, NONE, np.uint64(rng.randrange(2**64)))))
    every = {(policy, phase) for policy in POLICIES.values() for phase in ("main", "pay", "return", "noble")}
    assert phases >= every - {(RANDOM, "noble")} or numba.config.DISABLE_JIT


@pytest.mark.kernel
def test_the_heuristic_scores_just_the_legal_decisions_and_chooses_the_best():
    rng = random.Random(3)
    seen, again = set(), np.zeros(1, SCORES_DTYPE)
    for game in random_games(jit_or(40, 3), seed=8):
        for _ in range(jit_or(80, 4)):
            if game.is_over:
                break
            before = game.state.tobytes()
            scores, best = scores_of(game._states)
            assert game.state.tobytes() == before
            assert np.flatnonzero(scores != SILENT).tolist() == game.legal_actions()
            assert np.isfinite(scores).all()
            legal_scores = np.where(scores == SILENT, -np.inf, scores)
            assert best == int(np.argmax(legal_scores))
            weights = WEIGHTS[game.state["players"] - 2]
            assert plain_chosen(game._states, HEURISTIC, NONE) == scored_with(game._states, weights, again)
            seen.add(game.phase)
            game.apply(rng.choice([best, *game.legal_actions()]))
    assert seen >= {"main", "pay", "return"} or numba.config.DISABLE_JIT


@pytest.mark.kernel
def test_compiled_and_plain_the_heuristic_scores_are_equal_to_the_last_bit():
    # One number for all modes. The weights are arbitrary: a fit of new ones leaves it, a new formula changes it.
    places = np.arange(WEIGHTS_DTYPE.itemsize // 4)
    weights = (places * 37 % 101 / 50 - 0.5).astype(np.float32).view(WEIGHTS_DTYPE)
    rng, digest, phases = random.Random(6), 0, set()
    for seed in range(18):
        game = ss.Game(2 + seed % 3, seed=seed)
        walk(game, rng, 6 * seed)
        scores = np.zeros(1, SCORES_DTYPE)
        best = scored_with(game._states, weights, scores) if not game.is_over else 0
        digest = zlib.crc32(scores.tobytes() + bytes([int(best)]), digest)
        phases.add(game.phase)
    assert phases >= {"main", "return"}
    assert digest == 3007788486


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_a_seat_cannot_know_changes_neither_decision_nor_score(players):
    rng = random.Random(players)
    hidden = 0
    for seed in range(jit_or(60, 4)):
        game = ss.Game(players, seed=seed)
        walk(game, rng, rng.randrange(20, 90))
        if game.is_over:
            continue
        states, seat = game._states, game.seat_to_move
        hidden += sum(int(states["hidden"][0, other]) != 0 for other in range(players) if other != seat)
        scores, _ = scores_of(states)
        for key in range(3):
            other = states.copy()
            determinize(other[0], seat, np.uint64(seed * 10 + key))
            assert scores_of(other)[0].tobytes() == scores.tobytes()
            for policy in (GREEDY, GUIDE, HEURISTIC):
                assert plain_chosen(other, policy, NONE) == plain_chosen(states, policy, NONE)
    assert hidden > 0


@pytest.mark.kernel
@pytest.mark.parametrize("policy", [GREEDY, GUIDE, HEURISTIC])
def test_a_decision_is_that_of_the_seat_to_move(policy):
    start = opening(2)
    rich = give_tokens(give_bonuses(start, 1, [3, 3, 3, 3, 3]), 1, [0, 0, 0, 0, 0, 3])
    game = at(changed(rich, ("to_move", 1), ("turn", 1)))
    assert name_chosen(game, policy).startswith("buy")
    game = at(rich)
    assert name_chosen(game, policy).startswith("take")


@pytest.mark.kernel
def test_noise_of_nothing_is_the_policy_and_full_noise_is_random_play():
    rng = random.Random(1)
    seen, different = [], 0
    for _ in range(jit_or(20, 2)):
        game = ss.Game(2, seed=rng.randrange(99))
        walk(game, rng, 12)
        for policy in POLICIES.values():
            kinds = np.full(4, policy, np.int64)
            for _ in range(jit_or(100, 5)):
                word = np.uint64(rng.randrange(2**64))
                quiet = chosen(game._states, kinds, NONE, word)
                assert quiet == plain_chosen(game._states, policy, word)
                loud = chosen(game._states, kinds, ALL, word)
                assert loud == plain_chosen(game._states, RANDOM, word)
                half = chosen(game._states, kinds, np.uint64(2**31), word)
                assert half == (loud if int(word) % 2**32 < 2**31 else quiet)
                seen.append(half == loud != quiet)
                different += loud != quiet
    assert abs(sum(seen) / different - 0.5) < 0.1 or numba.config.DISABLE_JIT


# ------------------------------------------------------------------------------------------------------------ the guide


def card_of(game, name):
    level, column = name.split()[1].split(".")
    return game.position()["board"][int(level) - 1][int(column) - 1]


def test_the_guide_begins_with_three_different_tokens():
    name = name_chosen(ss.Game(2, seed=1), GUIDE)
    assert name.startswith("take") and len(set(name.split()[1])) == 3


@pytest.mark.parametrize(("bonuses", "level"), [([1, 1, 1, 1, 1], 1), ([2, 2, 1, 1, 1], 2), ([2, 2, 2, 2, 2], 3)])
def test_the_guide_buys_the_level_of_its_stage(bonuses, level):
    # With six gold and a few tokens a card of each level can be paid.
    position = opening(2, {"gold_tokens": [7, 5, 5], "gem_tokens": [7, 5, 7], "token_limit": 20})
    game = at(give_tokens(give_bonuses(position, 0, bonuses), 0, [3, 3, 3, 3, 1, 7]))
    able = {int(CARD_LEVEL[card_of(game, name)]) for name in map(ss.action_name, game.legal_actions()) if "buy" in name}
    assert able == {1, 2, 3}
    name = name_chosen(game, GUIDE)
    assert name.startswith("buy") and CARD_LEVEL[card_of(game, name)] == level


@pytest.mark.parametrize(("white", "bought"), [(False, False), (True, True)])
def test_the_guide_buys_a_bonus_at_the_end_only_for_a_noble(white, bought):
    plain = [card for card in range(40) if CARD_BONUS[card] == 0 and CARD_PRESTIGE[card] == 0][:4]
    nobles = [tile_requiring(*need) for need in [(0, 0, 0, 4, 4), (0, 0, 3, 3, 3), (3, 0, 0, 3, 3)]]
    if white:
        nobles[0] = tile_requiring(4, 0, 0, 0, 4)
    position = opening(2, nobles=nobles, board=[plain, *BOARD[1:]])
    game = at(give_tokens(give_bonuses(position, 0, [3, 3, 3, 0, 0]), 0, [0, 0, 0, 1, 1, 1]))
    buys = [name for name in map(ss.action_name, game.legal_actions()) if name.startswith("buy")]
    assert buys and all(name.startswith("buy 1.") for name in buys)
    assert (name_chosen(game, GUIDE) in buys) == bought


# -------------------------------------------------------------------------------------------------------- the heuristic


@pytest.mark.parametrize(("players", "bound"), [(2, 0.92), (3, 0.86), (4, 0.77)])
def test_the_heuristic_beats_greedy_play(players, bound):
    if not numba.config.DISABLE_JIT:
        assert win_share(template(players), HEURISTIC, GREEDY, 2000 // players) > bound


def test_the_guide_beats_random_play_and_loses_to_the_heuristic():
    if not numba.config.DISABLE_JIT:
        assert win_share(template(2), GUIDE, RANDOM, 300) > 0.95
        assert win_share(template(2), HEURISTIC, GUIDE, 300) > 0.8


def test_the_heuristic_buys_the_card_that_wins():
    start = opening(2)
    position = give_cards(start, 1, cards_worth(start, 14, 5))
    position = changed(give_tokens(position, 1, [0, 0, 0, 0, 0, 5]), ("to_move", 1), ("turn", 41))
    game = at(position)
    prestige = {
        name: CARD_PRESTIGE[card_of(game, name)]
        for name in map(ss.action_name, game.legal_actions())
        if name.startswith("buy")
    }
    assert any(prestige.values()) and not all(prestige.values())
    assert prestige[name_chosen(game, HEURISTIC)] > 0


def test_the_heuristic_returns_no_gold_while_it_has_other_tokens_to_spare():
    game = at(give_tokens(opening(2), 0, [3, 2, 2, 2, 0, 1]))
    game.apply("take ugr")
    assert game.phase == "return"
    assert name_chosen(game, HEURISTIC) != "return j"


def test_a_prior_from_the_scores_is_sharp_and_not_certain():
    rng = random.Random(2)
    tops = []
    for seed in range(jit_or(100, 2)):
        game = ss.Game(2 + seed % 3, seed=seed)
        walk(game, rng, rng.randrange(40))
        if game.is_over or game.phase != "main":
            continue
        scores, best = scores_of(game._states)
        weights = np.exp(scores[game.legal_actions()] - scores[best])
        tops.append(1 / weights.sum())
    assert 0.25 < np.mean(tops) < 0.7
