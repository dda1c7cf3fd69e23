"""The evaluation of a position: what it counts, what it makes of it, and how well it foretells who wins."""

import math
import random

import numpy as np
import pytest

import splendor_sim as ss
from games import CARD_BONUS, CARD_COST, CARD_PRESTIGE, NOBLE_COST, RULES, jit_or
from splendor_sim.core import gems
from splendor_sim.core.cards import CARD_COUNT
from splendor_sim.core.evaluation import COUNTS_DTYPE, SCORES, STAGES, VALUES_DTYPE, evaluate, measure
from splendor_sim.core.policies import choose_greedy
from splendor_sim.core.state import MAIN, PHASE_NAMES
from splendor_sim.core.vectors import prestige_by_cost

LOOKED_UP = ("prestige", "bought", "coloured", "gold", "colours", "reserved", "at_once", "worth")
COUNTS = (*LOOKED_UP, "by_prestige", "cheap", "potential")


def values(s):
    found = np.zeros(1, VALUES_DTYPE)
    evaluate(s, found[0])
    return found["value"][0].tolist()


def walk(rules, players, seed, steps=400):
    """A random game: its positions that are not over, from time to time and in every phase but main."""
    rng = random.Random(seed)
    game = ss.Game(players, seed=seed, rules=rules)
    for _ in range(steps):
        if game.is_over:
            return
        if game.phase != "main" or rng.random() < 0.1:
            yield game
        buys = [action for action in game.legal_actions() if 45 <= action < 60]
        game.apply(rng.choice(buys if buys and rng.random() < 0.7 else game.legal_actions()))


# -------------------------------------------------------------------------------------------- against a plain reckoning


def due(cost, bonuses):
    return [max(0, asked - have) for asked, have in zip(cost, bonuses)]


def reckon(position, rules):
    """What evaluate should find, from a position in JSON: ([counts of each seat], [values])."""
    players, seats = position["players"], position["seats"]
    target = ss.Rules.of(rules).for_players(players)["target_prestige"]
    shared = ss.Rules.of(rules).tie_break == "shared"
    moved = position["phase"] != "main"
    prestiges = [sum(CARD_PRESTIGE[card] for card in seat["cards"]) + 3 * len(seat["nobles"]) for seat in seats]
    last_round = max(prestiges) >= target
    mover = position["to_move"] + moved
    if mover == players and not last_round:
        mover = 0
    first = mover % players
    left = max(0, target - max(prestiges))
    weights = SCORES[players - 2, left * (65536 * 15 // target + 1) // 65536]
    counts, scores, standings = [], [], []
    for number, seat in enumerate(seats):
        cards, tokens = list(seat["cards"]), list(seat["tokens"])
        bonuses = [sum(CARD_BONUS[card] == colour for card in cards) for colour in range(5)]
        waits = any(noble is not None and not any(due(NOBLE_COST[noble], bonuses)) for noble in position["nobles"])
        if position["phase"] == "pay" and number == position["to_move"]:
            card = position["pending"]["card"]
            for colour, asked in enumerate(due(CARD_COST[card], bonuses)):
                tokens[5] -= max(0, asked - tokens[colour])
                tokens[colour] -= min(asked, tokens[colour])
            cards.append(card)
            bonuses[CARD_BONUS[card]] += 1
        prestige = sum(CARD_PRESTIGE[card] for card in cards) + 3 * len(seat["nobles"])
        means = [bonus + token for bonus, token in zip(bonuses, tokens)]
        seen = [card for row in position["board"] for card in row if card is not None]
        seen += [reserved["card"] for reserved in seat["reserved"]]
        missing = [max(0, sum(due(CARD_COST[card], means)) - tokens[5]) for card in seen]
        dues = [sum(due(CARD_COST[card], bonuses)) for card in seen]
        worths = [CARD_PRESTIGE[card] for card in seen]
        at_once = max([worth for worth, lacks in zip(worths, missing) if lacks == 0], default=0)
        acts = not last_round or number >= mover
        found = {
            "prestige": min(31, prestige * (65536 * 15 // target + 1) // 65536),
            "bought": min(31, len(cards)),
            "coloured": min(23, sum(tokens[:5])),
            "gold": tokens[5],
            "colours": sum(bonus >= 2 for bonus in bonuses),
            "reserved": len(seat["reserved"]),
            "at_once": at_once,
            "worth": max([0] + [worth + 3 - lacks for worth, lacks in zip(worths, missing)]),
            "by_prestige": sum(worth * max(0, 8 - number) for worth, number in zip(worths, dues)),
            "cheap": sum(max(0, 4 - number) for number in dues),
            "potential": prestige + acts * (at_once + 3 * waits),
        }
        nobles = [sum(due(NOBLE_COST[noble], bonuses)) for noble in position["nobles"] if noble is not None]
        counts.append(found)
        score = sum(weights[name][found[name]] for name in LOOKED_UP) + weights["order"][first, number]
        score += sum(weights["missing"][number] for number in nobles)
        score += found["by_prestige"] * weights["by_prestige"] + found["cheap"] * weights["cheap"]
        if found["potential"] >= target:
            score += weights["reaches"][(number - first) % players]
        scores.append(float(score))
        standings.append(found["potential"] * 64 - (0 if shared else found["bought"]))
    if last_round:
        for number, standing in enumerate(standings):
            lead = standing - max(standings[:number] + standings[number + 1 :])
            scores[number] += float(weights["margin"]) * min(max(lead / 64, -6), 6)
            scores[number] += float(weights["ahead"]) * ((lead > 0) - (lead < 0))
    shares = [math.exp(score - max(scores)) for score in scores]
    return counts, [share / sum(shares) for share in shares]


@pytest.mark.kernel
def test_evaluation_agrees_with_a_plain_reckoning_in_every_phase_and_under_all_rules():
    phases = set()
    for index in range(jit_or(45, 15)):
        rules, players = RULES[index % len(RULES)], 2 + index % 3
        for game in walk(rules, players, index, jit_or(400, 120)):
            s = game._states[0]
            counts, expected = reckon(game.position(), rules)
            found = values(s)
            phases.add(game.phase)
            mover = int(s["to_move"]) + (s["phase"] != MAIN)
            mover = 0 if mover == players and not s["target_reached"] else mover
            mine = np.zeros(players, COUNTS_DTYPE)
            for seat in range(players):
                measure(s, seat, mover, mine[seat])
            assert [{name: int(row[name]) for name in COUNTS} for row in mine] == counts
            assert found[:players] == pytest.approx(expected, abs=1e-3)
            assert sum(found) == pytest.approx(1, abs=1e-6) and found[players:] == [0] * (4 - players)
            assert min(found[:players]) > 0
    assert phases >= set(PHASE_NAMES[:3])


def test_prestige_of_every_card_follows_from_its_cost():
    assert [prestige_by_cost(CARD_COST[card]) for card in range(CARD_COUNT)] == CARD_PRESTIGE


def test_every_weight_is_a_number_and_the_foremost_stage_is_the_target():
    assert STAGES == 16 and SCORES.shape == (3, STAGES)
    assert all(np.isfinite(SCORES[name]).all() for name in SCORES.dtype.names)


# ------------------------------------------------------------------------------------------------------ what it may see


def rotated(states, by):
    """The same position with every seat's belongings `by` seats further on, and the move too."""
    turned, players = states.copy(), int(states["players"][0])
    s, old = turned[0], states[0]
    for seat in range(players):
        there = (seat + by) % players
        for name in ("tokens", "bonuses", "cards", "visited", "prestige", "bought", "reserved_count", "hidden"):
            s[name][there] = old[name][seat]
        for name in ("card_at", "cost_at"):
            s[name][..., 12 + 3 * there : 15 + 3 * there] = old[name][..., 12 + 3 * seat : 15 + 3 * seat]
    waiting = [seat for seat in range(players) if old["waiting"] >> seat & 1]
    s["waiting"] = sum(1 << (seat + by) % players for seat in waiting)
    s["to_move"] = (old["to_move"] + by) % players
    return turned


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_seat_counts_the_same_wherever_it_sits(players):
    for game in walk("official", players, 5):
        states = game._states.copy()
        if states["target_reached"][0]:
            continue
        turned = rotated(states, 1)
        here, there = np.zeros((2, players), COUNTS_DTYPE)
        for seat in range(players):
            measure(states[0], seat, 0, here[seat])
            measure(turned[0], (seat + 1) % players, 0, there[(seat + 1) % players])
        assert np.roll(here, 1).tobytes() == there.tobytes()


def test_neither_the_key_nor_the_decks_nor_the_order_of_board_and_nobles_matter():
    for game in walk({"end": "immediate"}, 3, 11):
        states = game._states.copy()
        before = values(states[0])
        s = states[0]
        s["key"], s["deck"][:] = 7, 0
        s["noble_gems"], s["nobles"] = s["noble_gems"][::-1].copy(), s["nobles"][::-1].copy()
        for name in ("card_at", "cost_at"):
            s[name][..., :12] = s[name][..., 11::-1].copy()
        assert values(s) == pytest.approx(before, abs=1e-6)


# -------------------------------------------------------------------------------------------------------- what it makes


def near_the_end(players, to_move, rich):
    """A position in which one seat can buy its way to the target, and no other has much."""
    states = ss.deal(1, players=players, seed=3)
    s = states[0]
    s["turn"], s["to_move"] = 40 + to_move, to_move
    for seat in range(players):
        s["bonuses"][seat], s["bought"][seat], s["prestige"][seat] = gems.pack([1, 1, 1, 1, 1]), 5, 4
        s["tokens"][seat] = gems.pack([1, 0, 0, 0, 0])
    s["bonuses"][rich], s["bought"][rich], s["prestige"][rich] = gems.pack([3, 3, 3, 3, 3]), 15, 13
    s["tokens"][rich] = gems.pack([2, 2, 2, 2, 2])
    return s


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_seat_that_can_buy_its_way_to_the_target_is_nearly_sure_to_win(players):
    for rich in range(players):
        assert values(near_the_end(players, to_move=rich, rich=rich))[rich] > 0.85


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_better_seat_of_a_finished_round_is_nearly_sure_to_win(players):
    s = near_the_end(players, to_move=players - 1, rich=0)
    s["prestige"][0], s["target_reached"] = 17, 1
    assert values(s)[0] > 0.9


def test_more_prestige_is_worth_more():
    for seat in (0, 1):
        s = ss.deal(1, players=2, seed=8)[0]
        found = []
        for prestige in range(0, 15, 2):
            s["prestige"][seat] = prestige
            found.append(values(s)[seat])
        assert found == sorted(found)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_evaluation_foretells_the_winner_better_than_prestige_alone(players):
    rng = np.random.default_rng(4)
    states = ss.deal(300, players=players, seed=99)
    seen = []  # (game, values, prestige) of each seat
    shares = np.zeros((len(states), players))
    left = np.arange(len(states))
    while left.size:
        for game in left[rng.random(left.size) < 0.2]:
            seen.append((game, values(states[game])[:players], states["prestige"][game, :players].tolist()))
        playing = states[left]
        shares[left], over = ss.step(playing, [choose_greedy(s) for s in playing])
        states[left] = playing
        left = left[~over]
    shares = shares[[game for game, _, _ in seen]]
    prestige = np.array([lead for _, _, lead in seen], float)
    loss = -(shares * np.log([found for _, found, _ in seen])).sum(1).mean()
    baseline = min(  # the best of all slopes, chosen with the outcome known
        -(shares * (scores - np.log(np.exp(scores).sum(1, keepdims=True)))).sum(1).mean()
        for scores in (prestige * slope for slope in np.linspace(0, 1, 51))
    )
    assert loss < 0.97 * baseline
