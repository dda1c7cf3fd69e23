"""Agents: what a spec such as `greedy` or `name:option=value,…` means. Needs neither numpy nor Numba."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class AgentError(ValueError):
    """An agent spec that names no agent, no option of it or no value, or not one spec a seat."""


@dataclass(frozen=True)
class Kind:
    """An agent that can be asked for: a line about it, and its options with their default values."""

    about: str
    options: Mapping[str, Any] = field(default_factory=dict)


# By the name of the policy (core/policies.py) that decides for them.
KINDS: dict[str, Kind] = {
    "random": Kind("each decision uniform among the legal ones"),
    "greedy": Kind("buys the most prestige, else moves toward the nearest card"),
}


@dataclass(frozen=True)
class Agent:
    """One agent of a run: a kind by its name, and its options as given."""

    name: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def spec(self) -> str:
        """The spec that means this agent."""
        options = ",".join(f"{option}={value}" for option, value in self.options)
        return f"{self.name}:{options}" if options else self.name

    @property
    def policy(self) -> int:
        """The number that kernels know the agent by."""
        from splendor_sim.core.policies import POLICIES

        return POLICIES[self.name]


def parse_agent(spec: Any) -> Agent:
    """Return the agent that a spec means: `name` or `name:option=value,…`.

    Raises AgentError, with what there is, for an unknown name or option or a spec of another form.
    """
    if isinstance(spec, Agent):
        return spec
    if not isinstance(spec, str):
        raise AgentError(f"an agent spec is a string such as 'random', not {spec!r}")
    name, colon, rest = spec.partition(":")
    if name not in KINDS:
        raise AgentError(f"unknown agent {spec!r}; the agents are {', '.join(KINDS)}")
    given = [_option(name, part) for part in rest.split(",")] if colon else []
    for option, _ in given:
        if [other for other, _ in given].count(option) > 1:
            raise AgentError(f"agent {name!r} is given {option} twice in {spec!r}")
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


def _option(name: str, part: str) -> tuple[str, str]:
    option, equals, value = part.partition("=")
    known = KINDS[name].options
    there_are = f"its options are {', '.join(known)}" if known else "it has no options"
    if not equals or not option or not value:
        raise AgentError(f"an option of an agent is written option=value, not {part!r}; agent {name!r}: {there_are}")
    if option not in known:
        raise AgentError(f"agent {name!r} has no option {option!r}; {there_are}")
    return option, value
