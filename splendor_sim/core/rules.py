"""Rules: the options and presets of the game, with their checks."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from splendor_sim.core.actions import NEVER, UP_TO, WHEN_SCARCE

TAKE_FEWER = {"when_scarce": WHEN_SCARCE, "never": NEVER, "up_to": UP_TO}
PAYMENT = {"coloured_first": 0, "choice": 1}
TIE_BREAK = {"fewest_cards": 0, "shared": 1}
END = {"finish_round": 0, "immediate": 1}

_CHOICES = {"take_fewer": TAKE_FEWER, "payment": PAYMENT, "tie_break": TIE_BREAK, "end": END}
_RANGES = {
    "gem_tokens": (1, 7),
    "gold_tokens": (0, 7),
    "target_prestige": (1, 60),
    "token_limit": (3, 20),
    "reserve_limit": (0, 3),
    "take_two_min": (2, 7),
}
PRESETS: dict[str, dict[str, Any]] = {
    "official": {},
    "spanish": {},
    "italian": {"take_two_min": 5},
    "portuguese": {"tie_break": "shared"},
    "basque": {"gold_tokens": (0, 0, 5), "tie_break": "shared"},
    "finnish": {"tie_break": "shared"},
}
PLAYERS = (2, 3, 4)


class RulesError(ValueError):
    """Rules with an unknown option, a wrong type or a value out of range, or a number of seats that is not 2-4."""


@dataclass(frozen=True)
class Rules:
    """The options of one game; the defaults are the official rules.

    `gem_tokens` (of each colour) and `gold_tokens` are for 2, 3 and 4 seats.
    """

    gem_tokens: tuple[int, int, int] = (4, 5, 7)
    gold_tokens: tuple[int, int, int] = (5, 5, 5)
    target_prestige: int = 15
    token_limit: int = 10
    reserve_limit: int = 3
    take_two_min: int = 4
    take_fewer: str = "when_scarce"
    payment: str = "coloured_first"
    tie_break: str = "fewest_cards"
    end: str = "finish_round"

    def __post_init__(self) -> None:
        for field in fields(self):
            checked = _check_option(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, checked)

    @classmethod
    def of(cls, rules: Any) -> "Rules":
        """Return the Rules that a rules value means: a preset's name, an object of options over "preset", or Rules.

        Raises RulesError with the name of what is unknown, of a wrong type or out of range.
        """
        if isinstance(rules, Rules):
            return rules
        if isinstance(rules, str):
            return cls(**_preset(rules))
        if not isinstance(rules, dict):
            raise RulesError(f"rules are a preset's name or an object of options, not {rules!r}")
        options = dict(rules)
        base = options.pop("preset", "official")
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise RulesError(f"unknown rule option {name!r}; the options are preset, {', '.join(known)}")
        return cls(**{**_preset(base), **options})

    def to_dict(self) -> dict[str, Any]:
        """Return every option by name, in plain JSON types."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def for_players(self, players: int) -> dict[str, int]:
        """Return the options as the small integers that a state holds, for this number of seats."""
        place = check_players(players) - 2
        return {
            "gem_tokens": self.gem_tokens[place],
            "gold_tokens": self.gold_tokens[place],
            "target_prestige": self.target_prestige,
            "token_limit": self.token_limit,
            "reserve_limit": self.reserve_limit,
            "take_two_min": self.take_two_min,
            "take_fewer": TAKE_FEWER[self.take_fewer],
            "payment": PAYMENT[self.payment],
            "tie_break": TIE_BREAK[self.tie_break],
            "end": END[self.end],
        }

    @classmethod
    def from_players(cls, players: int, options: dict[str, int]) -> "Rules":
        """Return the Rules that these options come from; other numbers of seats have the official tokens."""
        values: dict[str, Any] = dict(options)
        for name, choices in _CHOICES.items():
            values[name] = next(choice for choice, number in choices.items() if number == options[name])
        for name in ("gem_tokens", "gold_tokens"):
            counts = list(getattr(cls(), name))
            counts[players - 2] = options[name]
            values[name] = counts
        return cls(**values)


def check_players(players: Any) -> int:
    """Return a number of seats as int; raise RulesError if it is not 2, 3 or 4."""
    if not _is_int(players) or players not in PLAYERS:
        raise RulesError(f"players must be 2, 3 or 4, not {players!r}")
    return int(players)


def _preset(name: Any) -> dict[str, Any]:
    if not isinstance(name, str) or name not in PRESETS:
        raise RulesError(f"unknown preset {name!r}; the presets are {', '.join(PRESETS)}")
    return PRESETS[name]


def _check_option(name: str, value: Any) -> Any:
    if name in _CHOICES:
        if not isinstance(value, str) or value not in _CHOICES[name]:
            raise RulesError(f"{name} must be {' or '.join(map(repr, _CHOICES[name]))}, not {value!r}")
        return value
    low, high = _RANGES[name]
    if name in ("gem_tokens", "gold_tokens"):
        right = isinstance(value, list | tuple) and len(value) == 3
        if not right or not all(_is_int(count) and low <= count <= high for count in value):
            raise RulesError(f"{name} must be three whole numbers from {low} to {high} (2, 3, 4 seats), not {value!r}")
        return tuple(int(count) for count in value)
    if not _is_int(value) or not low <= value <= high:
        raise RulesError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return int(value)


def _is_int(value: Any) -> bool:
    # Numpy's integers count too, without this module needing numpy.
    return not isinstance(value, bool) and hasattr(value, "__index__")
