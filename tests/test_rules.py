"""The rules, sentence by sentence: what is legal, what happens, how it ends."""

import itertools
import random

import numpy as np
import pytest

import splendor_sim as ss
from broken_positions import (
    BOARD,
    changed,
    empty_deck,
    empty_slot,
    give_cards,
    give_tokens,
    hold,
    paying,
    returning,
    without,
)
from games import (
    CARD_BONUS,
    CARD_COST,
    CARD_LEVEL,
    CARD_PRESTIGE,
    PRESETS,
    TOKENS,
    at,
    card_costing,
    cards_worth,
    give_bonuses,
    give_nobles,
    jit_or,
    legal,
    legal_beginning,
    opening,
    over,
    play,
    random_games,
    random_walk,
    seat_of,
    tile_requiring,
    turn_of,
)
from splendor_sim.core import policies, rng

pytestmark = pytest.mark.kernel

ALL_SEATS = pytest.mark.parametrize("players", [2, 3, 4])
EMPTY = [0, 0, 0, 0, 0, 0]
BLUE_FOR_3_BLUE = card_costing(0, 3, 0, 0, 0)  # a white card of level 1
FOUR_BLUE_CARDS = [8, 9, 10, 11]


def hands_after_taking(position):
    """By (decision, hand): every way to take tokens and return what is too much, returns in any order once."""
    mover = position["to_move"]
    pairs, start = set(), at(position)
    for action in start.legal_actions():
        if ss.action_name(action).startswith("take"):
            game = start.copy()
            game.apply(action)
            games = {game.state.tobytes(): game}
            while games:
                game = games.popitem()[1]
                if game.phase != "return":
                    pairs.add((action, tuple(seat_of(game, mover)["tokens"])))
                    continue
                for choice in game.legal_actions():
                    child = game.copy()
                    child.apply(choice)
                    games[child.state.tobytes()] = child
    return pairs


def payments(game):
    """The different hands that a pending payment can leave."""
    mover, hands, games = game.seat_to_move, set(), [game]
    while games:
        game = games.pop()
        for action in game.legal_actions():
            child = game.copy()
            child.apply(action)
            if child.phase == "pay":
                games.append(child)
            else:
                hands.add(tuple(seat_of(child, mover)["tokens"]))
    return hands


def holding(card, tokens, bonuses=(0, 0, 0, 0, 0), players=2, rules="official", nobles=None):
    """An opening in which seat 0 has reserved a card and holds tokens and bonuses; it never owns that card."""
    position = hold(opening(players, rules, nobles), 0, [card]) if card not in sum(BOARD, []) else None
    if position is None:
        spare = next(each for each in range(90) if CARD_LEVEL[each] == CARD_LEVEL[card] and each not in sum(BOARD, []))
        board = [[spare if each == card else each for each in row] for row in BOARD]
        position = hold(opening(players, rules, nobles, board), 0, [card])
    return give_tokens(give_bonuses(position, 0, bonuses), 0, tokens)


# --------------------------------------------------------------------------------------------------------------- set-up


@ALL_SEATS
def test_the_bank_starts_with_the_tokens_for_the_number_of_seats(players):
    game = ss.Game(players)
    assert game.position()["bank"] == [TOKENS[players]] * 5 + [5]
    assert [seat["tokens"] for seat in game.position()["seats"]] == [EMPTY] * players


@ALL_SEATS
def test_one_noble_more_than_seats_is_laid(players):
    for seed in range(20):
        nobles = ss.Game(players, seed=seed).position()["nobles"]
        assert len(nobles) == len(set(nobles)) == players + 1
        assert set(nobles) <= set(range(10))


@ALL_SEATS
def test_four_cards_of_each_level_lie_in_its_row_and_the_rest_in_its_deck(players):
    position = ss.Game(players, seed=3).position()
    for level in range(3):
        row, deck = position["board"][level], position["decks"][level]
        assert len(row) == len(set(row)) == 4
        assert sorted(row + deck) == [card for card in range(90) if CARD_LEVEL[card] == level + 1]


@ALL_SEATS
def test_seat_0_begins_and_play_goes_round_the_seats(players):
    game = ss.Game(players)
    for turn in range(3 * players):
        assert (game.seat_to_move, game.turn, game.phase) == (turn % players, turn, "main")
        game.apply("reserve 1.deck" if turn < players else game.legal_actions()[0])


@pytest.mark.parametrize("players", [0, 1, 5, -2, 2.0, "2", None, True])
def test_there_are_two_to_four_seats(players):
    with pytest.raises(ss.RulesError, match="players must be 2, 3 or 4"):
        ss.Game(players)


def test_two_games_in_one_process_start_alike():
    first = ss.Game(seed=5)
    before = first.state.tobytes()
    for game in random_walk(ss.Game(seed=5), random.Random(1), 80):
        assert sum(game.position()["bank"]) <= 25
    assert ss.Game(seed=5).state.tobytes() == before == first.state.tobytes()


# --------------------------------------------------------------------------------------------------------- the opening


@ALL_SEATS
def test_an_opening_has_fifteen_takes_and_fifteen_reserves_and_no_pass(players):
    game = ss.Game(players, seed=9)
    assert game.legal_actions() == [*range(10), *range(25, 45)]
    assert len(game.legal_actions()) == 30


# ----------------------------------------------------------------------------------------------------------- main: take


def test_three_tokens_of_different_colours_may_be_taken():
    game = play(opening(), "take wgk")
    assert seat_of(game, 0)["tokens"] == [1, 0, 1, 0, 1, 0]
    assert game.position()["bank"] == [3, 4, 3, 4, 3, 5]
    assert (game.seat_to_move, game.turn) == (1, 1)


def test_a_colour_that_the_bank_lacks_cannot_be_taken():
    position = give_tokens(opening(), 1, [4, 0, 0, 0, 0, 0])
    assert legal_beginning(position, "take") == ["take ugr", "take ugk", "take urk", "take grk"] + [
        f"take {colour}{colour}" for colour in "ugrk"
    ]


def test_no_decision_takes_gold_or_three_of_which_two_are_alike():
    takes = [name.split()[1] for name in ss.ACTION_NAMES if name.startswith("take")]
    assert not any("j" in colours for colours in takes)
    assert all(len(set(colours)) == len(colours) for colours in takes if len(colours) == 3)
    assert max(map(len, takes)) == 3


@pytest.mark.parametrize(("rules", "least"), [("official", 4), ("italian", 5), ({"take_two_min": 2}, 2)])
def test_two_of_one_colour_need_enough_in_the_bank_before(rules, least):
    for count in range(8):
        position = give_tokens(opening(4, rules), 1, [7 - count, 0, 0, 0, 0, 0])
        assert ("take ww" in legal(position)) == (count >= least)
        if count >= least:
            game = play(position, "take ww")
            assert (game.position()["bank"][0], seat_of(game, 0)["tokens"][0]) == (count - 2, 2)


def test_gold_does_not_count_towards_the_four_in_the_bank():
    position = give_tokens(opening(), 1, [1, 1, 1, 1, 1, 0])
    assert not [name for name in legal(position) if name in ("take ww", "take uu", "take gg", "take rr", "take kk")]


@pytest.mark.parametrize(("take_fewer", "takes"), [("when_scarce", ["wu"]), ("up_to", ["wu", "w", "u"]), ("never", [])])
def test_with_two_colours_left_the_option_says_what_may_be_taken(take_fewer, takes):
    rules = {"gem_tokens": [2, 2, 2], "take_fewer": take_fewer}
    position = give_tokens(opening(2, rules), 1, [1, 0, 2, 2, 2, 0])
    assert position["bank"] == [1, 2, 0, 0, 0, 5]
    assert legal_beginning(position, "take") == [f"take {colours}" for colours in takes]


@pytest.mark.parametrize(("take_fewer", "takes"), [("when_scarce", ["k"]), ("up_to", ["k"]), ("never", [])])
def test_with_one_colour_left_the_option_says_what_may_be_taken(take_fewer, takes):
    rules = {"gem_tokens": [2, 2, 2], "take_fewer": take_fewer}
    position = give_tokens(opening(2, rules), 1, [2, 2, 2, 2, 0, 0])
    assert legal_beginning(position, "take") == [f"take {colours}" for colours in takes]


@pytest.mark.parametrize("take_fewer", ["when_scarce", "up_to", "never"])
def test_with_no_colour_left_nothing_can_be_taken(take_fewer):
    rules = {"gem_tokens": [2, 2, 2], "take_fewer": take_fewer}
    assert legal_beginning(give_tokens(opening(2, rules), 1, [2, 2, 2, 2, 2, 0]), "take") == []


def test_one_or_two_of_plenty_may_be_taken_only_under_up_to():
    assert "take w" not in legal(opening())
    assert len(legal_beginning(opening(), "take")) == 15
    assert len(legal_beginning(opening(rules={"take_fewer": "up_to"}), "take")) == 30


# -------------------------------------------------------------------------------------------------------- main: reserve


def test_a_card_of_the_board_is_reserved_with_one_gold():
    game = play(opening(), "reserve 2.3")
    assert seat_of(game, 0) == {
        "tokens": [0, 0, 0, 0, 0, 1],
        "cards": [],
        "reserved": [{"card": BOARD[1][2], "hidden": False}],
        "nobles": [],
    }
    assert game.position()["bank"] == [4, 4, 4, 4, 4, 4]


def test_a_reserve_is_legal_without_gold_in_the_bank_and_brings_none():
    game = play(give_tokens(opening(), 1, [0, 0, 0, 0, 0, 5]), "reserve 3.1")
    assert seat_of(game, 0)["tokens"] == EMPTY
    assert len(seat_of(game, 0)["reserved"]) == 1


def test_a_reserve_from_a_deck_is_hidden_and_leaves_the_board_as_it_is():
    before = opening()
    game = at(before)
    assert game.chance_outcomes("reserve 2.deck") == before["decks"][1]
    game.apply("reserve 2.deck", deal=44)
    assert seat_of(game, 0)["reserved"] == [{"card": 44, "hidden": True}]
    assert game.position()["board"] == BOARD
    assert game.position()["decks"][1] == [card for card in before["decks"][1] if card != 44]
    assert game.position()["decks"][0] == before["decks"][0]


def test_an_empty_deck_cannot_be_drawn_from():
    position = turn_of(empty_deck(opening(), 0), 1)
    assert legal_beginning(position, "reserve") == [
        *(f"reserve {level}.{slot}" for level in (1, 2, 3) for slot in (1, 2, 3, 4)),
        "reserve 2.deck",
        "reserve 3.deck",
    ]


def test_a_fourth_card_cannot_be_reserved():
    position = hold(opening(), 0, [70, 71])
    assert len(legal_beginning(position, "reserve")) == 15
    assert legal_beginning(hold(position, 0, [72]), "reserve") == []


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_the_reserve_limit_is_an_option(limit):
    position = opening(rules={"reserve_limit": limit})
    for held in range(limit + 1):
        assert len(legal_beginning(position, "reserve")) == (15 if held < limit else 0)
        position = hold(position, 0, [70 + held])


def test_a_reserved_card_gives_nothing_until_it_is_bought():
    card = next(each for each in range(90) if CARD_BONUS[each] == 1 and CARD_PRESTIGE[each] == 3)
    position = hold(give_bonuses(opening(nobles=[0, 5, 9]), 0, [4, 3, 0, 0, 0]), 0, [card])
    game = play(position, "take gr" if "take gr" in legal(position) else "take grk")
    assert game.prestige == [0, 0]
    assert seat_of(game, 0)["nobles"] == []
    assert game.observe(0).view(ss.OBSERVATION_DTYPE)["bonuses"][0, 0].tolist() == [4, 3, 0, 0, 0]
    assert game.observe(0).view(ss.OBSERVATION_DTYPE)["bought"][0, 0] == 7


def test_no_decision_puts_a_reserved_card_back():
    kinds = {name.split()[0] for name in ss.ACTION_NAMES}
    assert kinds == {"take", "reserve", "buy", "pass", "return", "noble", "gold", "pay"}
    assert {name for name in ss.ACTION_NAMES if name.startswith("return")} == {f"return {each}" for each in "wugrkj"}


def test_of_three_reserved_cards_one_is_bought_and_another_reserved():
    position = give_tokens(hold(opening(), 0, [70, BLUE_FOR_3_BLUE, 71]), 0, [0, 3, 0, 0, 0, 0])
    game = play(position, "buy reserved.2")
    assert [held["card"] for held in seat_of(game, 0)["reserved"]] == [70, 71]
    play(game, "take wgr", "reserve 3.2")
    assert [held["card"] for held in seat_of(game, 0)["reserved"]] == [70, 71, BOARD[2][1]]
    play(game, "take wgr")
    assert legal_beginning(game, "reserve") == []


def test_bought_reserved_cards_leave_the_later_ones_with_their_own_hidden_marks():
    for bought in range(3):
        position = hold(opening(), 0, [70, 71, 72])
        for place in range(3):
            position = changed(position, (f"seats.0.reserved.{place}.hidden", place == 2))
        position["seats"][0]["reserved"].insert(bought, {"card": BLUE_FOR_3_BLUE, "hidden": bought == 1})
        dropped = position["seats"][0]["reserved"].pop()
        position["decks"][2] = sorted([*position["decks"][2], dropped["card"]])
        expected = [held for held in position["seats"][0]["reserved"] if held["card"] != BLUE_FOR_3_BLUE]
        position["decks"][0].remove(BLUE_FOR_3_BLUE)
        game = play(give_tokens(position, 0, [0, 3, 0, 0, 0, 0]), f"buy reserved.{bought + 1}")
        assert seat_of(game, 0)["reserved"] == expected


# ------------------------------------------------------------------------------------------------------------ main: buy


def test_a_card_of_the_board_is_paid_to_the_bank():
    # Slot 1.1 of this board costs four green.
    game = play(give_tokens(opening(), 0, [1, 0, 4, 0, 0, 0]), "buy 1.1")
    assert seat_of(game, 0)["tokens"] == [1, 0, 0, 0, 0, 0]
    assert seat_of(game, 0)["cards"] == [BOARD[0][0]]
    assert game.position()["bank"] == [3, 4, 4, 4, 4, 5]
    assert game.prestige == [int(CARD_PRESTIGE[BOARD[0][0]]), 0]


def test_a_card_that_another_seat_has_reserved_cannot_be_bought():
    position = give_tokens(hold(opening(), 1, [BLUE_FOR_3_BLUE]), 0, [0, 3, 0, 0, 0, 0])
    assert not [name for name in legal(position) if name.startswith("buy reserved")]


def test_bonuses_lower_the_cost_and_no_token_comes_back_for_surplus_ones():
    position = hold(give_cards(opening(), 0, FOUR_BLUE_CARDS), 0, [BLUE_FOR_3_BLUE])
    game = play(give_tokens(position, 0, [0, 2, 0, 0, 0, 0]), "buy reserved.1")
    assert seat_of(game, 0)["tokens"] == [0, 2, 0, 0, 0, 0]
    assert game.position()["bank"] == [4, 2, 4, 4, 4, 5]
    position = hold(give_cards(opening(), 0, FOUR_BLUE_CARDS[:1]), 0, [BLUE_FOR_3_BLUE])
    game = play(give_tokens(position, 0, [0, 2, 0, 0, 0, 0]), "buy reserved.1")
    assert seat_of(game, 0)["tokens"] == EMPTY


def test_a_card_does_not_pay_for_itself():
    card = card_costing(0, 1, 3, 1, 0, bonus="u")
    position = give_tokens(hold(opening(), 0, [card]), 0, [0, 0, 3, 1, 0, 0])
    assert "buy reserved.1" not in legal(position)
    assert "buy reserved.1" in legal(give_tokens(position, 0, [0, 1, 0, 0, 0, 0]))


def test_gold_pays_for_any_colour():
    card = card_costing(0, 0, 0, 0, 3)
    game = play(holding(card, [0, 0, 0, 0, 2, 1]), "buy reserved.1")
    assert seat_of(game, 0)["tokens"] == EMPTY
    assert game.position()["bank"] == [4, 4, 4, 4, 4, 5]


def test_one_gold_does_not_pay_for_two_colours():
    card = card_costing(0, 2, 0, 2, 0)
    assert "buy reserved.1" not in legal(holding(card, [0, 1, 0, 1, 0, 1]))
    assert "buy reserved.1" in legal(holding(card, [0, 1, 0, 1, 0, 2]))
    assert "buy reserved.1" in legal(holding(card, [0, 2, 0, 1, 0, 1]))


def test_tokens_of_another_colour_do_not_pay():
    assert "buy reserved.1" not in legal(holding(BLUE_FOR_3_BLUE, [4, 2, 4, 0, 0, 0]))


def test_every_card_can_be_bought_with_just_its_cost_and_not_with_one_token_less():
    for card in range(0, 90, jit_or(1, 9)):
        cost = [int(count) for count in CARD_COST[card]]
        rules = {"token_limit": 20}
        assert "buy reserved.1" in legal(holding(card, [*cost, 0], players=4, rules=rules))
        for colour in range(5):
            if cost[colour]:
                less = [count - (each == colour) for each, count in enumerate(cost)]
                assert "buy reserved.1" not in legal(holding(card, [*less, 0], players=4, rules=rules))
                assert "buy reserved.1" in legal(holding(card, [*less, 1], players=4, rules=rules))


# --------------------------------------------------------------------------------------------- main: refills and passes


def test_an_emptied_slot_is_refilled_at_once_from_the_deck_of_its_level():
    for name, level, slot in [("reserve 1.2", 0, 1), ("reserve 3.4", 2, 3)]:
        game = at(opening())
        outcomes = game.chance_outcomes(name)
        assert outcomes == opening()["decks"][level]
        game.apply(name, deal=outcomes[5])
        expected = [list(row) for row in BOARD]
        expected[level][slot] = outcomes[5]
        assert game.position()["board"] == expected
        assert game.position()["decks"][level] == [card for card in outcomes if card != outcomes[5]]


def test_from_an_empty_deck_a_slot_stays_empty_and_the_others_keep_their_places():
    position = turn_of(give_nobles(empty_deck(opening(), 0), 1, [0, 1, 2]), 1)
    game = at(position)
    assert game.chance_outcomes("reserve 1.2") == []
    play(game, "reserve 1.2")
    assert game.position()["board"][0] == [BOARD[0][0], None, *BOARD[0][2:]]
    play(game, "take wug")
    assert "reserve 1.2" not in legal(game)
    assert "buy 1.2" not in legal(game)


def test_an_empty_slot_is_refilled_by_nothing_later():
    position = turn_of(give_nobles(empty_slot(empty_deck(opening(), 0), 0, 1), 1, [0, 1, 2]), 1)
    game = play(position, "reserve 1.1", "take wug", "take wug")
    assert game.position()["board"][0] == [None, None, *BOARD[0][2:]]


def stuck(players=2):
    """Two seats that can neither take nor reserve nor buy; the other seats hold nothing but are as stuck."""
    board = [[7, 12, 13, 14], [68, 47, 59, 57], [83, 88, 87, 85]]
    position = opening(players, {"gem_tokens": [4, 4, 4]}, board=board)
    for seat in range(players):
        position = hold(position, seat, [[70, 71, 72], [73, 74, 75], [76, 77, 78], [79, 80, 81]][seat])
    position = give_tokens(position, 0, [4, 4, 2, 0, 0, 0])
    return give_tokens(position, 1, [0, 0, 2, 4, 4, 0])


@ALL_SEATS
def test_a_pass_is_legal_only_if_nothing_else_is(players):
    assert legal(stuck(players)) == ["pass"]
    for game in random_games(jit_or(60, 2), seed=players):
        for each in random_walk(game, random.Random(3), jit_or(150, 15)):
            assert "pass" not in legal(each) or legal(each) == ["pass"]


@ALL_SEATS
def test_if_every_seat_in_succession_passes_the_game_is_over_and_deadlocked(players):
    game = at(stuck(players))
    for turn in range(players):
        assert (game.is_over, game.is_deadlocked, game.position()["passes"]) == (False, False, turn)
        assert legal(game) == ["pass"]
        game.apply("pass")
    assert (game.is_over, game.is_deadlocked, game.turn, game.seat_to_move) == (True, True, players, 0)
    assert game.winners() == list(range(players))
    assert legal(game) == []


def test_a_deadlock_may_come_in_the_middle_of_a_round():
    game = at(changed(turn_of(stuck(3), 1), ("passes", 2)))
    play(game, "pass")
    assert (game.is_over, game.is_deadlocked, game.turn, game.seat_to_move) == (True, True, 2, 2)


def test_a_deadlocked_game_is_ranked_as_usual():
    position = give_cards(stuck(), 1, [82])
    game = play(position, "pass", "pass")
    assert (game.is_deadlocked, game.winners(), game.ranks(), game.prestige) == (True, [1], [1, 0], [0, 3])


def test_what_is_no_pass_ends_the_succession_of_passes():
    for name in ("take wug", "reserve 1.1", "reserve 1.deck"):
        assert play(changed(opening(), ("passes", 1)), name).position()["passes"] == 0
    position = changed(give_tokens(opening(), 0, [0, 0, 4, 0, 0, 0]), ("passes", 1))
    assert play(position, "buy 1.1").position()["passes"] == 0


# ------------------------------------------------------------------------------------------------------------------ pay


def test_with_coloured_first_gold_pays_only_what_coloured_tokens_cannot():
    game = play(holding(BLUE_FOR_3_BLUE, [0, 2, 0, 0, 0, 3]), "buy reserved.1")
    assert seat_of(game, 0)["tokens"] == [0, 0, 0, 0, 0, 2]
    game = play(holding(BLUE_FOR_3_BLUE, [0, 3, 0, 0, 0, 3]), "buy reserved.1")
    assert seat_of(game, 0)["tokens"] == [0, 0, 0, 0, 0, 3]


@pytest.mark.parametrize(
    ("cost", "bonuses", "tokens", "number"),
    [
        ((0, 1, 1, 1, 1), [0, 0, 0, 0, 0], [1, 2, 2, 2, 2, 1], 5),
        ((0, 1, 1, 1, 1), [0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 3], 15),
        ((6, 3, 0, 0, 3), [3, 0, 0, 0, 0], [3, 2, 0, 0, 2, 3], 4),
    ],
)
def test_under_choice_gold_may_replace_any_token_that_is_due(cost, bonuses, tokens, number):
    position = holding(card_costing(*cost), tokens, bonuses, rules={"payment": "choice"})
    game = play(position, "buy reserved.1")
    assert game.phase == "pay"
    assert len(payments(game)) == number
    # With coloured tokens first there is one payment, and it takes the least gold of all.
    hand = max(payments(game), key=lambda hand: hand[5])
    plain = play(holding(card_costing(*cost), tokens, bonuses), "buy reserved.1")
    assert tuple(seat_of(plain, 0)["tokens"]) == hand


@pytest.mark.parametrize(
    ("tokens", "bonuses"),
    [
        ([0, 3, 0, 0, 0, 0], [0, 0, 0, 0, 0]),  # no gold
        ([0, 2, 0, 0, 0, 1], [0, 0, 0, 0, 0]),  # all gold is needed
        ([4, 0, 0, 0, 0, 4], [0, 0, 0, 0, 0]),  # nothing but gold pays
        ([0, 3, 0, 0, 0, 5], [0, 3, 0, 0, 0]),  # nothing is due
    ],
)
def test_there_is_no_phase_pay_unless_gold_could_pay_more_than_the_shortfall(tokens, bonuses):
    game = play(holding(BLUE_FOR_3_BLUE, tokens, bonuses, rules={"payment": "choice"}), "buy reserved.1")
    assert (game.phase, game.seat_to_move) == ("main", 1)
    plain = play(holding(BLUE_FOR_3_BLUE, tokens, bonuses), "buy reserved.1")
    assert seat_of(game, 0) == seat_of(plain, 0)


def test_a_free_card_costs_no_gold():
    game = play(
        holding(BLUE_FOR_3_BLUE, [0, 0, 0, 0, 0, 5], [0, 3, 0, 0, 0], rules={"payment": "choice"}), "buy reserved.1"
    )
    assert seat_of(game, 0)["tokens"] == [0, 0, 0, 0, 0, 5]


def test_the_phase_lasts_until_pay_and_only_then_do_tokens_and_card_move():
    game = at(give_tokens(opening(rules={"payment": "choice"}), 0, [0, 0, 4, 0, 0, 2]))
    before = seat_of(game, 0)
    game.apply("buy 1.1", deal=3)
    assert (game.phase, game.turn, game.seat_to_move) == ("pay", 0, 0)
    assert game.position()["pending"] == {"card": BOARD[0][0], "gold_for": [0, 0, 0, 0, 0]}
    assert game.position()["board"][0] == [3, *BOARD[0][1:]]
    for _ in range(2):
        assert legal(game) == ["gold for g", "pay"]
        play(game, "gold for g")
        assert seat_of(game, 0) == before
    assert legal(game) == ["pay"]
    play(game, "pay")
    assert seat_of(game, 0) == {"tokens": [0, 0, 2, 0, 0, 0], "cards": [BOARD[0][0]], "reserved": [], "nobles": []}
    assert game.position()["bank"] == [4, 4, 2, 4, 4, 5]
    assert (game.phase, game.turn, "pending" in game.position()) == ("main", 1, False)


def test_gold_for_a_colour_is_legal_only_if_the_whole_can_still_be_paid():
    assert legal(paying(tokens=[0, 2, 0, 0, 0, 2])) == ["gold for u"]
    assert legal(changed(paying(tokens=[0, 2, 0, 0, 0, 2]), ("pending.gold_for.1", 1))) == ["gold for u", "pay"]
    # Two colours, one of them short by two: of three gold one is free.
    position = holding(card_costing(0, 2, 0, 2, 0), [0, 0, 0, 2, 0, 3], rules={"payment": "choice"})
    game = play(position, "buy reserved.1")
    assert legal(game) == ["gold for u", "gold for r"]
    play(game, "gold for r")
    assert legal(game) == ["gold for u"]
    play(game, "gold for u")
    assert legal(game) == ["gold for u"]
    play(game, "gold for u")
    assert legal(game) == ["pay"]
    play(game, "pay")
    assert seat_of(game, 0)["tokens"] == [0, 0, 0, 1, 0, 0]


def test_a_pending_card_gives_no_bonus_to_its_own_payment():
    card = card_costing(0, 1, 3, 1, 0, bonus="u")
    game = play(holding(card, [0, 1, 3, 1, 0, 1], rules={"payment": "choice"}), "buy reserved.1")
    assert legal(game) == ["gold for u", "gold for g", "gold for r", "pay"]
    play(game, "gold for u", "pay")
    assert seat_of(game, 0)["tokens"] == [0, 1, 0, 0, 0, 0]


# --------------------------------------------------------------------------------------------------------------- return


@pytest.mark.parametrize(
    ("players", "held", "pairs", "hands"),
    [
        (2, [2, 2, 2, 2, 2, 0], 330, 101),
        (4, [2, 2, 2, 2, 2, 0], 405, 151),
        (2, [1, 1, 1, 1, 1, 5], 410, 136),
        (4, [7, 3, 0, 0, 0, 0], 77, 37),
    ],
)
def test_a_full_hand_may_take_and_return_any_tokens(players, held, pairs, hands):
    found = hands_after_taking(give_tokens(opening(players), 0, held))
    assert (len(found), len({hand for _, hand in found})) == (pairs, hands)
    assert {sum(hand) for _, hand in found} == {10}


def test_what_was_just_taken_may_be_returned_and_then_nothing_has_changed_but_the_turn():
    position = give_tokens(opening(), 0, [2, 2, 2, 2, 2, 0])
    game = play(position, "take wug", "return w", "return u", "return g")
    assert game.position() == changed(position, ("turn", 1), ("to_move", 1))
    assert len([hand for hand in {hand for _, hand in hands_after_taking(position)} if hand == (2, 2, 2, 2, 2, 0)]) == 1


def test_a_hand_of_two_colours_may_take_three_others_and_return_three_alike():
    position = give_tokens(opening(4), 0, [7, 3, 0, 0, 0, 0])
    game = play(position, "take grk", "return w", "return w", "return w")
    assert seat_of(game, 0)["tokens"] == [4, 3, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("players", "held", "choices"), [(2, [2, 2, 2, 2, 2, 0], "wugrkj"), (4, [7, 3, 0, 0, 0, 0], "wuj")]
)
def test_a_reserve_at_ten_tokens_brings_gold_and_one_token_goes_back(players, held, choices):
    position = give_tokens(opening(players), 0, held)
    for name in legal_beginning(position, "reserve")[:: jit_or(1, 5)]:
        game = play(position, name)
        assert game.phase == "return"
        assert legal(game) == [f"return {colour}" for colour in choices]
    play(game, "return j")
    assert (seat_of(game, 0)["tokens"], game.position()["bank"][5]) == (held, 5)


def test_a_reserve_at_ten_tokens_without_gold_in_the_bank_returns_nothing():
    position = give_tokens(give_tokens(opening(), 1, [0, 0, 0, 0, 0, 5]), 0, [2, 2, 2, 2, 2, 0])
    game = play(position, "reserve 1.1")
    assert (game.phase, game.seat_to_move) == ("main", 1)


def test_gold_counts_among_the_ten():
    game = play(give_tokens(opening(), 0, [2, 2, 2, 2, 0, 2]), "take wug")
    for _ in range(3):
        assert game.phase == "return"
        play(game, "return j" if "return j" in legal(game) else "return w")
    assert (game.phase, game.seat_to_move) == ("main", 1)
    assert seat_of(game, 0)["tokens"] == [2, 3, 3, 2, 0, 0]


def test_just_the_excess_is_returned_and_nothing_at_ten_or_less():
    for extra, held in [(0, [2, 2, 2, 1, 0, 0]), (1, [2, 2, 2, 2, 0, 0]), (3, [2, 2, 2, 2, 2, 0])]:
        game = play(give_tokens(opening(), 0, held), "take wug")
        for _ in range(extra):
            assert game.phase == "return"
            game.apply(game.legal_actions()[0])
        assert (game.phase, game.seat_to_move) == ("main", 1)
        assert sum(seat_of(game, 0)["tokens"]) == sum(held) + 3 - extra


def test_a_forced_return_is_still_a_decision():
    game = play(give_tokens(opening(4, {"token_limit": 3}), 0, [3, 0, 0, 0, 0, 0]), "take ww")
    for _ in range(2):
        assert (legal(game), game.seat_to_move) == (["return w"], 0)
        play(game, "return w")
    assert game.seat_to_move == 1


@pytest.mark.parametrize("limit", [3, 8, 20])
def test_the_token_limit_is_an_option(limit):
    held = [min(4, max(0, limit - 4 * colour)) for colour in range(5)]
    position = give_tokens(opening(4, {"token_limit": limit}), 0, [*held, 0])
    assert sum(held) == limit
    assert play(position, "take wug").phase == "return"


def test_only_in_phase_return_can_tokens_be_given_back():
    assert legal_beginning(opening(), "return") == []
    assert legal(returning()) == ["return w", "return u", "return g"]


# ---------------------------------------------------------------------------------------------------------------- noble

FOUR_WHITE_BLUE, FOUR_BLUE_GREEN, FOUR_RED_BLACK = (
    tile_requiring(4, 4, 0, 0, 0),
    tile_requiring(0, 4, 4, 0, 0),
    tile_requiring(0, 0, 0, 4, 4),
)
ROW = [FOUR_WHITE_BLUE, FOUR_BLUE_GREEN, FOUR_RED_BLACK]
FREE_BLUE = card_costing(0, 0, 0, 0, 3)  # a blue card of level 1


def one_blue_short_of_two_nobles(rules="official"):
    """Seat 0 lacks one blue bonus for two nobles, and can buy a blue card without prestige."""
    return holding(FREE_BLUE, [0, 0, 0, 0, 3, 0], [4, 3, 4, 0, 0], rules=rules, nobles=ROW)


def test_a_noble_visits_the_seat_whose_bonuses_meet_its_requirement():
    position = holding(FREE_BLUE, [0, 0, 0, 0, 3, 0], [4, 3, 0, 0, 0], nobles=ROW)
    game = play(position, "buy reserved.1")
    assert (seat_of(game, 0)["nobles"], game.prestige, game.seat_to_move) == ([FOUR_WHITE_BLUE], [3, 0], 1)
    assert game.position()["nobles"] == [None, FOUR_BLUE_GREEN, FOUR_RED_BLACK]


def test_of_several_nobles_the_seat_chooses_one_in_the_same_turn():
    game = play(one_blue_short_of_two_nobles(), "buy reserved.1")
    assert (game.phase, game.turn, game.seat_to_move, game.prestige) == ("noble", 0, 0, [0, 0])
    assert legal(game) == ["noble 1", "noble 2"]
    for name, tile in [("noble 1", FOUR_WHITE_BLUE), ("noble 2", FOUR_BLUE_GREEN)]:
        chosen = play(game.copy(), name)
        assert (seat_of(chosen, 0)["nobles"], chosen.prestige, chosen.seat_to_move) == ([tile], [3, 0], 1)


@pytest.mark.parametrize("decision", ["take wug", "reserve 1.1", "reserve 2.deck"])
def test_a_noble_that_waits_visits_at_a_later_turns_end_whatever_the_decision_was(decision):
    game = play(one_blue_short_of_two_nobles(), "buy reserved.1", "noble 1", "take wgr")
    assert seat_of(game, 0)["nobles"] == [FOUR_WHITE_BLUE]
    play(game, decision)
    assert (seat_of(game, 0)["nobles"], game.prestige) == ([FOUR_WHITE_BLUE, FOUR_BLUE_GREEN], [6, 0])


def stuck_before_a_noble():
    """Seat 1 can only pass, and its bonuses of red and black meet the requirement of one noble."""
    board = [[7, 39, 31, 5], [45, 51, 57, 48], [76, 79, 83, 77]]  # white, blue and green are what they cost
    position = hold(opening(nobles=ROW, board=board), 1, [75, 80, 81])
    position = give_tokens(give_tokens(position, 0, [4, 4, 2, 0, 0, 0]), 1, [0, 0, 2, 4, 4, 0])
    return turn_of(give_bonuses(position, 1, [0, 0, 0, 4, 4]), 1)


def test_a_noble_visits_after_a_pass_too():
    assert legal(stuck_before_a_noble()) == ["pass"]
    game = play(stuck_before_a_noble(), "pass")
    assert (seat_of(game, 1)["nobles"], game.prestige, game.is_over) == ([FOUR_RED_BLACK], [0, 3], False)


def test_a_noble_that_waits_may_be_taken_by_another_seat_first():
    green = card_costing(2, 1, 0, 0, 0, bonus="g")
    position = give_bonuses(hold(one_blue_short_of_two_nobles(), 1, [green]), 1, [2, 4, 3, 0, 0])
    game = play(position, "buy reserved.1", "noble 1", "buy reserved.1")
    assert [seat_of(game, seat)["nobles"] for seat in (0, 1)] == [[FOUR_WHITE_BLUE], [FOUR_BLUE_GREEN]]
    play(game, "take wgr")
    assert seat_of(game, 0)["nobles"] == [FOUR_WHITE_BLUE]
    assert game.position()["nobles"] == [None, None, FOUR_RED_BLACK]


def test_tokens_and_reserved_cards_do_not_count_for_nobles():
    position = give_tokens(opening(nobles=ROW), 0, [4, 4, 0, 0, 0, 0])
    assert seat_of(play(position, "take grk"), 0)["nobles"] == []
    position = give_bonuses(hold(opening(nobles=ROW), 0, [FREE_BLUE]), 0, [4, 3, 0, 0, 0])
    assert seat_of(play(position, "take grk"), 0)["nobles"] == []


def test_a_noble_visits_only_the_seat_that_moved():
    position = give_bonuses(opening(nobles=ROW), 1, [4, 4, 0, 0, 0])
    game = play(position, "take grk")
    assert seat_of(game, 1)["nobles"] == []
    play(game, "take grk")
    assert seat_of(game, 1)["nobles"] == [FOUR_WHITE_BLUE]


def test_a_noble_visits_after_the_returns():
    position = give_tokens(give_bonuses(opening(nobles=ROW), 0, [4, 4, 4, 0, 0]), 0, [3, 3, 3, 0, 0, 0])
    game = play(position, "take grk", "return g")
    assert (game.phase, game.prestige) == ("return", [0, 0])
    play(game, "return g")
    assert game.phase == "noble"


def test_a_tile_that_was_taken_leaves_its_place_empty_and_is_not_replaced():
    game = play(one_blue_short_of_two_nobles(), "buy reserved.1", "noble 2")
    assert game.position()["nobles"] == [FOUR_WHITE_BLUE, None, FOUR_RED_BLACK]


def test_a_noble_visit_cannot_be_refused():
    game = play(one_blue_short_of_two_nobles(), "buy reserved.1")
    assert {name.split()[0] for name in legal(game)} == {"noble"}


def test_a_noble_may_come_with_the_pass_that_makes_a_deadlock():
    game = play(changed(stuck_before_a_noble(), ("passes", 1)), "pass")
    assert (game.is_deadlocked, game.prestige, game.winners()) == (True, [0, 3], [1])


def test_a_noble_may_be_chosen_after_the_pass_that_makes_a_deadlock():
    board = [[30, 39, 31, 5], [45, 51, 50, 48], [76, 79, 75, 77]]  # all cost white or blue
    nobles = [FOUR_WHITE_BLUE, FOUR_RED_BLACK, tile_requiring(0, 0, 3, 3, 3)]
    position = changed(hold(opening(nobles=nobles, board=board), 1, [41, 52, 56]), ("passes", 1))
    position = give_tokens(give_tokens(position, 0, [4, 4, 2, 0, 0, 0]), 1, [0, 0, 2, 4, 4, 0])
    game = at(turn_of(give_bonuses(position, 1, [0, 0, 3, 4, 4]), 1))
    assert legal(game) == ["pass"]
    play(game, "pass")
    assert (game.phase, game.position()["passes"], game.is_over) == ("noble", 2, False)
    play(game, "noble 3")
    assert (game.is_deadlocked, game.winners()) == (True, [1])


# ------------------------------------------------------------------------------------------------------------- the end


def about_to_reach(prestige, players, seat, rules="official", nobles=None):
    """A seat to move with one prestige less, and the price of a reserved card that is worth one."""
    position = opening(players, rules, nobles)
    position = give_cards(position, seat, cards_worth(position, prestige - 1, 4))
    position = hold(position, seat, [39])  # four blue, one prestige
    blue = [CARD_BONUS[card] for card in position["seats"][seat]["cards"]].count(1)
    position = give_tokens(position, seat, [0, max(0, 4 - blue), 0, 0, 0, 0])
    return turn_of(position, seat)


@ALL_SEATS
def test_the_round_is_finished_after_the_target_was_reached(players):
    for seat in range(players):
        game = play(about_to_reach(15, players, seat), "buy reserved.1")
        assert game.prestige[seat] == 15
        more = 0
        while not game.is_over:
            assert game.winners() == []
            play(game, "take wgr" if "take wgr" in legal(game) else legal(game)[0])
            more += 1
        assert more == players - 1 - seat
        assert (game.turn, game.seat_to_move, game.winners(), game.is_deadlocked) == (players, 0, [seat], False)


@ALL_SEATS
def test_an_immediate_end_comes_with_the_turn_that_reaches_the_target(players):
    for seat in range(players):
        game = play(about_to_reach(15, players, seat, {"end": "immediate"}), "buy reserved.1")
        assert (game.is_over, game.turn, game.seat_to_move) == (True, seat + 1, (seat + 1) % players)
        assert game.winners() == [seat]


@pytest.mark.parametrize("end", ["finish_round", "immediate"])
def test_the_end_is_decided_after_the_noble_was_chosen(end):
    position = one_blue_short_of_two_nobles({"end": end, "target_prestige": 15})
    game = at(give_cards(position, 0, cards_worth(position, 12, 3)))
    play(game, "buy reserved.1")
    assert (game.phase, game.is_over, game.prestige) == ("noble", False, [12, 0])
    play(game, "noble 1")
    assert (game.is_over, game.prestige) == (end == "immediate", [15, 0])


def test_the_last_turn_counts_with_its_noble():
    # Fifteen by the card already, and eighteen with the noble that is chosen after it.
    position = about_to_reach(15, 2, 1, nobles=ROW)
    position = give_bonuses(position, 1, [4, 4, 4, 0, 0])
    game = play(position, "buy reserved.1")
    assert (game.phase, game.is_over, game.prestige[1]) == ("noble", False, 15)
    play(game, "noble 1")
    assert (game.is_over, game.prestige[1], game.winners()) == (True, 18, [1])


@pytest.mark.parametrize(("target", "ends"), [(9, True), (15, True), (16, False), (60, False)])
def test_the_target_is_an_option(target, ends):
    position = about_to_reach(min(target, 15), 2, 1, {"target_prestige": target})
    assert play(position, "buy reserved.1").is_over == ends


def standing_at(players, rules, prestige, cards):
    """A game that is over with this prestige, if need be from a noble, and these numbers of bought cards."""
    position = opening(players, rules)
    for seat in range(players):
        nobles = [0, 1] if prestige[seat] > 5 * cards[seat] else []
        position = give_nobles(position, seat, nobles)
        position = give_cards(position, seat, cards_worth(position, prestige[seat] - 3 * len(nobles), cards[seat]))
    game = at(over(position))
    assert game.prestige == prestige
    assert [len(seat["cards"]) for seat in game.position()["seats"]] == cards
    return game


@pytest.mark.parametrize(
    ("prestige", "cards", "ranks"),
    [
        ([16, 16, 15, 12], [12, 12, 10, 8], [0, 0, 1, 2]),
        ([18, 17, 17, 12], [8, 9, 9, 2], [0, 1, 1, 2]),
        ([15, 17], [10, 12], [1, 0]),
        ([16, 16], [12, 12], [0, 0]),
        ([16, 16, 16], [12, 11, 12], [1, 0, 1]),
    ],
)
def test_most_prestige_wins_then_fewest_cards_then_the_win_is_shared(prestige, cards, ranks):
    game = standing_at(len(ranks), "official", prestige, cards)
    assert game.ranks() == ranks
    assert game.winners() == [seat for seat, rank in enumerate(ranks) if rank == 0]


@pytest.mark.parametrize("rules", ["portuguese", "basque", "finnish", {"tie_break": "shared"}])
def test_without_a_tie_break_equal_prestige_shares_the_win(rules):
    game = standing_at(3, rules, [16, 16, 15], [12, 9, 8])
    assert (game.ranks(), game.winners()) == ([0, 0, 1], [0, 1])


def test_nobles_do_not_break_a_tie():
    position = opening()
    position = give_nobles(give_cards(position, 0, cards_worth(position, 10, 11)), 0, [0, 1])
    position = give_cards(position, 1, cards_worth(position, 16, 10))
    game = at(over(position))
    assert (game.prestige, game.winners()) == ([16, 16], [1])


def test_reserved_cards_do_not_count_in_a_tie():
    position = opening()
    position = give_cards(position, 0, cards_worth(position, 16, 10))
    position = give_cards(position, 1, cards_worth(position, 16, 11))
    game = at(over(hold(position, 0, position["decks"][1][:3])))
    assert (game.prestige, game.winners()) == ([16, 16], [0])


def test_the_order_of_seats_never_breaks_a_tie():
    for players in (2, 3, 4):
        game = standing_at(players, "official", [15] * players, [9] * players)
        assert game.winners() == list(range(players))
        shares = ss.playout(game.state.copy(), seed=1)
        assert shares.tolist() == [[1 / players] * players]


# -------------------------------------------------------------------------------------------------------- decisions


def test_the_78_decisions_have_their_names_and_ids():
    expected = [
        *("take " + "".join(each) for each in itertools.combinations("wugrk", 3)),
        *("take " + "".join(each) for each in itertools.combinations("wugrk", 2)),
        *(f"take {colour}" for colour in "wugrk"),
        *(f"take {colour}{colour}" for colour in "wugrk"),
        *(f"reserve {level}.{slot}" for level in (1, 2, 3) for slot in (1, 2, 3, 4)),
        *(f"reserve {level}.deck" for level in (1, 2, 3)),
        *(f"buy {level}.{slot}" for level in (1, 2, 3) for slot in (1, 2, 3, 4)),
        *(f"buy reserved.{place}" for place in (1, 2, 3)),
        "pass",
        *(f"return {colour}" for colour in "wugrkj"),
        *(f"noble {place}" for place in (1, 2, 3, 4, 5)),
        *(f"gold for {colour}" for colour in "wugrk"),
        "pay",
    ]
    assert [ss.action_name(action) for action in range(78)] == expected == list(ss.ACTION_NAMES)
    assert [ss.parse_action(name) for name in expected] == list(range(78))


@pytest.mark.parametrize(
    "name", ["", "take", "take gw", "take wj", "Take wug", "reserve 4.1", "buy reserved.4", "passs"]
)
def test_what_is_no_decisions_name_is_refused(name):
    with pytest.raises(ss.IllegalActionError, match="names no decision"):
        ss.parse_action(name)


@pytest.mark.parametrize("action", [-1, 78, 10**6, 2**70, 1.0, True, None, [3], np.float64(3)])
def test_what_is_no_decisions_id_is_refused(action):
    for call in (ss.action_name, ss.Game().apply, ss.Game().chance_outcomes):
        with pytest.raises(ss.IllegalActionError):
            call(action)


def test_numpys_whole_numbers_are_ids_too():
    assert ss.action_name(np.int64(60)) == "pass"
    ss.Game().apply(np.uint8(3))


def test_random_play_is_uniform_among_the_legal_ids_of_the_moment():
    game = play(give_tokens(opening(), 0, [2, 2, 2, 2, 2, 0]), "take wug")
    number = jit_or(30_000, 600)
    for position in (opening(), game.position()):
        state = at(position).state[0]
        drawn = [
            int(policies.choose_random(state, np.uint64(rng.mix(np.uint64(word))))) for word in range(1, number + 1)
        ]
        ids, counts = np.unique(drawn, return_counts=True)
        assert ids.tolist() == at(position).legal_actions()
        expected = number / len(ids)
        chi_square = float(((counts - expected) ** 2 / expected).sum())
        assert chi_square < len(ids) - 1 + 6 * (2 * (len(ids) - 1)) ** 0.5


# ----------------------------------------------------------------------------------------------------- presets, options


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("official", {}),
        ("spanish", {}),
        ("italian", {"take_two_min": 5}),
        ("portuguese", {"tie_break": "shared"}),
        ("basque", {"gold_tokens": [0, 0, 5], "tie_break": "shared"}),
        ("finnish", {"tie_break": "shared"}),
    ],
)
def test_presets_are_what_their_texts_say(preset, options):
    official = {
        "gem_tokens": [4, 5, 7],
        "gold_tokens": [5, 5, 5],
        "target_prestige": 15,
        "token_limit": 10,
        "reserve_limit": 3,
        "take_two_min": 4,
        "take_fewer": "when_scarce",
        "payment": "coloured_first",
        "tie_break": "fewest_cards",
        "end": "finish_round",
    }
    assert ss.Rules.of(preset).to_dict() == {**official, **options}
    assert ss.Rules.of({"preset": preset}) == ss.Rules.of(preset)
    assert ss.Rules.of({}) == ss.Rules()


def test_options_stand_over_their_preset():
    rules = {"preset": "basque", "take_two_min": 3}
    assert ss.Rules.of(rules).to_dict() == {**ss.Rules.of("basque").to_dict(), "take_two_min": 3}
    assert rules == {"preset": "basque", "take_two_min": 3}


def test_the_basque_text_has_no_gold_with_two_and_three_seats():
    assert [ss.Game(players, rules="basque").position()["bank"][5] for players in (2, 3, 4)] == [0, 0, 5]
    game = play(ss.Game(2, rules="basque"), "reserve 1.1")
    assert seat_of(game, 0)["tokens"] == EMPTY


@pytest.mark.parametrize("players", [2, 3, 4])
def test_tokens_are_an_option_for_each_number_of_seats(players):
    game = ss.Game(players, rules={"gem_tokens": [1, 2, 3], "gold_tokens": [7, 0, 1]})
    assert game.position()["bank"] == [[1] * 5 + [7], [2] * 5 + [0], [3] * 5 + [1]][players - 2]


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ("swedish", "swedish"),
        ({"preset": "swedish"}, "swedish"),
        ({"max_tokens": 10}, "max_tokens"),
        ({"token_limit": 2}, "token_limit"),
        ({"token_limit": 10.0}, "token_limit"),
        ({"reserve_limit": True}, "reserve_limit"),
        ({"gem_tokens": [4, 5]}, "gem_tokens"),
        ({"gem_tokens": [0, 5, 7]}, "gem_tokens"),
        ({"end": "now"}, "end"),
        (None, "None"),
        (["official"], "official"),
    ],
)
def test_unknown_or_wrong_rules_are_refused_by_name(rules, word):
    for call in (ss.Rules.of, lambda given: ss.Game(rules=given), lambda given: ss.deal(1, rules=given)):
        with pytest.raises(ss.RulesError, match=word):
            call(rules)


def test_two_rule_sets_in_one_process_do_not_mix():
    games = [ss.Game(seed=1, rules=rules) for rules in ("official", "italian")]
    assert ["take ww" in legal(game) for game in games] == [True, False]
    states = np.concatenate([game.state for game in games])
    assert ss.legal_mask(states)[:, 25].tolist() == [True, False]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_played_to_an_end(preset):
    states = ss.deal(jit_or(50, 1), 2, seed=1, rules=preset)
    shares = ss.playout(states, seed=2)
    assert (shares.sum(axis=1) == 1).all()


def test_positions_say_passes_only_if_they_want_to():
    assert at(without(opening(), "passes")).position() == opening()
