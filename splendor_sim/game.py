"""Game: one game, for people and programs that play decision by decision; and perft."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from splendor_sim import batch
from splendor_sim import position as positions
from splendor_sim.core import arrays, gems
from splendor_sim.core import perft as counting
from splendor_sim.core.actions import ACTION_NAMES, IllegalActionError, check_action
from splendor_sim.core.cards import CARD_BONUS, CARD_COST, CARD_PRESTIGE, LEVEL_START, NOBLE_COST
from splendor_sim.core.engine import KEYED, is_deadlocked, standing, winners
from splendor_sim.core.state import OVER, PHASE_NAMES, STATE_DTYPE

# The decisions of each byte of a mask of decisions: [10][256] lists of ids, ascending.
_IDS = [[positions.members(octet, 8 * place) for octet in range(256)] for place in range(10)]
_MASK_BYTES = len(_IDS)
_BLOCK = 1_000_000  # positions between two looks at the keyboard, in perft
_MAX_DEPTH = 100


class DepthError(ValueError):
    """A depth of perft that is no whole number from 0 to 100."""


class Game:
    """One game of Splendor. The same seed gives the same deal as row 0 of `deal` and game 0 of a run.

    Raises RulesError or SeedError for players, rules or a seed that are out of range.
    """

    __slots__ = ("_rules", "_states")

    def __init__(self, players: int = 2, seed: int = 7, rules: Any = "official") -> None:
        self._states = batch.deal(1, players, seed, rules)
        self._rules = positions.json_rules(rules)

    @classmethod
    def from_position(cls, position: Any, seed: int = 0) -> "Game":
        """Return the game that stands at a position; the cards to come follow from the seed.

        Raises PositionError with the law that the position breaks, SeedError for a wrong seed.
        """
        return cls._of(*positions.from_position(position, seed))

    @classmethod
    def _of(cls, states: NDArray[Any], rules: Any) -> "Game":
        game = cls.__new__(cls)
        game._states = states
        game._rules = rules
        return game

    # --- Playing -----------------------------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """Return the ids of the legal decisions, ascending; [] when the game is over."""
        low, high = arrays.legal_words(self._states)
        actions: list[int] = []
        for ids, octet in zip(_IDS, (int(low) | int(high) << 64).to_bytes(_MASK_BYTES, "little"), strict=True):
            if octet:
                actions += ids[octet]
        return actions

    def chance_outcomes(self, action: int | str) -> list[int]:
        """Return the ids of the cards that may come up with a decision (id or name), ascending; [] if none is dealt.

        Raises IllegalActionError if the decision is not legal.
        """
        number = check_action(action)
        level = int(arrays.dealing_level(self._states, number))
        if level < -1:
            self._refuse(number)
        return [] if level < 0 else positions.members(int(self._states["deck"][0, level]), int(LEVEL_START[level]))

    def apply(self, action: int | str, deal: int | None = None) -> None:
        """Make a decision (id or name); `deal` is the card that comes up, else the game's key says which does.

        Raises IllegalActionError if the decision is not legal or that card cannot come up; nothing is changed then.
        """
        number = check_action(action)
        given = KEYED
        if deal is not None:
            if isinstance(deal, bool | np.bool_) or not isinstance(deal, int | np.integer):
                raise IllegalActionError(f"deal is the id of a card or None, not {deal!r}")
            given = min(max(int(deal), KEYED - 1), 2**31)  # KEYED itself is no card
            given = KEYED - 1 if given == KEYED else given
        answer = arrays.play(self._states, number, given)
        if answer == arrays.NOT_LEGAL:
            self._refuse(number)
        if answer == arrays.NO_SUCH_DEAL:
            outcomes = self.chance_outcomes(number)
            right = f"one of the cards {outcomes}" if outcomes else "no card"
            raise IllegalActionError(f"{ACTION_NAMES[number]!r} deals {right}, not {deal!r}")

    def _refuse(self, action: int) -> None:
        if self.is_over:
            raise IllegalActionError(f"{ACTION_NAMES[action]!r} is not legal: the game is over")
        names = ", ".join(repr(ACTION_NAMES[each]) for each in self.legal_actions())
        raise IllegalActionError(
            f"{ACTION_NAMES[action]!r} is not legal in phase {self.phase} for seat {self.seat_to_move}; legal: {names}"
        )

    # --- How it stands -----------------------------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """The number of seats."""
        return int(self._states["players"][0])

    @property
    def rules(self) -> Any:
        """The rules value as it was given: a preset's name or an object of options."""
        return positions.json_rules(self._rules)

    @property
    def state(self) -> NDArray[Any]:
        """The state itself, STATE_DTYPE[1]: not a copy, so what is changed there is changed here."""
        return self._states

    @property
    def turn(self) -> int:
        """The number of finished turns, of all seats together."""
        return int(self._states["turn"][0])

    @property
    def phase(self) -> str:
        """What the next decision is about: main, pay, return, noble; or over."""
        return PHASE_NAMES[self._states["phase"][0]]

    @property
    def seat_to_move(self) -> int:
        """The seat that decides next; after the end, the one that would."""
        return int(self._states["to_move"][0])

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._states["phase"][0] == OVER)

    @property
    def is_deadlocked(self) -> bool:
        """Whether the game has ended because every seat in succession passed."""
        return self.is_over and bool(is_deadlocked(self._states[0]))

    @property
    def prestige(self) -> list[int]:
        """The prestige of each seat."""
        counts: list[int] = self._states["prestige"][0, : self.players].tolist()
        return counts

    def winners(self) -> list[int]:
        """Return the seats that win, or share the win; [] before the end."""
        return positions.members(int(winners(self._states[0]))) if self.is_over else []

    def ranks(self) -> list[int]:
        """Return the rank of each seat as it stands: 0 for the best, equal seats alike, and no rank left out."""
        standings = [int(standing(self._states[0], seat)) for seat in range(self.players)]
        order = sorted(set(standings), reverse=True)
        return [order.index(each) for each in standings]

    def position(self) -> dict[str, Any]:
        """Return the position as plain JSON types; it says nothing of the order of hidden cards."""
        return positions.to_position(self._states, self._rules)

    # --- Copies and views --------------------------------------------------------------------------------------------

    def copy(self) -> "Game":
        """Return a game of its own with the same state, cards to come included."""
        return self._of(batch.copied(self._states), self._rules)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Game":
        return self.copy()

    def determinize(self, seat: int, seed: int) -> "Game":
        """Return a copy in which everything that a seat does not know is drawn anew from the seed.

        Raises StateError if the seat is none of this game, SeedError for a wrong seed.
        """
        return self._of(batch.determinize(self._states, _one_seat(seat), seed), self._rules)

    def observe(self, seat: int | None = None) -> NDArray[np.uint8]:
        """Return what a seat (None for the seat to move) sees: uint8[OBSERVATION_SIZE], laid out as OBSERVATION_DTYPE.

        Raises StateError if the seat is none of this game.
        """
        seen: NDArray[np.uint8] = batch.observe(self._states, None if seat is None else _one_seat(seat))[0]
        return seen

    # --- For the eye -------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.is_over:
            now = "over, won by seat " + " and ".join(map(str, self.winners()))
        else:
            now = f"seat {self.seat_to_move} to move, phase {self.phase}"
        return f"<Game: {self.players} players, turn {self.turn}, {now}, prestige {self.prestige}>"

    def __str__(self) -> str:
        return "\n".join(_table(self.position(), repr(self)[1:-1]))


def perft(game: Game, depth: int) -> int:
    """Return the number of sequences of `depth` decisions, every card that can be dealt counted apart.

    A game that is over earlier counts 0; depth 0 counts 1. Raises DepthError unless depth is a whole number 0-100.
    """
    whole = isinstance(depth, int | np.integer) and not isinstance(depth, bool | np.bool_)
    if not whole or not 0 <= depth <= _MAX_DEPTH:
        raise DepthError(f"depth must be a whole number from 0 to {_MAX_DEPTH}, not {depth!r}")
    if depth <= 1:
        return int(counting.number_at_root(game.state)) if depth else 1
    stack = np.zeros(depth, STATE_DTYPE)
    stack[0] = game.state[0]
    low, high, deals = (np.zeros(depth, np.uint64) for _ in range(3))
    dealing = np.zeros(depth, np.int64)
    low[0], high[0] = arrays.legal_words(game.state)
    level, number = 0, 0
    while level >= 0:
        counted, level = counting.continue_perft(stack, low, high, dealing, deals, level, _BLOCK)
        number += int(counted)
    return number


def _one_seat(seat: Any) -> int:
    if isinstance(seat, bool | np.bool_) or not isinstance(seat, int | np.integer):
        raise batch.StateError(f"seat must be a whole number, not {seat!r}")
    return int(seat)


def _table(position: dict[str, Any], title: str) -> list[str]:
    """The lines of a position for the eye: dearest cards on top, as they lie on a table."""
    lines = [title, "bank    " + _gems(position["bank"])]
    for place, tile in enumerate(position["nobles"], 1):
        lines.append(f"noble {place} " + ("-" if tile is None else _gems(NOBLE_COST[tile])))
    for level in (2, 1, 0):
        for column, card in enumerate(position["board"][level], 1):
            lines.append(f"{level + 1}.{column}     {_card(card)}")
        lines.append(f"{level + 1}.deck  {len(position['decks'][level])} cards")
    for number, seat in enumerate(position["seats"]):
        bonuses: Any = np.bincount(CARD_BONUS[seat["cards"]], minlength=5) if seat["cards"] else ()
        held = f"tokens {_gems(seat['tokens'])}; bonuses {_gems(bonuses)}; {len(seat['nobles'])} nobles"
        lines.append(f"seat {number}  {held}")
        for place, reserved in enumerate(seat["reserved"], 1):
            kind = "from the deck" if reserved["hidden"] else "from the board"
            lines.append(f"  reserved.{place} {_card(reserved['card'])}, {kind}")
    if "pending" in position:
        pending = position["pending"]
        lines.append(f"paying for {_card(pending['card'])}, gold for {_gems(pending['gold_for'])}")
    return lines


def _card(card: int | None) -> str:
    if card is None:
        return "-"
    return f"{gems.COLOURS[CARD_BONUS[card]]} {CARD_PRESTIGE[card]} for {_gems(CARD_COST[card])} (card {card})"


def _gems(counts: Any) -> str:
    return " ".join(f"{count}{colour}" for count, colour in zip(counts, gems.COLOURS) if count) or "none"
