"""The plain reference engine against the stored positions, the laws and hand-made hard cases."""

import copy
import json
import random
from pathlib import Path

import pytest

from broken_positions import (
    FOUR_GREEN_RED_BLACK,
    broken_positions,
    changed,
    choosing_noble,
    give_cards,
    give_tokens,
    hold,
    lawful_positions,
    opening,
    paying,
)
from reference import (
    ACTION_NAMES,
    CARDS,
    NOBLES,
    OFFICIAL,
    Game,
    PositionLawError,
    check_position,
    perft,
    resolve_rules,
)

POSITIONS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "positions.jsonl").read_text(encoding="utf-8").splitlines()
]
each_stored_position = pytest.mark.parametrize("stored", POSITIONS, ids=range(1, len(POSITIONS) + 1))

# Every option and every preset is played by at least one of these.
RULES = [
    "official",
    "italian",
    "basque",
    {"payment": "choice", "take_fewer": "up_to"},
    {"preset": "basque", "payment": "choice", "end": "immediate", "target_prestige": 9},
    {"take_fewer": "never", "token_limit": 3, "reserve_limit": 0},
    {"gem_tokens": [1, 2, 7], "gold_tokens": [7, 1, 0], "take_two_min": 2, "tie_break": "shared"},
    {"token_limit": 20, "target_prestige": 40, "reserve_limit": 2},
]


def names(actions):
    """Name decisions given by id."""
    return [ACTION_NAMES[action] for action in actions]


def legal(position):
    """Name the legal decisions of a position."""
    return names(Game.from_position(position).legal_actions())


def play(game, *decisions):
    """Make decisions by name, with the lowest card wherever one is dealt."""
    for name in decisions:
        action = ACTION_NAMES.index(name)
        outcomes = game.chance_outcomes(action)
        game.apply(action, outcomes[0] if outcomes else None)
    return game


def random_opening(players, rules, rng):
    """Deal an opening at random."""
    board = []
    for level in range(3):
        board.append(rng.sample([card for card in range(len(CARDS)) if CARDS[card]["level"] == level], 4))
    return Game.new(players, rules, board, rng.sample(range(len(NOBLES)), players + 1))


def take_and_return_pairs(position):
    """List (decision, hand after the returns) for every way to take and return tokens, returns in any order once."""
    pairs = set()
    start = Game.from_position(position)
    mover = start.to_move
    for action in start.legal_actions():
        if not ACTION_NAMES[action].startswith("take"):
            continue
        games = [start.copy()]
        games[0].apply(action)
        while games:
            game = games.pop()
            if game.phase != "return":
                pairs.add((action, tuple(game.seats[mover]["tokens"])))
                continue
            for choice in game.legal_actions():
                child = game.copy()
                child.apply(choice)
                games.append(child)
    return pairs


def payments(position):
    """List the different hands that a pending payment can leave."""
    hands = set()
    mover = position["to_move"]
    games = [Game.from_position(position)]
    while games:
        game = games.pop()
        for action in game.legal_actions():
            child = game.copy()
            child.apply(action)
            if child.phase == "pay":
                games.append(child)
            else:
                hands.add(tuple(child.seats[mover]["tokens"]))
    return hands


# --------------------------------------------------------------------------------------------------- stored positions


@each_stored_position
def test_every_stored_position_is_lawful(stored):
    check_position(stored["position"])
    for _, _, after in stored["walk"]:
        check_position(after)


@each_stored_position
def test_every_stored_position_comes_back_as_it_was_given(stored):
    before = copy.deepcopy(stored["position"])
    assert Game.from_position(stored["position"]).position() == before
    assert stored["position"] == before


@each_stored_position
def test_legal_decisions_are_the_stored_ones(stored):
    assert legal(stored["position"]) == stored["legal"]


@each_stored_position
def test_perft_is_the_stored_one(stored):
    game = Game.from_position(stored["position"])
    assert [perft(game, 1), perft(game, 2)] == stored["perft"]


@each_stored_position
def test_walks_pass_through_the_stored_positions(stored):
    game = Game.from_position(stored["position"])
    for name, deal, after in stored["walk"]:
        action = ACTION_NAMES.index(name)
        outcomes = game.chance_outcomes(action)
        assert (deal in outcomes) if outcomes else deal is None
        game.apply(action, deal)
        assert game.position() == after
    assert game.is_over == ("winners" in stored)
    assert game.winners() == stored.get("winners", [])


# --------------------------------------------------------------------------------------------------------------- data


def test_costs_and_prestige_of_each_level_have_the_known_sums():
    for level, count, points, cost in [(0, 40, 5, 33), (1, 30, 55, 41), (2, 20, 80, 43)]:
        cards = [card for card in CARDS if card["level"] == level]
        assert len(cards) == count
        assert sum(card["points"] for card in cards) == points
        for colour in range(5):
            assert sum(card["cost"][colour] for card in cards) == cost
            assert sum(card["bonus"] == colour for card in cards) == count // 5


def test_nobles_require_seventeen_bonuses_of_each_colour_and_give_three_prestige():
    assert [noble["points"] for noble in NOBLES] == [3] * 10
    for colour in range(5):
        assert sum(noble["cost"][colour] for noble in NOBLES) == 17


def test_the_names_of_the_78_decisions_stand_at_their_ids():
    assert len(ACTION_NAMES) == len(set(ACTION_NAMES)) == 78
    expected = {
        **{0: "take wug", 9: "take grk", 10: "take wu", 19: "take rk", 20: "take w", 24: "take k"},
        **{25: "take ww", 29: "take kk", 30: "reserve 1.1", 41: "reserve 3.4", 42: "reserve 1.deck"},
        **{45: "buy 1.1", 56: "buy 3.4", 57: "buy reserved.1", 59: "buy reserved.3", 60: "pass"},
        **{61: "return w", 65: "return k", 66: "return j", 67: "noble 1", 71: "noble 5"},
        **{72: "gold for w", 76: "gold for k", 77: "pay"},
    }
    for action, name in expected.items():
        assert ACTION_NAMES[action] == name


# -------------------------------------------------------------------------------------------------------------- rules


def test_rules_choose_the_tokens_for_the_number_of_players():
    for players, gems in [(2, 4), (3, 5), (4, 7)]:
        assert resolve_rules("official", players) == {**OFFICIAL, "gem_tokens": gems, "gold_tokens": 5}
    assert [resolve_rules("basque", players)["gold_tokens"] for players in (2, 3, 4)] == [0, 0, 5]


def test_an_object_of_rules_stands_over_its_preset():
    rules = {"preset": "italian", "token_limit": 12}
    options = resolve_rules(rules, 2)
    assert (options["take_two_min"], options["token_limit"], options["tie_break"]) == (5, 12, "fewest_cards")
    assert resolve_rules({}, 2) == resolve_rules("official", 2) == resolve_rules("spanish", 2)
    assert rules == {"preset": "italian", "token_limit": 12}


@pytest.mark.parametrize("players", [0, 1, 5, True, 2.0, "2", None])
def test_a_wrong_number_of_players_is_refused(players):
    with pytest.raises(ValueError, match="players"):
        resolve_rules("official", players)


# --------------------------------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize("position", [pytest.param(position, id=name) for name, position in lawful_positions()])
def test_lawful_positions_are_accepted_and_come_back(position):
    check_position(position)
    assert Game.from_position(position).position() == {"passes": 0, **position}


@pytest.mark.parametrize(
    ("position", "word"), [pytest.param(position, word, id=name) for name, position, word in broken_positions()]
)
def test_a_position_that_breaks_a_law_is_refused_with_a_message_that_says_which(position, word):
    before = copy.deepcopy(position)
    with pytest.raises(PositionLawError) as refusal:
        check_position(position)
    assert word in str(refusal.value)
    assert position == before


def test_names_of_lawful_and_broken_positions_are_all_different():
    every_name = [name for name, _ in lawful_positions()] + [name for name, _, _ in broken_positions()]
    assert len(every_name) == len(set(every_name))


# ------------------------------------------------------------------------------------------------------- random games


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_random_games_keep_every_law_to_their_end(rules, players):
    rng = random.Random(f"{rules} {players}")
    game = random_opening(players, rules, rng)
    for _ in range(500):  # with some rules a random game need not end
        position = game.position()
        assert Game.from_position(position).position() == position  # from_position checks every law
        actions = game.legal_actions()
        assert actions == sorted(set(actions))
        assert bool(actions) != game.is_over
        if game.is_over:
            break
        action = rng.choice(actions)
        outcomes = game.chance_outcomes(action)
        assert outcomes == sorted(set(outcomes))
        game.apply(action, rng.choice(outcomes) if outcomes else None)
    assert bool(game.winners()) == game.is_over


def test_playing_on_a_copy_leaves_the_original_as_it_is():
    for name, position in lawful_positions():
        game = Game.from_position(position)
        before = game.position()
        rng = random.Random(name)
        twin = game.copy()
        for _ in range(60):
            if twin.is_over:
                break
            action = rng.choice(twin.legal_actions())
            outcomes = twin.chance_outcomes(action)
            twin.apply(action, rng.choice(outcomes) if outcomes else None)
        assert game.position() == before


def test_refused_decisions_and_deals_change_nothing():
    for _, position in lawful_positions():
        game = Game.from_position(position)
        before = game.position()
        for action in [*range(78), -1, 78, True, 1.0, "take wug", None]:
            if type(action) is int and action in game.legal_actions():
                outcomes = game.chance_outcomes(action)
                wrong_deals = [None, 999, True, 90, -1] if outcomes else [0, -1, False]
                for deal in wrong_deals:
                    with pytest.raises(ValueError):
                        game.apply(action, deal)
            else:
                with pytest.raises(ValueError):
                    game.chance_outcomes(action)
                with pytest.raises(ValueError):
                    game.apply(action)
        assert game.position() == before


# ------------------------------------------------------------------------------------------------------------- tokens


def test_the_opening_has_thirty_decisions_and_no_pass():
    assert len(legal(opening())) == 30
    assert len([name for name in legal(opening({"take_fewer": "up_to"})) if name.startswith("take")]) == 30


@pytest.mark.parametrize(("rules", "fewest"), [("official", 4), ("italian", 5), ({"take_two_min": 2}, 2)])
def test_two_of_one_colour_need_the_bank_to_hold_enough_before(rules, fewest):
    for count in range(8):
        game = Game.new(4, rules, opening()["board"], [0, 1, 2, 3, 4])
        position = give_tokens(game.position(), 1, [7 - count, 0, 0, 0, 0, 0])
        assert ("take ww" in legal(position)) == (count >= fewest)


@pytest.mark.parametrize(("take_fewer", "count"), [("when_scarce", 1), ("up_to", 3), ("never", 0)])
def test_with_two_colours_left_the_option_says_what_may_be_taken(take_fewer, count):
    position = give_tokens(opening({"take_fewer": take_fewer}), 1, [3, 2, 2, 0, 0, 0])
    position = give_tokens(position, 0, [0, 0, 2, 4, 4, 0])
    taking = [name for name in legal(position) if name.startswith("take")]
    assert len(taking) == count
    assert "take wu" in taking or take_fewer == "never"


@pytest.mark.parametrize(
    ("players", "held", "others", "pairs", "hands"),
    [
        (2, [2, 2, 2, 2, 2, 0], [0, 0, 0, 0, 0, 0], 330, 101),
        (4, [2, 2, 2, 2, 2, 0], [0, 0, 0, 0, 0, 0], 405, 151),
        (2, [1, 1, 1, 1, 1, 5], [0, 0, 0, 0, 0, 0], 410, 136),
        (4, [7, 3, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], 77, 37),
    ],
)
def test_tokens_may_be_taken_at_the_limit_and_any_returned(players, held, others, pairs, hands):
    game = Game.new(players, "official", opening()["board"], list(range(players + 1)))
    found = take_and_return_pairs(give_tokens(give_tokens(game.position(), 0, held), 1, others))
    assert (len(found), len({hand for _, hand in found})) == (pairs, hands)
    assert {sum(hand) for _, hand in found} == {10}


def test_a_gold_that_comes_with_a_reserve_may_be_returned_at_once():
    game = Game.from_position(give_tokens(opening(), 0, [2, 2, 2, 2, 2, 0]))
    play(game, "reserve 2.3")
    assert game.phase == "return"
    assert names(game.legal_actions()) == ["return w", "return u", "return g", "return r", "return k", "return j"]
    play(game, "return j")
    assert (game.phase, game.to_move, game.bank) == ("main", 1, [2, 2, 2, 2, 2, 5])


def test_returns_end_at_the_limit_and_are_made_even_without_a_choice():
    game = Game.from_position(give_tokens(opening({"token_limit": 3}), 0, [0, 0, 0, 0, 3, 0]))
    play(game, "take wug", "return k", "return k", "return k")
    assert (game.seats[0]["tokens"], game.to_move) == ([1, 1, 1, 0, 0, 0], 1)


# ------------------------------------------------------------------------------------------------- reserving and buying


def test_a_reserve_without_gold_in_the_bank_is_legal_and_brings_none():
    game = Game.from_position(give_tokens(opening(), 1, [0, 0, 0, 0, 0, 5]))
    play(game, "reserve 1.1")
    assert game.seats[0]["tokens"] == [0] * 6
    assert game.seats[0]["reserved"] == [{"card": 7, "hidden": False}]


def test_a_reserve_from_the_deck_is_hidden_and_leaves_the_board():
    game = play(Game.from_position(opening()), "reserve 2.deck")
    assert game.board == opening()["board"]
    assert game.seats[0]["reserved"] == [{"card": 40, "hidden": True}]
    assert game.decks[1] == opening()["decks"][1][1:]


def test_later_reserved_cards_move_up_when_one_is_bought():
    position = give_tokens(hold(opening(), 0, [70, 5, 71]), 0, [0, 3, 0, 0, 0, 0])
    game = play(Game.from_position(position), "buy reserved.2", "take wgr")
    assert [held["card"] for held in game.seats[0]["reserved"]] == [70, 71]
    play(game, "reserve 3.1", "take wgk")
    assert [held["card"] for held in game.seats[0]["reserved"]] == [70, 71, 83]
    assert not [name for name in names(game.legal_actions()) if name.startswith("reserve")]


def test_a_slot_over_an_empty_deck_stays_empty_and_the_others_keep_their_places():
    position = changed(give_cards(opening(), 0, opening()["decks"][0]), ("turn", 1), ("to_move", 1))
    game = Game.from_position(position)
    assert "reserve 1.deck" not in names(game.legal_actions())
    assert game.chance_outcomes(ACTION_NAMES.index("reserve 1.2")) == []
    play(game, "reserve 1.2")
    assert game.board[0] == [7, None, 32, 6]


def test_bonuses_beyond_the_cost_give_nothing_back():
    position = give_tokens(give_cards(hold(opening(), 0, [5]), 0, [8, 9, 10, 11]), 0, [1, 2, 0, 0, 0, 1])
    game = play(Game.from_position(position), "buy reserved.1")
    assert game.seats[0]["tokens"] == [1, 2, 0, 0, 0, 1]


def test_a_card_does_not_pay_for_itself():
    # Card 10 costs 1 blue, 3 green and 1 red less what it would give: one blue bonus.
    position = give_tokens(hold(opening(), 0, [10]), 0, [0, 0, 3, 1, 0, 0])
    assert CARDS[10] == {"points": 0, "cost": [0, 1, 3, 1, 0], "level": 0, "bonus": 1}
    assert "buy reserved.1" not in legal(position)


def test_one_gold_pays_for_one_token_only():
    # Card 22 costs 2 white and 1 blue.
    assert CARDS[22]["cost"] == [2, 1, 0, 0, 0]
    position = hold(opening(), 0, [22])
    assert "buy reserved.1" not in legal(give_tokens(position, 0, [1, 0, 0, 0, 0, 1]))
    assert "buy reserved.1" in legal(give_tokens(position, 0, [1, 0, 0, 0, 0, 2]))


def test_coloured_tokens_pay_first_unless_payment_is_a_choice():
    position = give_tokens(hold(opening(), 0, [5]), 0, [0, 2, 0, 0, 0, 3])
    game = play(Game.from_position(position), "buy reserved.1")
    assert (game.seats[0]["tokens"], game.seats[0]["cards"]) == ([0, 0, 0, 0, 0, 2], [5])


# --------------------------------------------------------------------------------------------------------- phase pay


@pytest.mark.parametrize(
    ("card", "bonus_cards", "tokens", "count"),
    [
        (12, [], [2, 2, 2, 2, 1, 1], 5),
        (12, [], [1, 1, 1, 1, 1, 3], 15),
        (75, [0, 1, 2], [3, 2, 0, 0, 2, 3], 4),
    ],
)
def test_gold_may_stand_for_any_token_that_is_due(card, bonus_cards, tokens, count):
    position = give_tokens(hold(opening({"payment": "choice"}), 0, [card]), 0, tokens)
    game = play(Game.from_position(give_cards(position, 0, bonus_cards)), "buy reserved.1")
    assert game.phase == "pay"
    assert len(payments(game.position())) == count


@pytest.mark.parametrize(
    ("tokens", "bonus_cards"),
    [
        ([0, 3, 0, 0, 0, 0], []),  # no gold
        ([0, 2, 0, 0, 0, 1], []),  # all gold is needed
        ([4, 0, 0, 0, 0, 4], []),  # everything due is short
        ([0, 3, 0, 0, 0, 5], [8, 9, 10]),  # nothing is due
    ],
)
def test_without_a_choice_of_payment_there_is_no_phase_pay(tokens, bonus_cards):
    position = give_tokens(hold(opening({"payment": "choice"}), 0, [5]), 0, tokens)
    game = play(Game.from_position(give_cards(position, 0, bonus_cards)), "buy reserved.1")
    assert (game.phase, game.to_move) == ("main", 1)


def test_tokens_and_card_move_only_with_pay():
    position = give_tokens(opening({"payment": "choice"}), 0, [0, 0, 4, 0, 0, 2])
    game = Game.from_position(position)
    game.apply(ACTION_NAMES.index("buy 1.1"), 3)
    assert (game.phase, game.turn, game.to_move) == ("pay", 0, 0)
    assert game.board[0] == [3, 20, 32, 6]
    assert game.pending == {"card": 7, "gold_for": [0, 0, 0, 0, 0]}
    assert names(game.legal_actions()) == ["gold for g", "pay"]
    play(game, "gold for g", "gold for g")
    assert names(game.legal_actions()) == ["pay"]
    assert (game.bank, game.seats[0]["tokens"], game.seats[0]["cards"]) == ([4, 4, 0, 4, 4, 3], [0, 0, 4, 0, 0, 2], [])
    play(game, "pay")
    assert (game.bank, game.seats[0]["tokens"], game.seats[0]["cards"]) == ([4, 4, 2, 4, 4, 5], [0, 0, 2, 0, 0, 0], [7])
    assert (game.phase, game.turn, game.to_move, "pending" in game.position()) == ("main", 1, 1, False)


def test_pay_waits_until_gold_has_covered_what_coloured_tokens_cannot():
    assert legal(paying(tokens=[0, 2, 0, 0, 0, 2])) == ["gold for u"]
    assert legal(changed(paying(tokens=[0, 2, 0, 0, 0, 2]), ("pending.gold_for.1", 1))) == ["gold for u", "pay"]


# ------------------------------------------------------------------------------------------------------------- nobles


def two_nobles_near():
    """Set up seat 0 one blue bonus short of nobles 0 and 5, with card 5's price and card 8 in hand."""
    position = Game.new(2, "official", opening()["board"], [0, 5, 9]).position()
    position = give_cards(position, 0, [0, 1, 2, 3, 9, 10, 11, 16, 17, 18, 19])
    return give_tokens(hold(position, 0, [8]), 0, [0, 0, 0, 0, 3, 0])


def test_of_two_nobles_one_is_chosen_and_the_other_comes_a_turn_later():
    game = play(Game.from_position(two_nobles_near()), "buy reserved.1")
    assert (game.phase, game.turn, game.to_move) == ("noble", 0, 0)
    assert names(game.legal_actions()) == ["noble 1", "noble 2"]
    play(game, "noble 2")
    assert (game.nobles, game.seats[0]["nobles"], game.prestige(0)) == ([0, None, 9], [5], 3)
    play(game, "take wug", "take wug")
    assert (game.nobles, game.seats[0]["nobles"], game.prestige(0)) == ([None, None, 9], [0, 5], 6)


def test_a_noble_that_waits_may_go_to_another_seat():
    position = give_cards(two_nobles_near(), 1, [4, 5, 40, 41, 12, 13, 14, 15])
    game = play(Game.from_position(position), "buy reserved.1", "noble 2", "take wug")
    assert (game.seats[0]["nobles"], game.seats[1]["nobles"], game.nobles) == ([5], [0], [None, None, 9])
    play(game, "take wug")
    assert game.seats[0]["nobles"] == [5]


def test_a_noble_does_not_visit_for_tokens_or_reserved_cards():
    position = Game.new(4, "official", opening()["board"], [0, 5, 9, 1, 2]).position()
    position = give_tokens(hold(give_cards(position, 0, [0, 1, 2, 3, 9, 10, 11]), 0, [8]), 0, [4, 4, 0, 0, 0, 0])
    game = play(Game.from_position(position), "take grk", "return w")
    assert (game.turn, game.seats[0]["nobles"]) == (1, [])


def test_a_noble_visits_only_the_seat_that_moved():
    game = play(Game.from_position(changed(choosing_noble(1), ("phase", "main"))), "take wug")
    assert (game.phase, game.to_move) == ("main", 1)
    play(game, "take wuk")
    assert (game.phase, game.to_move) == ("noble", 1)


def test_a_noble_visits_after_the_returns():
    game = Game.from_position(give_tokens(changed(choosing_noble(), ("phase", "main")), 0, [3, 3, 3, 0, 0, 0]))
    play(game, "take grk", "return g")
    assert game.phase == "return"
    play(game, "return g")
    assert game.phase == "noble"


# ---------------------------------------------------------------------------------------------------------------- end


def about_to_reach_fifteen(players, seat, rules="official"):
    """Set up a seat to move with 14 prestige and the price of a reserved card that is worth one."""
    position = Game.new(players, rules, opening()["board"], list(range(players + 1))).position()
    position = give_cards(position, seat, [71, 73, 77])
    position = give_tokens(hold(position, seat, [39]), seat, [0, 4, 0, 0, 0, 0])
    return changed(position, ("to_move", seat), ("turn", seat))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_round_is_finished_after_the_target_is_reached(players):
    for seat in range(players):
        game = play(Game.from_position(about_to_reach_fifteen(players, seat)), "buy reserved.1")
        more_turns = 0
        while not game.is_over:
            assert game.winners() == []
            play(game, "take wgr")
            more_turns += 1
        assert more_turns == players - 1 - seat
        assert (game.turn, game.to_move, game.winners()) == (players, 0, [seat])
        assert not game.deadlocked


def test_an_immediate_end_comes_with_the_turn_that_reaches_the_target():
    game = play(Game.from_position(about_to_reach_fifteen(4, 1, {"end": "immediate"})), "buy reserved.1")
    assert (game.is_over, game.turn, game.to_move, game.winners()) == (True, 2, 2, [1])


def test_the_end_is_decided_after_the_noble_was_chosen():
    position = opening({"target_prestige": 13})
    position = hold(give_cards(position, 1, [*FOUR_GREEN_RED_BLACK[:-1], 73, 77]), 1, FOUR_GREEN_RED_BLACK[-1:])
    position = changed(give_tokens(position, 1, [0, 1, 0, 0, 0, 0]), ("to_move", 1), ("turn", 1))
    game = play(Game.from_position(position), "buy reserved.1")
    assert (game.phase, game.prestige(1)) == ("noble", 10)
    play(game, "noble 1")
    assert (game.is_over, game.prestige(1), game.winners()) == (True, 13, [1])


def test_the_higher_prestige_wins_among_those_who_reached_the_target():
    position = give_cards(give_cards(opening(), 0, [73, 77, 81]), 1, [70, 71, 74, 75, 72])
    over = changed(position, ("phase", "over"), ("turn", 2))
    game = Game.from_position(over)
    assert [game.prestige(0), game.prestige(1)] == [15, 18]
    assert (game.winners(), game.ranks()) == ([1], [1, 0])


def tied(rules="official"):
    """Set up the end of a game with prestige 15 each, where seat 1 bought one card fewer but reserved three."""
    position = give_cards(give_cards(opening(rules), 0, [72, 75, 76, 70]), 1, [73, 77, 81])
    return changed(hold(position, 1, [78, 79, 80]), ("phase", "over"), ("turn", 2))


def test_fewer_bought_cards_break_a_tie_and_reserved_ones_do_not_count():
    game = Game.from_position(tied())
    assert [game.prestige(0), game.prestige(1)] == [15, 15]
    assert (game.winners(), game.ranks()) == ([1], [1, 0])


def test_a_shared_tie_break_shares_the_win():
    game = Game.from_position(tied("portuguese"))
    assert (game.winners(), game.ranks()) == ([0, 1], [0, 0])


def test_seats_that_are_equal_share_a_rank_and_no_rank_is_left_out():
    position = Game.new(4, "official", opening()["board"], [0, 1, 2, 3, 4]).position()
    for seat, cards in enumerate([[73, 77, 81], [70, 71, 72, 75], [74, 76, 79, 80], [89]]):
        position = give_cards(position, seat, cards)
    game = Game.from_position(changed(position, ("phase", "over"), ("turn", 4)))
    assert [game.prestige(seat) for seat in range(4)] == [15, 15, 15, 5]
    assert (game.winners(), game.ranks()) == ([0], [0, 1, 1, 2])


def stuck():
    """Set up two seats that can neither take nor reserve nor buy anything."""
    # Seat 0 lacks red and black, seat 1 lacks white and blue, and every card in reach costs some of both.
    board = [[10, 12, 13, 25], [41, 49, 52, 53], [70, 72, 74, 75]]
    position = Game.new(2, "official", board, [9, 7, 3]).position()
    position = hold(hold(position, 0, [78, 82, 86]), 1, [73, 76, 84])
    return give_tokens(give_tokens(position, 0, [4, 4, 2, 0, 0, 0]), 1, [0, 0, 2, 4, 4, 0])


def test_the_game_is_deadlocked_when_every_seat_in_succession_passed():
    game = Game.from_position(stuck())
    for passes in (1, 2):
        assert not game.is_over
        assert names(game.legal_actions()) == ["pass"]
        play(game, "pass")
        assert game.passes == passes
    assert (game.is_over, game.deadlocked, game.turn, game.to_move) == (True, True, 2, 0)
    assert (game.winners(), game.legal_actions(), perft(game, 1)) == ([0, 1], [], 0)


def test_a_noble_is_chosen_after_the_last_pass_and_before_the_deadlock():
    position = give_cards(stuck(), 1, [16, 17, 18, 19, 24, 26, 27, 28, 33, 34, 35, 36])
    game = play(Game.from_position(position), "pass", "pass")
    assert (game.phase, game.passes, game.turn) == ("noble", 2, 1)
    check_position(game.position())
    play(game, "noble 1")
    assert (game.deadlocked, game.turn, game.ranks(), game.winners()) == (True, 2, [1, 0], [1])


def test_a_decision_other_than_a_pass_ends_the_succession():
    game = play(Game.from_position(changed(opening(), ("passes", 1))), "take wug")
    assert game.passes == 0
