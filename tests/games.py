"""What tests build games from: openings with a known board, cards found by their cost, and short ways to play."""

import copy
import json
import random
from pathlib import Path

import numba

import splendor_sim as ss
from broken_positions import BOARD, LEVELS, changed, give_cards
from splendor_sim.core import cards

JIT_DISABLED = bool(numba.config.DISABLE_JIT)
POSITIONS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "positions.jsonl").read_text(encoding="utf-8").splitlines()
]
COLOURS = "wugrkj"
CARD_LEVEL, CARD_BONUS, CARD_PRESTIGE, CARD_COST, NOBLE_COST = (
    table.tolist()
    for table in (cards.CARD_LEVEL, cards.CARD_BONUS, cards.CARD_PRESTIGE, cards.CARD_COST, cards.NOBLE_COST)
)
TOKENS = {2: 4, 3: 5, 4: 7}
PRESETS = ["official", "spanish", "italian", "portuguese", "basque", "finnish"]
# Every option and every preset is played by at least one of these.
RULES = [
    *PRESETS,
    {"payment": "choice", "take_fewer": "up_to"},
    {"preset": "basque", "payment": "choice", "end": "immediate", "target_prestige": 9},
    {"take_fewer": "never", "token_limit": 3, "reserve_limit": 0},
    {"gem_tokens": [1, 2, 7], "gold_tokens": [7, 1, 0], "take_two_min": 2, "tie_break": "shared"},
    {"token_limit": 20, "target_prestige": 40, "reserve_limit": 2, "payment": "choice"},
]


def jit_or(plain, without):
    """How many of something: `plain` with compiled kernels, `without` where they run as Python."""
    return without if JIT_DISABLED else plain


def opening(players=2, rules="official", nobles=None, board=BOARD):
    """An opening position with a known board, and nobles 0, 1, ... unless they are given."""
    options = ss.Rules.of(rules).for_players(players)
    laid = list(range(players + 1)) if nobles is None else list(nobles)
    return {
        "players": players,
        "rules": rules,
        "to_move": 0,
        "phase": "main",
        "turn": 0,
        "passes": 0,
        "bank": [options["gem_tokens"]] * 5 + [options["gold_tokens"]],
        "board": copy.deepcopy(board),
        "decks": [[card for card in LEVELS[level] if card not in board[level]] for level in range(3)],
        "nobles": laid + [None] * (players + 1 - len(laid)),
        "seats": [{"tokens": [0] * 6, "cards": [], "reserved": [], "nobles": []} for _ in range(players)],
    }


def give_nobles(position, seat, tiles):
    """Copy a position with tiles of the row moved to a seat."""
    position = copy.deepcopy(position)
    for tile in tiles:
        position["nobles"][position["nobles"].index(tile)] = None
    position["seats"][seat]["nobles"] = sorted(position["seats"][seat]["nobles"] + list(tiles))
    return position


def give_bonuses(position, seat, counts):
    """Copy a position with cards of the decks, without prestige where there are some, moved to a seat."""
    found = []
    for colour, count in enumerate(counts):
        able = [card for deck in position["decks"] for card in deck if CARD_BONUS[card] == colour]
        found += sorted(able, key=lambda card: CARD_PRESTIGE[card])[:count]
    return give_cards(position, seat, found)


def cards_worth(position, prestige, number):
    """Cards of the decks: just so many with just that prestige together."""
    able = sorted((card for deck in position["decks"] for card in deck), key=lambda card: -CARD_PRESTIGE[card])
    found = []
    while prestige:
        found.append(next(card for card in able if card not in found and 0 < CARD_PRESTIGE[card] <= prestige))
        prestige -= CARD_PRESTIGE[found[-1]]
    worthless = [card for card in able if CARD_PRESTIGE[card] == 0]
    assert len(found) <= number
    return found + worthless[: number - len(found)]


def turn_of(position, seat):
    """Copy a position so that a seat is to move in the first round."""
    return changed(position, ("to_move", seat), ("turn", seat))


def over(position):
    """Copy a position as that of a game that is over at the end of a round."""
    return changed(position, ("phase", "over"), ("turn", 10 * position["players"]), ("to_move", 0))


def card_costing(*cost, bonus=None):
    """The id of the card with this cost, w u g r k (and this bonus)."""
    found = [
        card
        for card in range(90)
        if tuple(CARD_COST[card]) == cost and (bonus is None or CARD_BONUS[card] == COLOURS.index(bonus))
    ]
    assert len(found) == 1
    return found[0]


def tile_requiring(*requirement):
    """The id of the noble with this requirement, w u g r k."""
    return [tuple(each) for each in NOBLE_COST].index(requirement)


def at(position):
    """The game at a position."""
    return ss.Game.from_position(position)


def legal(game_or_position):
    """The names of the legal decisions."""
    game = at(game_or_position) if isinstance(game_or_position, dict) else game_or_position
    return [ss.action_name(action) for action in game.legal_actions()]


def legal_beginning(position, word):
    """The names of the legal decisions that begin with a word."""
    return [name for name in legal(position) if name.split()[0] == word]


def play(game_or_position, *names):
    """Make decisions by name and return the game."""
    game = at(game_or_position) if isinstance(game_or_position, dict) else game_or_position
    for name in names:
        game.apply(name)
    return game


def seat_of(game, seat):
    """What a seat has, as a position says it."""
    return game.position()["seats"][seat]


def random_rules(rng):
    """A rules value with options drawn at random, the scarce ones more often."""
    options = {
        "preset": rng.choice(PRESETS),
        "gem_tokens": [rng.choice([1, 2, 3, 4, 5, 7]) for _ in range(3)],
        "gold_tokens": [rng.choice([0, 1, 3, 5, 7]) for _ in range(3)],
        "target_prestige": rng.choice([1, 3, 8, 15, 21]),
        "token_limit": rng.choice([3, 4, 6, 8, 10, 20]),
        "reserve_limit": rng.choice([0, 1, 2, 3]),
        "take_two_min": rng.choice([2, 3, 4, 5, 7]),
        "take_fewer": rng.choice(["when_scarce", "never", "up_to"]),
        "payment": rng.choice(["coloured_first", "choice"]),
        "tie_break": rng.choice(["fewest_cards", "shared"]),
        "end": rng.choice(["finish_round", "immediate"]),
    }
    for name in rng.sample(list(options), rng.randrange(len(options))):
        del options[name]
    return options


def random_walk(game, rng, decisions=10_000):
    """Yield a game before each of its random decisions and, once it is over or they are made, once more."""
    for _ in range(decisions):
        yield game
        if game.is_over:
            return
        game.apply(rng.choice(game.legal_actions()))
    yield game


def walk(game, rng, decisions=10_000):
    """Make random decisions, until the game is over or so many are made."""
    for _ in random_walk(game, rng, decisions):
        pass


def random_games(number, seed):
    """Yield games of all rules and numbers of players, in their openings."""
    rng = random.Random(seed)
    for index in range(number):
        rules = RULES[index % len(RULES)] if index % 2 else random_rules(rng)
        yield ss.Game(2 + index % 3, seed=rng.randrange(2**64), rules=rules)
