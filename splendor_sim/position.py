"""Positions: a game written down as JSON, and its state. Reading checks every law; what is written keeps them all."""

import copy
import reprlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from splendor_sim.core import gems
from splendor_sim.core.actions import COLUMNS, HAND, SLOTS
from splendor_sim.core.arrays import lay
from splendor_sim.core.cards import (
    CARD_BONUS,
    CARD_COST,
    CARD_COUNT,
    CARD_LEVEL,
    CARD_PRESTIGE,
    LEVEL_START,
    NO_CARD,
    NO_NOBLE,
    NOBLE_COST,
    NOBLE_COUNT,
    NOBLE_PRESTIGE,
)
from splendor_sim.core.rng import DEAL, check_seed, stream_of
from splendor_sim.core.rules import PLAYERS, Rules, RulesError
from splendor_sim.core.state import PHASE_NAMES, RULE_FIELDS, STATE_DTYPE

_SEAT_KEYS = ("tokens", "cards", "reserved", "nobles")
_KEYS = ("players", "rules", "to_move", "phase", "turn", "bank", "board", "decks", "nobles", "seats")
_CARDS = [
    (cost, bonus, prestige, level - 1)
    for cost, bonus, prestige, level in zip(
        CARD_COST.tolist(), CARD_BONUS.tolist(), CARD_PRESTIGE.tolist(), CARD_LEVEL.tolist()
    )
]
_STARTS = LEVEL_START.tolist()
_REQUIREMENTS = NOBLE_COST.tolist()
_TURN_LIMIT, _PASSES_LIMIT = (int(np.iinfo(STATE_DTYPE[name]).max) for name in ("turn", "passes"))

# The laws, as RULES.md words them.
_FORM = "known keys and types"
_ONE_PLACE = "every card in exactly one place"
_NOBLES = "every noble in at most one place and players + 1 in all"
_TOKENS = "tokens of each colour sum to the set-up's"
_RESERVE_LIMIT = "no hand above reserve_limit"
_SLOTS = "an empty slot only over an empty deck"
_TURN = "turn equals to_move modulo the players"
_PASSES = "passes below the players, save when over or in phase noble"
_WITHIN_LIMIT = "in main and noble every seat within token_limit"
_ABOVE_LIMIT = "in return the mover above token_limit and nobody else"
_QUALIFY = "in noble at least two nobles qualify"
_PENDING = "pay only under payment 'choice', with a pending payment that can be finished"
_END = "over exactly if the end conditions hold"
_ROUND = "with finish_round no main decision at the start of a round in which the target was already reached, but over"


class PositionError(ValueError):
    """A position that breaks a law; the message says which and where."""


def from_position(position: Any, seed: int = 0) -> tuple[NDArray[Any], Any]:
    """Return the state of a position, STATE_DTYPE[1], and its rules value; the cards to come follow from the seed.

    Raises PositionError with the law that is broken and the place, SeedError for a seed that is none.
    """
    key = stream_of(np.uint64(check_seed(seed)), 0, DEAL)
    options = check_position(position)
    state = state_of(position, options)
    state["key"] = key
    return state, copy.deepcopy(position["rules"])


def to_position(state: Any, rules: Any = None) -> dict[str, Any]:
    """Return the position of one state: a record of STATE_DTYPE, such as states[3], or an array of one.

    `rules` is the rules value to be written; without it, one is made that means the state's rules.
    """
    s = np.asarray(state).reshape(())[()]
    players = int(s["players"])
    places = [None if card == NO_CARD else card for card in s["card_at"].tolist()]
    position = {
        "players": players,
        "rules": _rules_of(s) if rules is None else json_rules(rules),
        "to_move": int(s["to_move"]),
        "phase": PHASE_NAMES[s["phase"]],
        "turn": int(s["turn"]),
        "passes": int(s["passes"]),
        "bank": gems.unpack(s["bank"]),
        "board": [places[first : first + COLUMNS] for first in range(0, SLOTS, COLUMNS)],
        "decks": [members(deck, _STARTS[level]) for level, deck in enumerate(s["deck"].tolist())],
        "nobles": [None if tile == NO_NOBLE else tile for tile in s["nobles"][: players + 1].tolist()],
        "seats": [_seat_of(s, seat, places[SLOTS + HAND * seat :]) for seat in range(players)],
    }
    if position["phase"] == "pay":
        position["pending"] = {"card": int(s["pending_card"]), "gold_for": gems.unpack(s["pending_gold"])[:5]}
    return position


def members(word: int, first: int = 0) -> list[int]:
    """Return the numbers of the set bits of a word, ascending, counted from `first`."""
    found = []
    while word:
        low = word & -word
        found.append(first + low.bit_length() - 1)
        word ^= low
    return found


def json_rules(rules: Any) -> Any:
    """Return a copy of a rules value in plain JSON types."""
    if isinstance(rules, Rules):
        return rules.to_dict()
    if isinstance(rules, dict):
        return {name: _plain(value) for name, value in rules.items()}
    return rules


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return int(value) if isinstance(value, np.integer) else value


def _rules_of(s: Any) -> Any:
    options = {name: int(s[name]) for name in RULE_FIELDS}
    chosen, official = Rules.from_players(int(s["players"]), options).to_dict(), Rules().to_dict()
    return {name: value for name, value in chosen.items() if value != official[name]} or "official"


def _seat_of(s: Any, seat: int, hand: list[int | None]) -> dict[str, Any]:
    hidden = int(s["hidden"][seat])
    first, second = s["cards"][seat].tolist()
    return {
        "tokens": gems.unpack(s["tokens"][seat]),
        "cards": members(first | second << 64),
        "reserved": [
            {"card": hand[number], "hidden": bool(hidden >> number & 1)} for number in range(s["reserved_count"][seat])
        ],
        "nobles": members(int(s["visited"][seat])),
    }


# --- The state of a lawful position ----------------------------------------------------------------------------------


def state_of(position: dict[str, Any], options: dict[str, int]) -> NDArray[Any]:
    """Return the state of a position that keeps the laws, with key 0; `options` as Rules.for_players gives them."""
    states = np.zeros(1, STATE_DTYPE)
    s = states[0]
    for name, value in options.items():
        s[name] = value
    for name in ("players", "to_move", "turn"):
        s[name] = position[name]
    s["passes"] = position.get("passes", 0)
    s["phase"] = PHASE_NAMES.index(position["phase"])
    s["bank"] = gems.pack(position["bank"])
    s["deck"] = [sum(1 << card - _STARTS[level] for card in deck) for level, deck in enumerate(position["decks"])]
    board = [NO_CARD if card is None else card for row in position["board"] for card in row]
    offered = [card != NO_CARD for card in board] + [bool(deck) for deck in position["decks"]]
    s["on_offer"] = sum(1 << place for place, there in enumerate(offered) if there)
    hands = [[held["card"] for held in seat["reserved"]] for seat in position["seats"]]
    cards = board + [card for hand in hands for card in hand + [NO_CARD] * (HAND - len(hand))]
    row = [NO_NOBLE if tile is None else tile for tile in position["nobles"]]
    lay(states, _padded(cards, "card_at", NO_CARD), _padded(row, "nobles", NO_NOBLE))
    for number, seat in enumerate(position["seats"]):
        _fill_seat(s, number, seat)
        if any(_qualifying(position["nobles"], seat)):
            s["waiting"] |= 1 << number
        if _prestige(seat) >= options["target_prestige"]:
            s["target_reached"] = 1
    s["pending_card"] = NO_CARD
    if "pending" in position:
        s["pending_card"] = position["pending"]["card"]
        s["pending_gold"] = gems.pack(position["pending"]["gold_for"])
    return states


def _padded(ids: list[int], field: str, nothing: int) -> NDArray[np.int64]:
    """The ids that a field of a state is to hold, its other places empty."""
    padded = np.full(STATE_DTYPE[field].shape, nothing, np.int64)
    padded[: len(ids)] = ids
    return padded


def _fill_seat(s: Any, number: int, seat: dict[str, Any]) -> None:
    bought = sum(1 << card for card in seat["cards"])
    s["tokens"][number] = gems.pack(seat["tokens"])
    s["bonuses"][number] = gems.pack(_bonuses(seat))
    s["cards"][number] = [bought & (1 << 64) - 1, bought >> 64]
    s["bought"][number] = len(seat["cards"])
    s["prestige"][number] = _prestige(seat)
    s["visited"][number] = sum(1 << tile for tile in seat["nobles"])
    s["reserved_count"][number] = len(seat["reserved"])
    for place, held in enumerate(seat["reserved"]):
        s["hidden"][number] |= held["hidden"] << place


def _bonuses(seat: dict[str, Any]) -> list[int]:
    bonuses = [0] * 5
    for card in seat["cards"]:
        bonuses[_CARDS[card][1]] += 1
    return bonuses


def _prestige(seat: dict[str, Any]) -> int:
    prestige: int = sum(_CARDS[card][2] for card in seat["cards"]) + NOBLE_PRESTIGE * len(seat["nobles"])
    return prestige


def _qualifying(row: list[int | None], seat: dict[str, Any]) -> list[bool]:
    """By place in the row, whether the noble there would visit the seat."""
    bonuses = _bonuses(seat)
    return [
        tile is not None and all(have >= need for have, need in zip(bonuses, _REQUIREMENTS[tile], strict=True))
        for tile in row
    ]


# --- The laws --------------------------------------------------------------------------------------------------------


def check_position(position: Any) -> dict[str, int]:
    """Return the options of a position, as Rules.for_players gives them.

    Raises PositionError, with the law and the place, for the first law that is broken.
    """
    _check_form(position)
    options = _check_rules(position)
    _check_cards(position)
    _check_nobles(position)
    _check_tokens(position, options)
    _check_hands(position, options)
    _check_slots(position)
    _check_turn(position)
    _check_token_limit(position, options)
    _check_noble_choice(position)
    _check_pending(position, options)
    _check_end(position, options)
    return options


def _refuse(law: str, where: str) -> NoReturn:
    raise PositionError(f"{law}: {where}")


def _check_form(position: Any) -> None:
    if type(position) is not dict:
        _refuse(_FORM, f"a position is an object, not {_short(position)}")
    phase = position.get("phase")
    pending = ("pending",) if phase == "pay" else ()
    _keys(position, (*_KEYS, *pending), "position", optional=("passes",))
    if type(phase) is not str or phase not in PHASE_NAMES:
        _refuse(_FORM, f"phase is one of {', '.join(PHASE_NAMES)}, not {_short(phase)}")
    players = position["players"]
    if type(players) is not int or players not in PLAYERS:
        _refuse(_FORM, f"players is 2, 3 or 4, not {_short(players)}")
    _whole(position["to_move"], 0, players - 1, "to_move")
    _whole(position["turn"], 0, _TURN_LIMIT, "turn")
    _whole(position.get("passes", 0), 0, _PASSES_LIMIT, "passes")
    _wholes(position["bank"], 6, None, "bank")
    _check_form_of_cards(position)
    _list(position["nobles"], players + 1, "nobles")
    for place, tile in enumerate(position["nobles"]):
        if tile is not None:
            _whole(tile, 0, NOBLE_COUNT - 1, f"nobles[{place}], the id of a noble or null,")
    _list(position["seats"], players, "seats")
    for number, seat in enumerate(position["seats"]):
        _check_form_of_seat(seat, f"seats[{number}]")
    if pending:
        _keys(position["pending"], ("card", "gold_for"), "pending")
        _whole(position["pending"]["card"], 0, CARD_COUNT - 1, "pending.card, the id of a card,")
        _wholes(position["pending"]["gold_for"], 5, None, "pending.gold_for")


def _check_form_of_cards(position: dict[str, Any]) -> None:
    _list(position["board"], 3, "board")
    _list(position["decks"], 3, "decks")
    for level in range(3):
        where = f"board[{level}]"
        _list(position["board"][level], 4, where)
        for column, card in enumerate(position["board"][level]):
            if card is not None:
                _card_of_level(card, level, f"{where}[{column}]")
        where = f"decks[{level}]"
        _list(position["decks"][level], None, where)
        for place, card in enumerate(position["decks"][level]):
            _card_of_level(card, level, f"{where}[{place}]")
        _ascending(position["decks"][level], where)


def _check_form_of_seat(seat: Any, where: str) -> None:
    _keys(seat, _SEAT_KEYS, where)
    _wholes(seat["tokens"], 6, None, f"{where}.tokens")
    _wholes(seat["cards"], None, CARD_COUNT - 1, f"{where}.cards")
    _ascending(seat["cards"], f"{where}.cards")
    _wholes(seat["nobles"], None, NOBLE_COUNT - 1, f"{where}.nobles")
    _ascending(seat["nobles"], f"{where}.nobles")
    _list(seat["reserved"], None, f"{where}.reserved")
    for place, held in enumerate(seat["reserved"]):
        here = f"{where}.reserved[{place}]"
        _keys(held, ("card", "hidden"), here)
        _whole(held["card"], 0, CARD_COUNT - 1, f"{here}.card, the id of a card,")
        if type(held["hidden"]) is not bool:
            _refuse(_FORM, f"{here}.hidden is true or false, not {_short(held['hidden'])}")


def _check_rules(position: dict[str, Any]) -> dict[str, int]:
    rules = position["rules"]
    if type(rules) not in (str, dict):
        _refuse(_FORM, f"rules are a preset's name or an object of options, not {_short(rules)}")
    try:
        return Rules.of(rules).for_players(position["players"])
    except RulesError as error:
        raise PositionError(f"{_FORM}: rules: {error}") from error


def _check_cards(position: dict[str, Any]) -> None:
    found: dict[int, str] = {}
    for card, where in _places_of_cards(position):
        if card in found:
            _refuse(_ONE_PLACE, f"card {card} is in {found[card]} and in {where}")
        found[card] = where
    for card in range(CARD_COUNT):
        if card not in found:
            _refuse(_ONE_PLACE, f"card {card} is nowhere")


def _places_of_cards(position: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for level in range(3):
        yield from ((card, f"board[{level}]") for card in position["board"][level] if card is not None)
        yield from ((card, f"decks[{level}]") for card in position["decks"][level])
    for number, seat in enumerate(position["seats"]):
        yield from ((card, f"seats[{number}].cards") for card in seat["cards"])
        yield from ((held["card"], f"seats[{number}].reserved") for held in seat["reserved"])
    if "pending" in position:
        yield position["pending"]["card"], "pending"


def _check_nobles(position: dict[str, Any]) -> None:
    tiles = [tile for tile in position["nobles"] if tile is not None]
    for seat in position["seats"]:
        tiles += seat["nobles"]
    for tile, places in Counter(tiles).items():
        if places > 1:
            _refuse(_NOBLES, f"noble {tile} is in {places} places of nobles and seats")
    if len(tiles) != position["players"] + 1:
        _refuse(_NOBLES, f"nobles and seats hold {len(tiles)} nobles, not {position['players'] + 1}")


def _check_tokens(position: dict[str, Any], options: dict[str, int]) -> None:
    for colour, name in enumerate(gems.COLOUR_NAMES):
        right = options["gold_tokens" if colour == gems.GOLD else "gem_tokens"]
        found = position["bank"][colour] + sum(seat["tokens"][colour] for seat in position["seats"])
        if found != right:
            _refuse(_TOKENS, f"bank and seats hold {found} {name} tokens, not {right}")


def _check_hands(position: dict[str, Any], options: dict[str, int]) -> None:
    for number, seat in enumerate(position["seats"]):
        if len(seat["reserved"]) > options["reserve_limit"]:
            limit = options["reserve_limit"]
            _refuse(
                _RESERVE_LIMIT, f"seats[{number}].reserved holds {len(seat['reserved'])} cards, the limit is {limit}"
            )


def _check_slots(position: dict[str, Any]) -> None:
    for level in range(3):
        for column, card in enumerate(position["board"][level]):
            if card is None and position["decks"][level]:
                _refuse(_SLOTS, f"board[{level}][{column}] is empty and decks[{level}] is not")


def _check_turn(position: dict[str, Any]) -> None:
    players, turn, passes = position["players"], position["turn"], position.get("passes", 0)
    if turn % players != position["to_move"]:
        _refuse(_TURN, f"turn {turn} is that of seat {turn % players}, but to_move is {position['to_move']}")
    if passes >= players and position["phase"] not in ("over", "noble"):
        _refuse(_PASSES, f"passes is {passes} in phase {position['phase']} with {players} players")


def _check_token_limit(position: dict[str, Any], options: dict[str, int]) -> None:
    phase, limit = position["phase"], options["token_limit"]
    if phase not in ("main", "return", "noble"):
        return
    for number, seat in enumerate(position["seats"]):
        held = sum(seat["tokens"])
        may_be_above = phase == "return" and number == position["to_move"]
        if (held > limit) != may_be_above:
            law = _ABOVE_LIMIT if phase == "return" else _WITHIN_LIMIT
            _refuse(law, f"seats[{number}].tokens are {held} in phase {phase}, the limit is {limit}")


def _check_noble_choice(position: dict[str, Any]) -> None:
    if position["phase"] == "noble":
        mover = position["to_move"]
        number = sum(_qualifying(position["nobles"], position["seats"][mover]))
        if number < 2:
            _refuse(_QUALIFY, f"{number} of nobles would visit seats[{mover}]")


def _check_pending(position: dict[str, Any], options: dict[str, int]) -> None:
    if position["phase"] != "pay":
        return
    if not options["payment"]:
        _refuse(_PENDING, "phase is pay and the rules' payment is 'coloured_first'")
    seat = position["seats"][position["to_move"]]
    card, gold_for = position["pending"]["card"], position["pending"]["gold_for"]
    gold, short = sum(gold_for), 0
    for colour, (cost, bonus) in enumerate(zip(_CARDS[card][0], _bonuses(seat), strict=True)):
        due = max(0, cost - bonus)
        if gold_for[colour] > due:
            name = gems.COLOUR_NAMES[colour]
            _refuse(_PENDING, f"pending.gold_for gives {gold_for[colour]} gold for {name}, of which {due} are due")
        short += max(0, due - gold_for[colour] - seat["tokens"][colour])
    if gold + short > seat["tokens"][gems.GOLD]:
        needed, held = gold + short, seat["tokens"][gems.GOLD]
        _refuse(
            _PENDING, f"pending cannot be finished: it takes {needed} gold, and seats[{position['to_move']}] has {held}"
        )


def _check_end(position: dict[str, Any], options: dict[str, int]) -> None:
    # In the middle of a turn neither is asked: the end is decided between two turns.
    if position["phase"] not in ("main", "over"):
        return
    deadlocked = position.get("passes", 0) >= position["players"]
    reached = any(_prestige(seat) >= options["target_prestige"] for seat in position["seats"])
    immediate = bool(options["end"])
    finished = reached and (immediate or position["to_move"] == 0)
    if position["phase"] == "over" and not (finished or deadlocked):
        state = "in the middle of a round" if reached else "by no seat, and not every seat passed"
        _refuse(_END, f"phase is over, but target_prestige {options['target_prestige']} was reached {state}")
    if position["phase"] == "main" and finished:
        law = _END if immediate else _ROUND
        _refuse(law, f"phase is main, but a seat has reached target_prestige {options['target_prestige']}")


def _keys(value: Any, needed: tuple[str, ...], where: str, optional: tuple[str, ...] = ()) -> None:
    if type(value) is not dict:
        _refuse(_FORM, f"{where} is an object, not {_short(value)}")
    for key in needed:
        if key not in value:
            _refuse(_FORM, f"{where} lacks the key {key!r}")
    for key in value:
        if key not in needed and key not in optional:
            _refuse(_FORM, f"{where} has the unknown key {_short(key)}")


def _list(value: Any, length: int | None, where: str) -> None:
    if type(value) is not list:
        _refuse(_FORM, f"{where} is a list, not {_short(value)}")
    if length is not None and len(value) != length:
        _refuse(_FORM, f"{where} has {len(value)} entries, not {length}")


def _whole(value: Any, low: int, high: int | None, where: str) -> None:
    if type(value) is not int or value < low or (high is not None and value > high):
        bounds = f"of {low} or more" if high is None else f"from {low} to {high}"
        _refuse(_FORM, f"{where} is a whole number {bounds}, not {_short(value)}")


def _wholes(values: Any, length: int | None, high: int | None, where: str) -> None:
    _list(values, length, where)
    for place, value in enumerate(values):
        _whole(value, 0, high, f"{where}[{place}]")


def _ascending(values: list[int], where: str) -> None:
    if values != sorted(values):
        _refuse(_FORM, f"{where} is ascending, not {_short(values)}")


def _card_of_level(card: Any, level: int, where: str) -> None:
    _whole(card, 0, CARD_COUNT - 1, f"{where}, the id of a card,")
    if _CARDS[card][3] != level:
        _refuse(_FORM, f"{where} is card {card}, which is of level {_CARDS[card][3] + 1}, not {level + 1}")


def _short(value: Any) -> str:
    return reprlib.repr(value)
