"""Positions for tests of the laws: some that break exactly one, and some odd ones that break none."""

import copy

BOARD = [[7, 20, 32, 6], [68, 47, 59, 57], [83, 88, 87, 85]]
LEVELS = [range(40), range(40, 70), range(70, 90)]
NOBLES = [9, 7, 3]  # 4 red 4 black; 4 green 4 red; 3 white 3 blue 3 black
FOUR_GREEN_RED_BLACK = [16, 17, 18, 19, 24, 25, 26, 27, 33, 34, 35, 36]  # twelve cards for nobles 9 and 7, no prestige
FIFTEEN_PRESTIGE = [73, 77, 81]


def lawful_positions():
    """Yield (name, position) for positions that break no law, however odd they look."""
    yield "an opening", opening()
    yield "phase pay", paying()
    yield "phase return", returning()
    yield "phase noble", choosing_noble()
    yield "a game over at the target", finished()
    yield "a game over because all passed", changed(opening(), ("phase", "over"), ("turn", 2), ("passes", 2))
    over = changed(opening(), ("phase", "over"), ("turn", 1), ("to_move", 1), ("passes", 2))
    yield "a game over in the middle of a round because all passed", over
    yield "an opening without passes", without(opening(), "passes")
    yield "passes one below the players", changed(opening(), ("passes", 1))
    yield "passes as many as the players in phase noble", changed(choosing_noble(), ("passes", 2))
    yield "nobles that wait in phase main", changed(choosing_noble(), ("phase", "main"))
    yield "a noble that waits for the seat that is not to move", changed(choosing_noble(1), ("phase", "main"))
    yield "a target reached in the middle of a round", give_cards(middle_of_round(), 0, FIFTEEN_PRESTIGE)
    yield (
        "a target reached by the mover who must return",
        changed(give_tokens(reached(0), 0, [4, 4, 3, 0, 0, 0]), ("phase", "return")),
    )
    yield "a target reached by the mover who chooses a noble", give_cards(choosing_noble(), 0, FIFTEEN_PRESTIGE)
    yield "a rule object", opening({"preset": "italian", "token_limit": 12})
    yield "a rule object that is empty", opening({})
    yield "a high turn", changed(opening(), ("turn", 1_000_000))
    yield "ten tokens", give_tokens(opening(), 0, [4, 4, 2, 0, 0, 0])
    yield "three reserved cards of one level", hold(opening(), 0, [70, 71, 72])
    yield "a hidden card beside a face-up one", changed(hold(opening(), 1, [0, 1]), ("seats.1.reserved.0.hidden", True))
    yield "an empty slot over an empty deck", empty_slot(empty_deck(middle_of_round(), 2), 2, 1)
    yield "a full row over an empty deck", empty_deck(middle_of_round(), 0)
    yield "an empty board over empty decks", empty_everything()
    yield (
        "a payment with gold for all that is due",
        changed(paying(tokens=[0, 3, 0, 0, 0, 3]), ("pending.gold_for", [0, 3, 0, 0, 0])),
    )
    yield "a noble already taken", changed(opening(), ("nobles.1", None), ("seats.0.nobles", [7]))


def broken_positions():
    """Yield (name, position, word) for positions that break one law, with a word that the message should contain."""
    yield from broken_keys()
    yield from broken_types()
    yield from broken_options()
    yield from broken_places()
    yield from broken_counts()
    yield from broken_phases()
    yield from broken_ends()


# --------------------------------------------------------------------------------------------------- positions to break


def opening(rules="official"):
    """Set up the opening for two seats, with the tokens of the official rules."""
    seats = [{"tokens": [0] * 6, "cards": [], "reserved": [], "nobles": []} for _ in range(2)]
    return {
        "players": 2,
        "rules": rules,
        "to_move": 0,
        "phase": "main",
        "turn": 0,
        "passes": 0,
        "bank": [4, 4, 4, 4, 4, 5],
        "board": copy.deepcopy(BOARD),
        "decks": [[card for card in LEVELS[level] if card not in BOARD[level]] for level in range(3)],
        "nobles": list(NOBLES),
        "seats": seats,
    }


def paying(tokens=(0, 3, 0, 0, 0, 2)):
    """Set up phase pay: seat 0 owes three blue for card 5 and may give gold for them."""
    position = give_tokens(opening({"payment": "choice"}), 0, tokens)
    position["decks"][0].remove(5)
    position["phase"] = "pay"
    position["pending"] = {"card": 5, "gold_for": [0, 0, 0, 0, 0]}
    return position


def returning():
    """Set up phase return: seat 0 holds eleven tokens."""
    return changed(give_tokens(opening(), 0, [4, 4, 3, 0, 0, 0]), ("phase", "return"))


def choosing_noble(seat=0):
    """Set up phase noble: two nobles qualify for a seat, which is to move if it is seat 0."""
    return changed(give_cards(opening(), seat, FOUR_GREEN_RED_BLACK), ("phase", "noble"))


def reached(seat):
    """Set up a seat that holds the target prestige, still in the opening's phase main."""
    return give_cards(opening(), seat, FIFTEEN_PRESTIGE)


def finished():
    """Set up a game that is over: seat 1 reached the target and the round is complete."""
    return changed(reached(1), ("phase", "over"), ("turn", 2))


def middle_of_round():
    """Set up the turn of seat 1, when the target may be reached and the game go on."""
    return changed(opening(), ("turn", 1), ("to_move", 1))


def changed(position, *changes):
    """Copy a position with values set, each given as (dotted path, value)."""
    position = copy.deepcopy(position)
    for path, value in changes:
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place = position
        for key in parents:
            place = place[key]
        place[last] = value
    return position


def without(position, path):
    """Copy a position without the key at a dotted path."""
    position = copy.deepcopy(position)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = position
    for key in parents:
        place = place[key]
    del place[last]
    return position


def give_tokens(position, seat, tokens):
    """Copy a position with tokens moved from the bank to a seat."""
    position = copy.deepcopy(position)
    for colour, count in enumerate(tokens):
        position["bank"][colour] -= count
        position["seats"][seat]["tokens"][colour] += count
    return position


def take_from_deck(position, card):
    """Take a card out of its deck, in place."""
    for deck in position["decks"]:
        if card in deck:
            deck.remove(card)
            return
    raise AssertionError(f"card {card} is in no deck")


def give_cards(position, seat, cards):
    """Copy a position with cards moved from the decks to a seat's bought cards."""
    position = copy.deepcopy(position)
    for card in cards:
        take_from_deck(position, card)
    position["seats"][seat]["cards"] = sorted(position["seats"][seat]["cards"] + list(cards))
    return position


def hold(position, seat, cards):
    """Copy a position with cards moved from the decks to a seat's reserved ones, face up."""
    position = copy.deepcopy(position)
    for card in cards:
        take_from_deck(position, card)
        position["seats"][seat]["reserved"].append({"card": card, "hidden": False})
    return position


def empty_deck(position, level):
    """Copy a position with a whole deck moved to the bought cards of seat 0."""
    return give_cards(position, 0, position["decks"][level])


def empty_slot(position, level, slot):
    """Copy a position with the card of a slot moved to the bought cards of seat 0 and nothing in its place."""
    position = copy.deepcopy(position)
    seat = position["seats"][0]
    seat["cards"] = sorted([*seat["cards"], position["board"][level][slot]])
    position["board"][level][slot] = None
    return position


def empty_everything():
    """Set up a board without cards over empty decks."""
    position = middle_of_round()
    for level in range(3):
        position = empty_deck(position, level)
        for slot in range(4):
            position = empty_slot(position, level, slot)
    return position


# ------------------------------------------------------------------------------------------------- known keys and types


def broken_keys():
    """Yield positions with a key too few or too many."""
    for key in ["players", "rules", "to_move", "phase", "turn", "bank", "board", "decks", "nobles", "seats"]:
        yield f"no {key}", without(opening(), key), key
    for key in ["tokens", "cards", "reserved", "nobles"]:
        yield f"a seat without {key}", without(opening(), f"seats.1.{key}"), key
    one_held = hold(opening(), 0, [0])
    for key in ["card", "hidden"]:
        yield f"a reserved card without {key}", without(one_held, f"seats.0.reserved.0.{key}"), key
    for key in ["card", "gold_for"]:
        yield f"a pending payment without {key}", without(paying(), f"pending.{key}"), key
    yield "phase pay without pending", without(paying(), "pending"), "pending"
    yield "an unknown key", changed(opening(), ("seed", 7)), "seed"
    yield "an unknown key in a seat", changed(opening(), ("seats.0.prestige", 0)), "prestige"
    yield "an unknown key in a reserved card", changed(one_held, ("seats.0.reserved.0.level", 1)), "level"
    yield "an unknown key in pending", changed(paying(), ("pending.gold", 0)), "gold"
    pending = {"card": 5, "gold_for": [0, 0, 0, 0, 0]}
    yield "pending in phase main", changed(opening(), ("pending", pending)), "pending"
    yield "pending in phase return", changed(returning(), ("pending", pending)), "pending"
    yield "pending that is null in phase main", changed(opening(), ("pending", None)), "pending"


def broken_types():
    """Yield positions with a value of a wrong type, length, order or range."""
    for value in [None, [], "official", 2]:
        yield f"{value!r} for a position", value, "position"

    # true equals 1 and 1.0 equals 1, so the positions that hold them would be lawful if they were integers.
    for value in [True, 2.0, "2", None, 0, 1, 5, -2]:
        yield f"{value!r} players", changed(opening(), ("players", value)), "players"
    for value in [True, 1.0, "1", None, -1]:
        yield f"to_move {value!r}", changed(middle_of_round(), ("to_move", value)), "to_move"
    yield "to_move beyond the seats", changed(opening(), ("to_move", 2)), "to_move"
    for value in [True, 1.0, "1", None, [1], -1]:
        yield f"turn {value!r}", changed(middle_of_round(), ("turn", value)), "turn"
    for value in [True, False, 0.0, "0", None, -1]:
        yield f"passes {value!r}", changed(opening(), ("passes", value)), "passes"
    for value in ["Main", "end", "", None, 0, True, ["main"], {"main": 1}]:
        yield f"phase {value!r}", changed(opening(), ("phase", value)), "phase"
    for value in [None, True, 1, ["official"]]:
        yield f"rules {value!r}", changed(opening(), ("rules", value)), "rules"

    yield from broken_token_lists("bank", opening(), "bank")
    yield from broken_token_lists(
        "seats.0.tokens", changed(opening(), ("seats.0.tokens.5", 1), ("bank.5", 4)), "tokens"
    )

    for value in [None, {}, "board", BOARD[:2], [*BOARD, BOARD[0]], [None, *BOARD[1:]], [[7, 20, 32], *BOARD[1:]]]:
        yield f"board {value!r}", changed(opening(), ("board", value)), "board"
    row_of_five = changed(give_cards(opening(), 0, [0]), ("board.0", [7, 20, 32, 6, 0]), ("seats.0.cards", []))
    yield "a row of five", row_of_five, "board"
    for value in ["7", 7.0, [7], False, 90, -1, 255, 1 << 64]:
        yield f"{value!r} in a slot", changed(opening(), ("board.0.0", value)), "board"
    true_in_slot = give_cards(opening(), 0, [1])
    true_in_slot = changed(true_in_slot, ("board.0.0", True), ("seats.0.cards", [7]))
    yield "true for card 1 in a slot", true_in_slot, "board"
    exchanged = changed(opening(), ("board.0.0", 68), ("board.1.0", 7))
    yield "cards of two levels exchanged on the board", exchanged, "level"

    decks = opening()["decks"]
    for value in [None, {}, "decks", decks[:2], [*decks, []], [None, *decks[1:]], [{}, *decks[1:]]]:
        yield f"decks {value!r}", changed(opening(), ("decks", value)), "deck"
    for value in ["0", 0.0, False, None, 90, -1]:
        yield f"{value!r} in a deck", changed(opening(), ("decks.0.0", value)), "deck"
    yield "a deck that is not ascending", changed(opening(), ("decks.0", decks[0][::-1])), "deck"
    yield "two cards of a deck exchanged", changed(opening(), ("decks.2.3", 74), ("decks.2.4", 73)), "deck"
    yield (
        "cards of two levels exchanged in the decks",
        changed(opening(), ("decks.0", [*decks[0][:-1], 40]), ("decks.1", [39, *decks[1][1:]])),
        "level",
    )

    for value in [None, {}, [9, 7], [9, 7, 3, None], [9, 7, 3, 0], "973"]:
        yield f"nobles {value!r}", changed(opening(), ("nobles", value)), "nobles"
    for value in ["3", 3.0, True, [3], 10, -1, 255]:
        yield f"{value!r} in the row of nobles", changed(opening(), ("nobles.2", value)), "noble"

    seats = opening()["seats"]
    for value in [None, {}, [], seats[:1], [*seats, seats[0]]]:
        yield f"seats {value!r}", changed(opening(), ("seats", value)), "seats"
    for value in [None, [], 0]:
        yield f"{value!r} for a seat", changed(opening(), ("seats.1", value)), "seats"

    for value in [None, {}, 5, "5"]:
        yield f"cards {value!r}", changed(opening(), ("seats.0.cards", value)), "cards"
    for value in ["5", 5.0, None, [5], 90, -1]:
        position = give_cards(opening(), 0, [5])
        yield f"{value!r} among the bought cards", changed(position, ("seats.0.cards.0", value)), "card"
    true_bought = changed(give_cards(opening(), 0, [1]), ("seats.0.cards", [True]))
    yield "true for card 1 among the bought cards", true_bought, "card"
    yield "bought cards not ascending", changed(give_cards(opening(), 0, [3, 5]), ("seats.0.cards", [5, 3])), "cards"

    for value in [None, {}, 0]:
        yield f"a seat's nobles {value!r}", changed(opening(), ("seats.0.nobles", value)), "nobles"
    for value in ["7", 7.0, None, True, 10, -1]:
        position = changed(opening(), ("nobles.1", None), ("seats.0.nobles", [value]))
        yield f"{value!r} among a seat's nobles", position, "noble"
    position = changed(opening(), ("nobles", [None, None, 3]), ("seats.0.nobles", [9, 7]))
    yield "a seat's nobles not ascending", position, "nobles"

    for value in [None, {}, 5]:
        yield f"reserved {value!r}", changed(opening(), ("seats.0.reserved", value)), "reserved"
    for value in [None, 5, [5, False]]:
        yield (
            f"{value!r} for a reserved card",
            changed(hold(opening(), 0, [5]), ("seats.0.reserved.0", value)),
            "reserved",
        )
    for value in ["5", 5.0, None, True, 90, -1]:
        position = changed(hold(opening(), 0, [5]), ("seats.0.reserved.0.card", value))
        yield f"the reserved card {value!r}", position, "card"
    for value in [0, 1, None, "false"]:
        position = changed(hold(opening(), 0, [5]), ("seats.0.reserved.0.hidden", value))
        yield f"hidden {value!r}", position, "hidden"

    for value in [None, [], 5]:
        yield f"pending {value!r}", changed(paying(), ("pending", value)), "pending"
    for value in ["5", 5.0, None, 90, -1]:
        yield f"the pending card {value!r}", changed(paying(), ("pending.card", value)), "card"
    yield from broken_token_lists("pending.gold_for", paying(), "gold_for")


def broken_token_lists(path, position, word):
    """Yield positions with something else than the right number of counts at a path."""
    place = position
    for key in path.split("."):
        place = place[int(key) if key.isdigit() else key]
    for value in [None, {}, "444445", place[:-1], [*place, 0], []]:
        yield f"{path} {value!r}", changed(position, (path, value)), word
    for value in [True, False, 0.0, "0", None, [0], -1]:
        yield f"{value!r} in {path}", changed(position, (f"{path}.2", value)), word


def broken_options():
    """Yield positions whose rules are unknown or out of range."""
    yield "an unknown preset's name", opening("swedish"), "swedish"
    yield "a preset's name in capitals", opening("Official"), "Official"
    yield "an unknown preset in an object", opening({"preset": "swedish"}), "swedish"
    yield "a preset that is no name", opening({"preset": None}), "preset"
    yield "an unknown option", opening({"max_tokens": 10}), "max_tokens"
    wrong = {
        "target_prestige": [0, 61, -1, 15.0, "15", True, None],
        "token_limit": [2, 21, 10.0, "10", True],
        "reserve_limit": [-1, 4, 3.0, True, False, None],
        "take_two_min": [1, 8, 4.0, True],
        "take_fewer": ["always", "", None, True, 0],
        "payment": ["gold_first", None, True, 1],
        "tie_break": ["nobles", None, True],
        "end": ["now", None, False, 0],
        "gem_tokens": [4, None, [4, 5], [4, 5, 7, 7], [0, 5, 7], [4, 5, 8], [4, 5, 7.0], [4, True, 7], "457", {}],
        "gold_tokens": [5, None, [5, 5], [5, 5, 5, 5], [5, 5, -1], [8, 5, 5], [5, 5.0, 5], [5, False, 5]],
    }
    for name, values in wrong.items():
        for value in values:
            yield f"{name} {value!r}", opening({name: value}), name


# ---------------------------------------------------------------------------------- cards, nobles, tokens, hands, slots


def broken_places():
    """Yield positions with a card or a noble in no place or in two, or a slot empty over a deck."""
    decks = opening()["decks"]
    yield "a card in no place", changed(opening(), ("decks.0", decks[0][1:])), "card"
    yield "the last card in no place", changed(opening(), ("decks.2", decks[2][:-1])), "card"
    yield "a card twice in its deck", changed(opening(), ("decks.0", [0, *decks[0]])), "card"
    yield "a card on the board and in its deck", changed(opening(), ("decks.0", sorted([*decks[0], 7]))), "card"
    yield "a card twice on the board", changed(opening(), ("board.0.0", 20)), "card"
    yield "a card bought and in its deck", changed(opening(), ("seats.0.cards", [5])), "card"
    yield "a card bought and on the board", changed(opening(), ("seats.1.cards", [7])), "card"
    yield "a card bought twice", changed(give_cards(opening(), 0, [5]), ("seats.0.cards", [5, 5])), "card"
    yield "a card bought by two", changed(give_cards(opening(), 0, [5]), ("seats.1.cards", [5])), "card"
    held = [{"card": 5, "hidden": True}]
    yield "a card reserved and in its deck", changed(opening(), ("seats.0.reserved", held)), "card"
    yield "a card reserved and bought", changed(give_cards(opening(), 0, [5]), ("seats.0.reserved", held)), "card"
    yield "a card reserved twice", changed(hold(opening(), 0, [5]), ("seats.0.reserved", held + held)), "card"
    yield "a card reserved by two", changed(hold(opening(), 0, [5]), ("seats.1.reserved", held)), "card"
    yield "a pending card still in its deck", changed(paying(), ("decks.0", sorted([*paying()["decks"][0], 5]))), "card"
    yield "a pending card already bought", changed(paying(), ("seats.0.cards", [5])), "card"
    yield "a pending card still reserved", changed(paying(), ("seats.0.reserved", held)), "card"

    yield "a noble twice in the row", changed(opening(), ("nobles", [9, 7, 9])), "noble"
    yield (
        "a noble in the row and with a seat",
        changed(opening(), ("nobles", [9, 7, None]), ("seats.0.nobles", [9])),
        "noble",
    )
    yield (
        "a noble with two seats",
        changed(opening(), ("nobles", [None, None, 3]), ("seats.0.nobles", [9]), ("seats.1.nobles", [9])),
        "noble",
    )
    yield (
        "a noble twice with a seat",
        changed(opening(), ("nobles", [None, None, 3]), ("seats.0.nobles", [9, 9])),
        "noble",
    )
    yield "a noble too few", changed(opening(), ("nobles", [9, None, 3])), "noble"
    yield "a noble too many", changed(opening(), ("seats.0.nobles", [0])), "noble"
    yield "no noble", changed(opening(), ("nobles", [None, None, None])), "noble"

    for level in range(3):
        for slot in range(4):
            position = empty_slot(opening(), level, slot)
            yield f"slot {level + 1}.{slot + 1} empty over a deck", position, "deck"
    one_left = give_cards(middle_of_round(), 0, opening()["decks"][0][:-1])
    yield "a slot empty over a deck of one card", empty_slot(one_left, 0, 3), "deck"


def broken_counts():
    """Yield positions with wrong sums of tokens or too many reserved cards."""
    for colour, letter in enumerate("wugrkj"):
        count = opening()["bank"][colour]
        yield f"a token {letter} too few", changed(opening(), (f"bank.{colour}", count - 1)), "token"
        yield f"a token {letter} too many", changed(opening(), (f"bank.{colour}", count + 1)), "token"
        yield f"a token {letter} out of nothing", changed(opening(), (f"seats.1.tokens.{colour}", 1)), "token"
    yield "a token of another colour", changed(opening(), ("bank", [3, 5, 4, 4, 4, 5])), "token"
    yield "the tokens of three seats", changed(opening(), ("bank", [5, 5, 5, 5, 5, 5])), "token"
    yield "gold where the rules have none", opening("basque"), "token"
    yield "tokens of other rules", opening({"gem_tokens": [5, 5, 7]}), "token"
    yield "gold of other rules", opening({"gold_tokens": [6, 5, 5]}), "token"

    yield "four reserved cards", hold(opening(), 1, [0, 1, 2, 3]), "reserve_limit"
    yield (
        "three reserved cards where two are allowed",
        hold(opening({"reserve_limit": 2}), 0, [0, 1, 2]),
        "reserve_limit",
    )
    yield "a reserved card where none is allowed", hold(opening({"reserve_limit": 0}), 0, [0]), "reserve_limit"


# ---------------------------------------------------------------------------------------------------- turn, phases, end


def broken_phases():
    """Yield positions whose turn, passes or phase do not fit the rest."""
    yield "an odd turn of seat 0", changed(opening(), ("turn", 1)), "turn"
    yield "an even turn of seat 1", changed(opening(), ("to_move", 1)), "turn"
    yield "a high turn of the wrong seat", changed(opening(), ("turn", 999_999)), "turn"
    yield (
        "an over game with the wrong seat to move",
        changed(opening(), ("phase", "over"), ("turn", 3), ("passes", 2)),
        "turn",
    )

    yield "passes as many as the players in phase main", changed(opening(), ("passes", 2)), "passes"
    yield "passes above the players in phase main", changed(opening(), ("passes", 3)), "passes"
    yield "passes as many as the players in phase return", changed(returning(), ("passes", 2)), "passes"
    yield "passes as many as the players in phase pay", changed(paying(), ("passes", 2)), "passes"

    eleven = [4, 4, 3, 0, 0, 0]
    yield "eleven tokens of the mover in phase main", give_tokens(opening(), 0, eleven), "token_limit"
    yield "eleven tokens of the other seat in phase main", give_tokens(opening(), 1, eleven), "token_limit"
    gold_too = [2, 2, 2, 2, 0, 3]
    yield "eleven tokens with gold in phase main", give_tokens(opening(), 0, gold_too), "token_limit"
    yield (
        "nine tokens where eight are allowed",
        give_tokens(opening({"token_limit": 8}), 0, [3, 3, 3, 0, 0, 0]),
        "token_limit",
    )
    yield "eleven tokens of the mover in phase noble", give_tokens(choosing_noble(), 0, eleven), "token_limit"
    yield "eleven tokens of the other seat in phase noble", give_tokens(choosing_noble(), 1, eleven), "token_limit"
    yield (
        "ten tokens in phase return",
        changed(give_tokens(opening(), 0, [4, 4, 2, 0, 0, 0]), ("phase", "return")),
        "token_limit",
    )
    yield "no tokens in phase return", changed(opening(), ("phase", "return")), "token_limit"
    yield (
        "eleven tokens of the other seat alone in phase return",
        changed(give_tokens(opening(), 1, eleven), ("phase", "return")),
        "token_limit",
    )
    yield "eleven tokens of both in phase return", give_tokens(returning(), 1, [0, 0, 1, 4, 4, 2]), "token_limit"

    yield "phase noble with no card", changed(opening(), ("phase", "noble")), "noble"
    one_qualifies = give_cards(opening(), 0, FOUR_GREEN_RED_BLACK[:8])
    yield "phase noble with one that qualifies", changed(one_qualifies, ("phase", "noble")), "noble"
    yield "phase noble with two that qualify for the other seat", choosing_noble(1), "noble"
    yield (
        "phase noble with one of the two taken",
        changed(choosing_noble(), ("nobles.0", None), ("seats.1.nobles", [9])),
        "noble",
    )
    by_tokens = give_tokens(give_cards(opening(), 0, FOUR_GREEN_RED_BLACK[:8]), 0, [0, 0, 0, 0, 4, 0])
    yield "phase noble with one that qualifies by tokens", changed(by_tokens, ("phase", "noble")), "noble"
    by_reserved = hold(give_cards(opening(), 0, FOUR_GREEN_RED_BLACK[:11]), 0, FOUR_GREEN_RED_BLACK[11:])
    yield "phase noble with one that qualifies by a reserved card", changed(by_reserved, ("phase", "noble")), "noble"

    yield "phase pay under coloured_first", changed(paying(), ("rules", "official")), "choice"
    yield "phase pay with payment coloured_first", changed(paying(), ("rules.payment", "coloured_first")), "choice"
    yield "a payment without tokens", paying(tokens=[0, 0, 0, 0, 0, 0]), "pending"
    yield "a payment one token short", paying(tokens=[4, 1, 4, 0, 0, 1]), "pending"
    yield (
        "a payment that only the other seat could finish",
        changed(paying(), ("seats.0.tokens", [0] * 6), ("seats.1.tokens", [0, 3, 0, 0, 0, 2])),
        "pending",
    )
    yield "more gold given than held", changed(paying(), ("pending.gold_for", [0, 3, 0, 0, 0])), "pending"
    yield (
        "more gold given than is due",
        changed(paying(tokens=[0, 0, 0, 0, 0, 4]), ("pending.gold_for", [0, 4, 0, 0, 0])),
        "pending",
    )
    yield "gold given for a colour that is not due", changed(paying(), ("pending.gold_for", [1, 0, 0, 0, 0])), "pending"
    short_of_gold = paying(tokens=[0, 2, 0, 1, 0, 1])
    yield (
        "gold given for another colour than the one that is short",
        changed(short_of_gold, ("pending.gold_for", [0, 0, 0, 1, 0])),
        "pending",
    )
    covered = give_cards(paying(), 0, [8, 9, 10])
    yield "gold given for what bonuses cover", changed(covered, ("pending.gold_for", [0, 1, 0, 0, 0])), "pending"


def broken_ends():
    """Yield positions that are over without an end, or go on after it."""
    yield "an opening that is over", changed(opening(), ("phase", "over")), "over"
    yield "over after too few passes", changed(opening(), ("phase", "over"), ("passes", 1)), "over"
    yield "over in the middle of the round of the target", changed(finished(), ("turn", 1), ("to_move", 1)), "over"
    yield "over below a higher target", changed(finished(), ("rules", {"target_prestige": 16})), "over"
    immediate = {"end": "immediate"}
    yield "over at once without the target", changed(opening(immediate), ("phase", "over")), "over"
    fourteen = give_cards(opening(), 0, [73, 77, 71])
    yield "over at fourteen", changed(fourteen, ("phase", "over")), "over"

    yield "a main decision in the round after the target", reached(0), "over"
    yield "a main decision in a later round after the target", changed(reached(1), ("turn", 40)), "over"
    by_noble = changed(reached(0), ("rules", {"target_prestige": 18}), ("nobles.1", None), ("seats.0.nobles", [7]))
    yield "a main decision in the round after a target reached by a noble", by_noble, "over"
    yield "a main decision of seat 0 after the target at once", changed(reached(1), ("rules", immediate)), "over"
    yield (
        "a main decision of seat 1 after the target at once",
        changed(reached(0), ("rules", immediate), ("turn", 1), ("to_move", 1)),
        "over",
    )
