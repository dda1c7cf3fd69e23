"""Splendor in plain Python: slow, obvious, and the judge of the compiled engine, with which it shares no code.

Everything is a list, a dict or a loop over colours, in the order of the rules contract: words, set-up, a turn, the end,
options, decisions, position, perft.
"""

import copy
import csv
import itertools
from pathlib import Path

# ---------------------------------------------------------------------------------------------------------------- words

COLOURS = "wugrkj"  # white blue green red black gold: the order of every list of tokens
GOLD = 5
GEMS = [0, 1, 2, 3, 4]  # the colours that cards cost and give; gold is none of them
COLOUR_NAMES = ["white", "blue", "green", "red", "black"]
LEVELS = [0, 1, 2]  # level 1 is at index 0
SLOTS = [0, 1, 2, 3]
DATA = Path(__file__).parent / "data"


def read_table(name):
    """Read one table of cards or nobles as a list of dicts by id."""
    table = []
    with open(DATA / name, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            entry = {"points": int(row["points"]), "cost": [int(row[colour]) for colour in COLOUR_NAMES]}
            if "level" in row:
                entry["level"] = int(row["level"]) - 1
                entry["bonus"] = COLOUR_NAMES.index(row["bonus"])
            assert int(row["id"]) == len(table)
            table.append(entry)
    return table


CARDS = read_table("cards.csv")  # id -> points, cost (five colours), level (0-2), bonus (a colour)
NOBLES = read_table("nobles.csv")  # id -> points, cost (the bonuses it requires)


def bonuses(seat):
    """Count a seat's bonuses by colour, from its bought cards alone."""
    count = [0, 0, 0, 0, 0]
    for card in seat["cards"]:
        count[CARDS[card]["bonus"]] += 1
    return count


def prestige_of(seat):
    """Sum a seat's prestige, from bought cards and nobles."""
    total = 0
    for card in seat["cards"]:
        total += CARDS[card]["points"]
    for noble in seat["nobles"]:
        total += NOBLES[noble]["points"]
    return total


def due_for(seat, card):
    """Say what a seat owes for a card in each colour: cost less bonuses, never below 0."""
    have = bonuses(seat)
    cost = CARDS[card]["cost"]
    return [max(0, cost[colour] - have[colour]) for colour in GEMS]


def shortfall(due, tokens):
    """Say how many tokens of what is due cannot be paid in their own colour, over all colours."""
    missing = 0
    for colour in GEMS:
        if due[colour] > tokens[colour]:
            missing += due[colour] - tokens[colour]
    return missing


def qualifying_places(nobles, seat):
    """List the places in the row of nobles whose requirement a seat's bonuses meet."""
    have = bonuses(seat)
    places = []
    for place, noble in enumerate(nobles):
        if noble is not None and all(have[colour] >= NOBLES[noble]["cost"][colour] for colour in GEMS):
            places.append(place)
    return places


# --------------------------------------------------------------------------------------------------------------- a game


class Game:
    """One game, from any lawful position to its end."""

    # ---- set-up

    @classmethod
    def new(cls, players, rules, board, nobles):
        """Open a game with the given board (3 rows of 4 card ids) and row of noble ids."""
        options = resolve_rules(rules, players)
        decks = []
        for level in LEVELS:
            decks.append([c for c in range(len(CARDS)) if CARDS[c]["level"] == level and c not in board[level]])
        position = {
            "players": players,
            "rules": rules,
            "to_move": 0,
            "phase": "main",
            "turn": 0,
            "passes": 0,
            "bank": [options["gem_tokens"]] * 5 + [options["gold_tokens"]],
            "board": board,
            "decks": decks,
            "nobles": nobles,
            "seats": [{"tokens": [0] * 6, "cards": [], "reserved": [], "nobles": []} for _ in range(players)],
        }
        return cls.from_position(position)

    @classmethod
    def from_position(cls, position):
        """Begin at a position, which must break no law."""
        check_position(position)
        game = cls.__new__(cls)
        game.players = position["players"]
        game.rules = copy.deepcopy(position["rules"])
        game.options = resolve_rules(game.rules, game.players)
        game.to_move = position["to_move"]
        game.phase = position["phase"]
        game.turn = position["turn"]
        game.passes = position.get("passes", 0)
        game.bank = list(position["bank"])
        game.board = [list(row) for row in position["board"]]
        game.decks = [list(deck) for deck in position["decks"]]
        game.nobles = list(position["nobles"])
        game.seats = [copy_seat(seat) for seat in position["seats"]]
        game.pending = copy_pending(position.get("pending"))
        return game

    def copy(self):
        """Copy the game, so that playing on one leaves the other as it is."""
        game = Game.__new__(Game)
        game.players = self.players
        game.rules = self.rules  # rules and options never change during a game
        game.options = self.options
        game.to_move = self.to_move
        game.phase = self.phase
        game.turn = self.turn
        game.passes = self.passes
        game.bank = list(self.bank)
        game.board = [list(row) for row in self.board]
        game.decks = [list(deck) for deck in self.decks]
        game.nobles = list(self.nobles)
        game.seats = [copy_seat(seat) for seat in self.seats]
        game.pending = copy_pending(self.pending)
        return game

    # ---- a turn: what is legal

    def legal_actions(self):
        """List the legal decisions by id, ascending; none when the game is over."""
        return [action for action in ACTIONS_OF_PHASE[self.phase] if self.is_legal(action)]

    def is_legal(self, action):
        """Say whether one decision is legal now."""
        decision = DECISIONS[action]
        return decision["phase"] == self.phase and decision["may"](self, *decision["what"])

    def may_take(self, colours):
        """Take one token of each of these different colours."""
        for colour in colours:
            if self.bank[colour] == 0:
                return False
        if len(colours) == 3:
            return True
        if self.options["take_fewer"] == "never":
            return False
        if self.options["take_fewer"] == "up_to":
            return True
        colours_left = len([colour for colour in GEMS if self.bank[colour] > 0])
        return len(colours) == colours_left  # when_scarce: one of each that is left, if fewer than three are

    def may_take_two(self, colour):
        """Take two tokens of one colour."""
        # The bank must also hold the two, which every allowed take_two_min (2 or more) implies.
        return self.bank[colour] >= self.options["take_two_min"]

    def may_reserve(self, level, slot):
        """Reserve a card of the board."""
        held = self.seats[self.to_move]["reserved"]
        return len(held) < self.options["reserve_limit"] and self.board[level][slot] is not None

    def may_reserve_from_deck(self, level):
        """Reserve the top of a deck."""
        held = self.seats[self.to_move]["reserved"]
        return len(held) < self.options["reserve_limit"] and len(self.decks[level]) > 0

    def may_buy(self, level, slot):
        """Buy a card of the board."""
        card = self.board[level][slot]
        return card is not None and self.can_afford(card)

    def may_buy_reserved(self, place):
        """Buy one of the mover's own reserved cards."""
        held = self.seats[self.to_move]["reserved"]
        return place < len(held) and self.can_afford(held[place]["card"])

    def can_afford(self, card):
        """Say whether the mover's tokens, gold for any colour, pay for a card."""
        seat = self.seats[self.to_move]
        return shortfall(due_for(seat, card), seat["tokens"]) <= seat["tokens"][GOLD]

    def may_pass(self):
        """Pass, only if nothing else is legal."""
        return not any(self.is_legal(action) for action in ACTIONS_OF_PHASE["main"] if action != PASS)

    def may_give_gold_for(self, colour):
        """Give one gold in place of one token of a colour, if the whole can still be paid."""
        gold_for = list(self.pending["gold_for"])
        gold_for[colour] += 1
        return can_finish(self.seats[self.to_move], self.pending["card"], gold_for)

    def may_pay(self):
        """Pay the rest in coloured tokens alone."""
        seat = self.seats[self.to_move]
        return shortfall(self.rest_due(), seat["tokens"]) == 0

    def rest_due(self):
        """Say what is due for the pending card in each colour once the gold given for it is taken off."""
        due = due_for(self.seats[self.to_move], self.pending["card"])
        return [due[colour] - self.pending["gold_for"][colour] for colour in GEMS]

    def may_return(self, colour):
        """Return one token of any colour held."""
        return self.seats[self.to_move]["tokens"][colour] > 0

    def may_choose_noble(self, place):
        """Choose one of the nobles that qualify."""
        return place in qualifying_places(self.nobles, self.seats[self.to_move])

    def chance_outcomes(self, action):
        """List the cards that may come up with a legal decision, ascending; none if nothing is dealt."""
        self.refuse_illegal(action)
        level = DECISIONS[action]["deals_from"]
        return [] if level is None else list(self.decks[level])

    def refuse_illegal(self, action):
        """Raise ValueError unless an id is a decision that is legal now."""
        if type(action) is not int or not 0 <= action < len(DECISIONS):
            raise ValueError(f"an action is an integer from 0 to {len(DECISIONS) - 1}, not {action!r}")
        if not self.is_legal(action):
            raise ValueError(f"{ACTION_NAMES[action]!r} is not legal in phase {self.phase} of turn {self.turn}")

    # ---- a turn: what happens

    def apply(self, action, deal=None):
        """Make one legal decision; `deal` is the card that comes up, given exactly if one does."""
        outcomes = self.chance_outcomes(action)
        if outcomes and (type(deal) is not int or deal not in outcomes):
            raise ValueError(f"{ACTION_NAMES[action]!r} deals a card of {outcomes}, not {deal!r}")
        if not outcomes and deal is not None:
            raise ValueError(f"{ACTION_NAMES[action]!r} deals no card, but {deal!r} was given")
        decision = DECISIONS[action]
        if self.phase == "main":
            self.passes = self.passes + 1 if action == PASS else 0
        if decision["deals_from"] is None:
            decision["do"](self, *decision["what"])
        else:
            decision["do"](self, *decision["what"], deal)

    def move_token(self, colour, count):
        """Move tokens from the bank to the mover, or back if the count is negative."""
        self.bank[colour] -= count
        self.seats[self.to_move]["tokens"][colour] += count

    def take(self, colours):
        """Take one token of each of these colours."""
        for colour in colours:
            self.move_token(colour, 1)
        self.after_main_decision()

    def take_two(self, colour):
        """Take two tokens of one colour."""
        self.move_token(colour, 2)
        self.after_main_decision()

    def reserve(self, level, slot, deal):
        """Put a card of the board into the hand, face up, with one gold if the bank has one."""
        self.add_reserved(self.board[level][slot], hidden=False)
        self.refill(level, slot, deal)
        self.after_main_decision()

    def reserve_from_deck(self, level, deal):
        """Put the top of a deck into the hand, unseen by the others, with one gold if the bank has one."""
        self.decks[level].remove(deal)
        self.add_reserved(deal, hidden=True)
        self.after_main_decision()

    def add_reserved(self, card, hidden):
        """Hold one more reserved card and take the gold that comes with it."""
        self.seats[self.to_move]["reserved"].append({"card": card, "hidden": hidden})
        if self.bank[GOLD] > 0:
            self.move_token(GOLD, 1)

    def refill(self, level, slot, deal):
        """Fill a slot with the card that comes up, or leave it empty over an empty deck."""
        if deal is not None:
            self.decks[level].remove(deal)
        self.board[level][slot] = deal

    def buy(self, level, slot, deal):
        """Buy a card of the board, whose slot is refilled at once."""
        card = self.board[level][slot]
        self.refill(level, slot, deal)
        self.begin_payment(card)

    def buy_reserved(self, place):
        """Buy one of the mover's reserved cards; the later ones move up."""
        held = self.seats[self.to_move]["reserved"].pop(place)
        self.begin_payment(held["card"])

    def do_pass(self):
        """Do nothing, and come to the turn's end as after any other main decision."""
        self.after_main_decision()

    def begin_payment(self, card):
        """Open phase pay if there is a choice of payment, or else pay with as little gold as possible."""
        seat = self.seats[self.to_move]
        due = due_for(seat, card)
        missing = shortfall(due, seat["tokens"])
        most_gold = min(seat["tokens"][GOLD], sum(due))
        if self.options["payment"] == "choice" and most_gold > missing:
            self.pending = {"card": card, "gold_for": [0, 0, 0, 0, 0]}
            self.phase = "pay"
            return
        gold_for = [max(0, due[colour] - seat["tokens"][colour]) for colour in GEMS]
        self.pending = {"card": card, "gold_for": gold_for}
        self.finish_payment()

    def give_gold_for(self, colour):
        """Note one gold in place of one token of a colour; nothing moves before the payment is finished."""
        self.pending["gold_for"][colour] += 1

    def finish_payment(self):
        """Move the tokens of a pending payment to the bank and the card to the seat's bought ones."""
        seat = self.seats[self.to_move]
        rest = self.rest_due()
        for colour in GEMS:
            self.move_token(colour, -rest[colour])
        self.move_token(GOLD, -sum(self.pending["gold_for"]))
        seat["cards"].append(self.pending["card"])
        seat["cards"].sort()
        self.pending = None
        self.after_main_decision()

    def after_main_decision(self):
        """Ask for a return while the mover holds too many tokens, then let a noble visit and end the turn."""
        seat = self.seats[self.to_move]
        if sum(seat["tokens"]) > self.options["token_limit"]:
            self.phase = "return"
            return
        places = qualifying_places(self.nobles, seat)
        if len(places) > 1:
            self.phase = "noble"
            return
        if len(places) == 1:
            self.visit(places[0])
        self.end_turn()

    def return_token(self, colour):
        """Return one token to the bank, and the next one if there are still too many."""
        self.move_token(colour, -1)
        self.after_main_decision()

    def choose_noble(self, place):
        """Let the chosen noble visit; the others wait for a later turn's end."""
        self.visit(place)
        self.end_turn()

    def visit(self, place):
        """Give the mover the noble at a place of the row, which stays empty."""
        seat = self.seats[self.to_move]
        seat["nobles"].append(self.nobles[place])
        seat["nobles"].sort()
        self.nobles[place] = None

    def end_turn(self):
        """Pass the move on, then see whether the game is over."""
        self.turn += 1
        self.to_move = (self.to_move + 1) % self.players
        over = has_ended(self.players, self.options, self.to_move, self.passes, self.seats)
        self.phase = "over" if over else "main"

    # ---- the end

    @property
    def is_over(self):
        """Say whether the game is over."""
        return self.phase == "over"

    @property
    def deadlocked(self):
        """Say whether the game ended because every seat in succession passed."""
        return self.is_over and self.passes >= self.players

    def prestige(self, seat):
        """Sum the prestige of one seat."""
        return prestige_of(self.seats[seat])

    def ranks(self):
        """Rank the seats from 0 as they stand now, equal ones alike and without gaps."""
        standings = []
        for seat in self.seats:
            standing = [-prestige_of(seat)]
            if self.options["tie_break"] == "fewest_cards":
                standing.append(len(seat["cards"]))
            standings.append(standing)
        different = []
        for standing in sorted(standings):
            if standing not in different:
                different.append(standing)
        return [different.index(standing) for standing in standings]

    def winners(self):
        """List the seats that share the win; none before the game is over."""
        if not self.is_over:
            return []
        ranks = self.ranks()
        return [seat for seat in range(self.players) if ranks[seat] == 0]

    # ---- position

    def position(self):
        """Write the game down in the format of positions."""
        position = {
            "players": self.players,
            "rules": copy.deepcopy(self.rules),
            "to_move": self.to_move,
            "phase": self.phase,
            "turn": self.turn,
            "passes": self.passes,
            "bank": list(self.bank),
            "board": [list(row) for row in self.board],
            "decks": [list(deck) for deck in self.decks],
            "nobles": list(self.nobles),
            "seats": [copy_seat(seat) for seat in self.seats],
        }
        if self.pending is not None:
            position["pending"] = copy_pending(self.pending)
        return position


def can_finish(seat, card, gold_for):
    """Say whether a payment that gives this gold can be finished with the tokens the seat holds."""
    due = due_for(seat, card)
    for colour in GEMS:
        if gold_for[colour] > due[colour]:
            return False  # a gold stands in place of a token that is due
    rest = [due[colour] - gold_for[colour] for colour in GEMS]
    return shortfall(rest, seat["tokens"]) <= seat["tokens"][GOLD] - sum(gold_for)


def has_ended(players, options, to_move, passes, seats):
    """Say whether the game is over at the end of a turn, when the move has passed on to `to_move`."""
    if passes >= players:
        return True
    reached = any(prestige_of(seat) >= options["target_prestige"] for seat in seats)
    if options["end"] == "finish_round":
        return reached and to_move == 0
    return reached


def copy_seat(seat):
    """Copy one seat."""
    return {
        "tokens": list(seat["tokens"]),
        "cards": list(seat["cards"]),
        "reserved": [{"card": held["card"], "hidden": held["hidden"]} for held in seat["reserved"]],
        "nobles": list(seat["nobles"]),
    }


def copy_pending(pending):
    """Copy a pending payment, or the lack of one."""
    if pending is None:
        return None
    return {"card": pending["card"], "gold_for": list(pending["gold_for"])}


# -------------------------------------------------------------------------------------------------------------- options

OFFICIAL = {
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
PRESETS = {
    "official": {},
    "spanish": {},
    "italian": {"take_two_min": 5},
    "portuguese": {"tie_break": "shared"},
    "basque": {"gold_tokens": [0, 0, 5], "tie_break": "shared"},
    "finnish": {"tie_break": "shared"},
}
RANGES = {
    "gem_tokens": (1, 7),
    "gold_tokens": (0, 7),
    "target_prestige": (1, 60),
    "token_limit": (3, 20),
    "reserve_limit": (0, 3),
    "take_two_min": (2, 7),
}
CHOICES = {
    "take_fewer": ["when_scarce", "never", "up_to"],
    "payment": ["coloured_first", "choice"],
    "tie_break": ["fewest_cards", "shared"],
    "end": ["finish_round", "immediate"],
}


def resolve_rules(rules, players):
    """Turn a preset's name or an object of options into all options, the tokens chosen for the number of players."""
    if type(players) is not int or players not in (2, 3, 4):
        raise ValueError(f"players is 2, 3 or 4, not {players!r}")
    if type(rules) is str:
        rules = {"preset": rules}
    if type(rules) is not dict:
        raise ValueError(f"rules is a preset's name or an object of options, not {rules!r}")
    preset = rules.get("preset", "official")
    if type(preset) is not str or preset not in PRESETS:
        raise ValueError(f"preset is one of {', '.join(PRESETS)}, not {preset!r}")
    options = {**OFFICIAL, **PRESETS[preset]}
    for name, value in rules.items():
        if name != "preset":
            check_option(name, value)
            options[name] = value
    options["gem_tokens"] = options["gem_tokens"][players - 2]
    options["gold_tokens"] = options["gold_tokens"][players - 2]
    return options


def check_option(name, value):
    """Raise ValueError unless an option is known and its value of the right type and in range."""
    if name not in OFFICIAL:
        raise ValueError(f"{name!r} is no option; the options are {', '.join(OFFICIAL)}")
    if name in CHOICES:
        if type(value) is not str or value not in CHOICES[name]:
            raise ValueError(f"{name} is one of {', '.join(CHOICES[name])}, not {value!r}")
        return
    low, high = RANGES[name]
    numbers = [value]
    if name in ("gem_tokens", "gold_tokens"):
        if type(value) is not list or len(value) != 3:
            raise ValueError(f"{name} is a list of three numbers, for 2, 3 and 4 seats, not {value!r}")
        numbers = value
    for number in numbers:
        if type(number) is not int or not low <= number <= high:
            raise ValueError(f"{name} is an integer from {low} to {high}, not {number!r}")


# ------------------------------------------------------------------------------------------------------------ decisions


PHASES = ["main", "pay", "return", "noble", "over"]


def list_decisions():
    """List the 78 decisions by id: name, phase, what says if it is legal, what makes it, with what, deck dealt from."""
    decisions = []

    def add(name, phase, may, do, what, deals_from=None):
        decisions.append({"name": name, "phase": phase, "may": may, "do": do, "what": what, "deals_from": deals_from})

    for count in (3, 2, 1):
        for colours in itertools.combinations(GEMS, count):
            letters = "".join(COLOURS[colour] for colour in colours)
            add(f"take {letters}", "main", Game.may_take, Game.take, [colours])
    for colour in GEMS:
        letters = COLOURS[colour] * 2
        add(f"take {letters}", "main", Game.may_take_two, Game.take_two, [colour])
    for level in LEVELS:
        for slot in SLOTS:
            name = f"reserve {level + 1}.{slot + 1}"
            add(name, "main", Game.may_reserve, Game.reserve, [level, slot], deals_from=level)
    for level in LEVELS:
        name = f"reserve {level + 1}.deck"
        add(name, "main", Game.may_reserve_from_deck, Game.reserve_from_deck, [level], deals_from=level)
    for level in LEVELS:
        for slot in SLOTS:
            name = f"buy {level + 1}.{slot + 1}"
            add(name, "main", Game.may_buy, Game.buy, [level, slot], deals_from=level)
    for place in (0, 1, 2):
        add(f"buy reserved.{place + 1}", "main", Game.may_buy_reserved, Game.buy_reserved, [place])
    add("pass", "main", Game.may_pass, Game.do_pass, [])
    for colour in [*GEMS, GOLD]:
        add(f"return {COLOURS[colour]}", "return", Game.may_return, Game.return_token, [colour])
    for place in (0, 1, 2, 3, 4):
        add(f"noble {place + 1}", "noble", Game.may_choose_noble, Game.choose_noble, [place])
    for colour in GEMS:
        add(f"gold for {COLOURS[colour]}", "pay", Game.may_give_gold_for, Game.give_gold_for, [colour])
    add("pay", "pay", Game.may_pay, Game.finish_payment, [])
    return decisions


DECISIONS = list_decisions()
ACTION_NAMES = [decision["name"] for decision in DECISIONS]
PASS = ACTION_NAMES.index("pass")
ACTIONS_OF_PHASE = {
    phase: [action for action, decision in enumerate(DECISIONS) if decision["phase"] == phase] for phase in PHASES
}


# ------------------------------------------------------------------------------------------------------------- position


class PositionLawError(ValueError):
    """A position breaks a law, which the message names."""


def check_position(position):
    """Raise PositionLawError, naming the law and the place, unless a position breaks none."""
    check_keys_and_types(position)
    check_cards(position)
    check_nobles(position)
    check_tokens(position)
    check_hands(position)
    check_slots(position)
    check_turn(position)
    check_passes(position)
    check_token_limit(position)
    check_noble_phase(position)
    check_pending(position)
    check_end(position)


def require(condition, law, where):
    """Raise PositionLawError with the law and the place unless a condition holds."""
    if not condition:
        raise PositionLawError(f"{law}: {where}")


def check_keys_and_types(position):
    """Require the known keys, with values of their types and of the right length, order and range."""
    law = "known keys and types"
    require(type(position) is dict, law, "a position is an object")
    phase = position.get("phase")
    require(type(phase) is str and phase in PHASES, law, f"phase is one of {', '.join(PHASES)}, not {phase!r}")
    keys = ["players", "rules", "to_move", "phase", "turn", "bank", "board", "decks", "nobles", "seats"]
    keys += ["pending"] if phase == "pay" else []
    check_keys(position, keys, ["passes"], "the position", law)

    players = position["players"]
    require(type(players) is int and players in (2, 3, 4), law, f"players is 2, 3 or 4, not {players!r}")
    try:
        resolve_rules(position["rules"], players)
    except ValueError as error:
        raise PositionLawError(f"{law}: rules: {error}") from error
    check_number(position["to_move"], 0, players - 1, "to_move", law)
    check_number(position["turn"], 0, None, "turn", law)
    check_number(position.get("passes", 0), 0, None, "passes", law)
    check_numbers(position["bank"], 6, 0, None, "bank", law)

    check_list(position["board"], 3, "board", law)
    for level in LEVELS:
        check_list(position["board"][level], 4, f"board[{level}]", law)
        for slot in SLOTS:
            card = position["board"][level][slot]
            if card is not None:
                check_card_of_level(card, level, f"board[{level}][{slot}]", law)
    check_list(position["decks"], 3, "decks", law)
    for level in LEVELS:
        check_list(position["decks"][level], None, f"decks[{level}]", law)
        for card in position["decks"][level]:
            check_card_of_level(card, level, f"decks[{level}]", law)
        check_ascending(position["decks"][level], f"decks[{level}]", law)

    check_list(position["nobles"], players + 1, "nobles", law)
    for place, noble in enumerate(position["nobles"]):
        if noble is not None:
            check_number(noble, 0, len(NOBLES) - 1, f"the noble id nobles[{place}]", law)

    check_list(position["seats"], players, "seats", law)
    for number, seat in enumerate(position["seats"]):
        check_seat(seat, f"seats[{number}]", law)
    if phase == "pay":
        pending = position["pending"]
        require(type(pending) is dict, law, f"pending is an object, not {pending!r}")
        check_keys(pending, ["card", "gold_for"], [], "pending", law)
        check_number(pending["card"], 0, len(CARDS) - 1, "the card id pending.card", law)
        check_numbers(pending["gold_for"], 5, 0, None, "pending.gold_for", law)


def check_seat(seat, where, law):
    """Require the keys and types of one seat."""
    require(type(seat) is dict, law, f"{where} is an object, not {seat!r}")
    check_keys(seat, ["tokens", "cards", "reserved", "nobles"], [], where, law)
    check_numbers(seat["tokens"], 6, 0, None, f"{where}.tokens", law)
    check_numbers(seat["cards"], None, 0, len(CARDS) - 1, f"{where}.cards", law)
    check_ascending(seat["cards"], f"{where}.cards", law)
    check_numbers(seat["nobles"], None, 0, len(NOBLES) - 1, f"{where}.nobles", law)
    check_ascending(seat["nobles"], f"{where}.nobles", law)
    check_list(seat["reserved"], None, f"{where}.reserved", law)
    for place, held in enumerate(seat["reserved"]):
        here = f"{where}.reserved[{place}]"
        require(type(held) is dict, law, f"{here} is an object, not {held!r}")
        check_keys(held, ["card", "hidden"], [], here, law)
        check_number(held["card"], 0, len(CARDS) - 1, f"the card id {here}.card", law)
        require(type(held["hidden"]) is bool, law, f"{here}.hidden is true or false, not {held['hidden']!r}")


def check_keys(value, needed, optional, where, law):
    """Require every needed key and no unknown one."""
    for key in needed:
        require(key in value, law, f"{where} lacks the key {key!r}")
    for key in value:
        require(key in needed or key in optional, law, f"{where} has the unknown key {key!r}")


def check_list(value, length, where, law):
    """Require a list, of a length if one is given."""
    require(type(value) is list, law, f"{where} is a list, not {value!r}")
    require(length is None or len(value) == length, law, f"{where} has {len(value)} entries, not {length}")


def check_number(value, low, high, where, law):
    """Require an integer in range; true and false are none, nor is 1.0."""
    require(type(value) is int, law, f"{where} is an integer, not {value!r}")
    require(value >= low, law, f"{where} is at least {low}, not {value}")
    require(high is None or value <= high, law, f"{where} is at most {high}, not {value}")


def check_numbers(value, length, low, high, where, law):
    """Require a list of integers in range."""
    check_list(value, length, where, law)
    for place, number in enumerate(value):
        check_number(number, low, high, f"{where}[{place}]", law)


def check_ascending(ids, where, law):
    """Require ids in ascending order; the same id twice is a matter of places, not of order."""
    require(ids == sorted(ids), law, f"{where} is ascending")


def check_card_of_level(card, level, where, law):
    """Require a card id of the level it lies at."""
    check_number(card, 0, len(CARDS) - 1, f"the card id {where}", law)
    require(CARDS[card]["level"] == level, law, f"{where} holds card {card}, which is not of level {level + 1}")


def check_cards(position):
    """Require every card in exactly one place."""
    law = "every card in exactly one place"
    places = []
    for level in LEVELS:
        places += [card for card in position["board"][level] if card is not None]
        places += position["decks"][level]
    for seat in position["seats"]:
        places += seat["cards"]
        places += [held["card"] for held in seat["reserved"]]
    if position["phase"] == "pay":
        places.append(position["pending"]["card"])
    for card in range(len(CARDS)):
        require(places.count(card) == 1, law, f"card {card} is in {places.count(card)} places")


def check_nobles(position):
    """Require every noble in at most one place and players + 1 in all."""
    law = "every noble in at most one place and players + 1 in all"
    places = [noble for noble in position["nobles"] if noble is not None]
    for seat in position["seats"]:
        places += seat["nobles"]
    for noble in range(len(NOBLES)):
        require(places.count(noble) <= 1, law, f"noble {noble} is in {places.count(noble)} places")
    require(len(places) == position["players"] + 1, law, f"there are {len(places)} nobles")


def check_tokens(position):
    """Require tokens of each colour to sum to the set-up's."""
    law = "tokens of each colour sum to the set-up's"
    options = resolve_rules(position["rules"], position["players"])
    for colour in [*GEMS, GOLD]:
        right = options["gold_tokens"] if colour == GOLD else options["gem_tokens"]
        found = position["bank"][colour] + sum(seat["tokens"][colour] for seat in position["seats"])
        require(found == right, law, f"bank and seats hold {found} tokens of colour {COLOURS[colour]}, not {right}")


def check_hands(position):
    """Require no hand above reserve_limit."""
    limit = resolve_rules(position["rules"], position["players"])["reserve_limit"]
    for number, seat in enumerate(position["seats"]):
        held = len(seat["reserved"])
        require(held <= limit, "no hand above reserve_limit", f"seats[{number}].reserved has {held} cards, not {limit}")


def check_slots(position):
    """Require an empty slot only over an empty deck."""
    for level in LEVELS:
        for slot in SLOTS:
            filled = position["board"][level][slot] is not None or not position["decks"][level]
            where = f"board[{level}][{slot}] is empty and decks[{level}] is not"
            require(filled, "an empty slot only over an empty deck", where)


def check_turn(position):
    """Require turn to equal to_move modulo the players."""
    right = position["turn"] % position["players"]
    where = f"turn {position['turn']} belongs to seat {right}, but to_move is {position['to_move']}"
    require(position["to_move"] == right, "turn equals to_move modulo the players", where)


def check_passes(position):
    """Require passes below the players, save when over or in phase noble."""
    passes = position.get("passes", 0)
    lawful = passes < position["players"] or position["phase"] in ("over", "noble")
    require(lawful, "passes below the players, save when over or in phase noble", f"passes is {passes}")


def check_token_limit(position):
    """Require every seat within token_limit in main and noble, and the mover alone above it in return."""
    limit = resolve_rules(position["rules"], position["players"])["token_limit"]
    for number, seat in enumerate(position["seats"]):
        held = sum(seat["tokens"])
        where = f"seats[{number}] holds {held} tokens in phase {position['phase']} with a limit of {limit}"
        if position["phase"] in ("main", "noble"):
            require(held <= limit, "in main and noble every seat within token_limit", where)
        if position["phase"] == "return":
            lawful = held > limit if number == position["to_move"] else held <= limit
            require(lawful, "in return the mover above token_limit and nobody else", where)


def check_noble_phase(position):
    """Require at least two nobles to qualify in phase noble."""
    if position["phase"] == "noble":
        places = qualifying_places(position["nobles"], position["seats"][position["to_move"]])
        where = f"{len(places)} qualify for seats[{position['to_move']}]"
        require(len(places) >= 2, "in noble at least two nobles qualify", where)


def check_pending(position):
    """Require phase pay only under choice, with a pending payment that can be finished."""
    if position["phase"] == "pay":
        law = "pay only under choice, with a pending payment that can be finished"
        payment = resolve_rules(position["rules"], position["players"])["payment"]
        require(payment == "choice", law, f"payment is {payment}")
        seat = position["seats"][position["to_move"]]
        pending = position["pending"]
        where = f"pending {pending} cannot be finished with tokens {seat['tokens']}"
        require(can_finish(seat, pending["card"], pending["gold_for"]), law, where)


def check_end(position):
    """Require over exactly if the end conditions hold, which the middle of a turn leaves open."""
    law = "over exactly if the end conditions hold"
    players = position["players"]
    options = resolve_rules(position["rules"], players)
    ended = has_ended(players, options, position["to_move"], position.get("passes", 0), position["seats"])
    if position["phase"] == "over":
        require(ended, law, "phase is over, but no turn ended with the target reached or with every seat having passed")
    if position["phase"] == "main":
        require(
            not ended, law, "phase is main, but the last turn ended with the target reached or every seat having passed"
        )


# ---------------------------------------------------------------------------------------------------------------- perft


def perft(game, depth):
    """Count the sequences of `depth` decisions, every card that can be dealt apart."""
    if depth == 0:
        return 1
    total = 0
    for action in game.legal_actions():
        outcomes = game.chance_outcomes(action) or [None]
        if depth == 1:
            total += len(outcomes)  # the last decision need not be made to be counted
            continue
        for deal in outcomes:
            child = game.copy()
            child.apply(action, deal)
            total += perft(child, depth - 1)
    return total
