"""Agents: what a spec such as `greedy`, `mcts:simulations=500` or `module:Class` means; without numpy or Numba."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class AgentError(ValueError):
    """An agent spec that names no agent, no option of it or no value, or not one spec a seat."""


@dataclass(frozen=True)
class Option:
    """An option of an agent: a line about it, its default, and what makes a value of its text or raises ValueError."""

    about: str
    default: Any
    read: Callable[[str], Any]


def _number(kind: Callable[[str], Any], low: float, high: float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            name = "whole number" if kind is int else "number"
            raise ValueError(f"a {name} from {low:,} to {high:,}")
        return value

    return read


def _one_of(*names: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if text not in names:
            raise ValueError(" or ".join(names))
        return text

    return read


MOST_SIMULATIONS = 2**24  # a simulation makes a node at most, and a tree numbers its nodes with 24 bits
LEAVES = ("evaluation", "playout")
POLICY_NAMES = ("random", "greedy", "guide", "heuristic")

_EPSILON = {"epsilon": Option("share of decisions made at random instead", 0.0, _number(float, 0, 1))}
_SEARCH = {
    "simulations": Option("simulations a decision", 1000, _number(int, 1, MOST_SIMULATIONS)),
    "seconds": Option("time a decision, in place of simulations", None, _number(float, 0.001, 3600)),
    "threads": Option("trees that are searched side by side and added up", 1, _number(int, 1, 256)),
    "leaf": Option("evaluation, or playout to the end", "evaluation", _one_of(*LEAVES)),
    "turns": Option("turns that the policy plays before an evaluation", 2, _number(int, 0, 1000)),
    "policy": Option("who plays those turns, or playouts", "heuristic", _one_of(*POLICY_NAMES)),
    "epsilon": Option("share of the policy's decisions made at random", 0.0, _number(float, 0, 1)),
    "exploration": Option("weight of the prior against values", None, _number(float, 0, 100)),
}


@dataclass(frozen=True)
class Kind:
    """An agent that can be asked for: a line about it, and its options."""

    about: str
    options: Mapping[str, Option] = field(default_factory=dict)


# Policies by the names that kernels know them by (core/policies.py), and search.
KINDS: dict[str, Kind] = {
    "random": Kind("each decision uniform among the legal ones"),
    "greedy": Kind("buys the most prestige, else moves toward the nearest card", _EPSILON),
    "guide": Kind("follows the strategy advice of a rule text", _EPSILON),
    "heuristic": Kind("scores every decision with weights fitted by self-play", _EPSILON),
    "mcts": Kind("searches a tree of decisions, whatever the hidden cards may be", _SEARCH),
}
_CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Agent:
    """One agent of a run: a kind by its name, and its options as given; or a Python class as `module:Class`."""

    name: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def spec(self) -> str:
        """The spec that means this agent."""
        options = ",".join(f"{option}={value}" for option, value in self.options)
        return f"{self.name}:{options}" if options else self.name

    @property
    def is_class(self) -> bool:
        """Whether it is a Python class."""
        return ":" in self.name

    @property
    def is_compiled(self) -> bool:
        """Whether kernels play it by themselves, so that its games depend on seeds alone.

        Classes are none, nor is search by time or on threads.
        """
        return not self.is_class and self.value("seconds") is None and self.value("threads") in (None, 1)

    def settings(self) -> Any:
        """How it decides, as kernels read it: SETTINGS_DTYPE[1]."""
        import numpy as np

        from splendor_sim.core.policies import POLICIES
        from splendor_sim.core.settings import EXPLORATION, SEARCH, SETTINGS_DTYPE, TO_THE_END, UNIFORM

        row = np.zeros(1, SETTINGS_DTYPE)
        if self.name != "mcts":
            row["policy"] = POLICIES[self.name]
            row["epsilon"] = _threshold(self.value("epsilon") or 0.0)
            return row
        playout = self.value("leaf") == "playout"
        exploration = self.value("exploration")
        row["policy"] = SEARCH
        row["simulations"] = self.value("simulations")
        row["leaf_policy"] = POLICIES[self.value("policy")]
        row["leaf_epsilon"] = _threshold(self.value("epsilon"))
        row["turns"] = TO_THE_END if playout else self.value("turns")
        row["exploration"] = EXPLORATION[self.value("leaf")] if exploration is None else exploration
        row["uniform"] = UNIFORM
        return row

    def value(self, option: str) -> Any:
        """The value of an option, its default if it is not given, None if there is no such option."""
        known = {} if self.is_class else KINDS[self.name].options
        if option not in known:
            return None
        given = dict(self.options).get(option)
        return known[option].default if given is None else known[option].read(given)


def parse_agent(spec: Any) -> Agent:
    """Return the agent that a spec means: `name`, `name:option=value,…` or `module:Class`.

    Raises AgentError, with what there is, for an unknown name, option or value or a spec of another form.
    """
    if isinstance(spec, Agent):
        return spec
    if not isinstance(spec, str):
        raise AgentError(f"an agent spec is a string such as 'random', not {spec!r}")
    name, colon, rest = spec.partition(":")
    if name not in KINDS:
        if _CLASS.fullmatch(spec):
            return Agent(spec)
        raise AgentError(
            f"unknown agent {spec!r}; the agents are {', '.join(KINDS)}, or a Python class as module:Class"
        )
    given = [_option(name, part) for part in rest.split(",")] if colon else []
    for option, _ in given:
        if [other for other, _ in given].count(option) > 1:
            raise AgentError(f"agent {name!r} is given {option} twice in {spec!r}")
    if {"simulations", "seconds"} <= dict(given).keys():
        raise AgentError(
            f"agent {name!r} searches for so many simulations or for so many seconds, not both as in {spec!r}"
        )
    return Agent(name, tuple(given))


def parse_agents(specs: Any, players: int) -> tuple[Agent, ...]:
    """Return the agents of a run, one spec a seat; None means all random.

    Raises AgentError if their number is not that of the players, and what parse_agent raises.
    """
    if specs is None:
        return (parse_agent("random"),) * players
    if isinstance(specs, str) or not isinstance(specs, Sequence):
        example = [specs if isinstance(specs, str) else "random"] * players
        raise AgentError(f"agents are a list with one spec a seat, such as {example}, not {specs!r}")
    if len(specs) != players:
        raise AgentError(f"{players} seats need {players} agents, one spec a seat, not {len(specs)}: {list(specs)}")
    return tuple(parse_agent(spec) for spec in specs)


def _threshold(epsilon: float) -> int:
    """A probability as what 32 random bits are compared with."""
    return round(epsilon * 2**32)


def _option(name: str, part: str) -> tuple[str, str]:
    option, equals, value = part.partition("=")
    known = KINDS[name].options
    there_are = f"its options are {', '.join(known)}" if known else "it has no options"
    if not equals or not option or not value:
        raise AgentError(f"an option of an agent is written option=value, not {part!r}; agent {name!r}: {there_are}")
    if option not in known:
        raise AgentError(f"agent {name!r} has no option {option!r}; {there_are}")
    try:
        known[option].read(value)
    except ValueError as right:
        raise AgentError(f"{option} of agent {name!r} must be {right}, not {value!r}") from None
    return option, value
