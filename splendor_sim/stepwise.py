"""Games that are played decision by decision, because a class takes part or search by time or on threads."""

import functools
import hashlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from splendor_sim.agents import Agent
from splendor_sim.core.actions import IllegalActionError, check_action
from splendor_sim.core.counters import FORFEITED, record_game
from splendor_sim.core.engine import clear
from splendor_sim.core.playout import GAME_DTYPE, next_word, pack_orders, start
from splendor_sim.core.policies import choose_noisily
from splendor_sim.game import Game
from splendor_sim.outsiders import Failure, Host, Stopped, seen
from splendor_sim.simulate import Plan


def play_game(plan: Plan, index: int, hosts: "Seated", record: Any, stop: threading.Event) -> str | None:
    """Play a game decision by decision, as the kernels for blocks do, and record it; say who forfeited it and why."""
    game = Game(plan.players, 0, plan.options)
    under_way = np.zeros(1, GAME_DTYPE)
    s, mine = game.state[0], under_way[0]
    clear(s)
    order, deal = index % len(plan.orders), index // len(plan.orders)
    start(s, mine, np.uint64(plan.seed), index, pack_orders(np.array(plan.orders, np.int64))[order], deal)
    playing = [plan.agents[agent] for agent in plan.orders[order]]
    minds = Minds(plan.agents, playing)
    seat = 0
    complaint = None
    try:
        for seat, agent in enumerate(playing):
            if agent.is_class:
                hosts.at(agent, seat).start(seat, _seed_for(next_word(mine, seat)))
        while not game.is_over and game.turn < plan.max_turns:
            if stop.is_set():
                raise Stopped
            seat = game.seat_to_move
            agent = playing[seat]
            if agent.is_class:
                action: int | str = hosts.at(agent, seat).choose(seen(game, seat))
            else:
                action = minds.decide(seat, game.state, np.uint64(next_word(mine, seat)))
            held = int(game.state["reserved_count"][0, seat])
            number = check_action(action)
            if number in game.legal_actions():
                minds.advance(game.state, number)
            game.apply(number)
            mine["reserves"][seat] += int(game.state["reserved_count"][0, seat]) > held
    except (Failure, IllegalActionError) as error:
        complaint = (
            f"game {index:,} was forfeited by {playing[seat].spec} at seat {seat} in turn {game.turn:,}: {error}"
        )
    record_game(s, mine, record)
    if complaint:
        record["ending"] = FORFEITED
        record["winners"] = ((1 << plan.players) - 1) & ~(1 << seat)
    return complaint


def _seed_for(word: Any) -> int:
    """A seed for a class: streams can be followed back to the deal that they share a seed with, a digest cannot."""
    return int.from_bytes(hashlib.sha256(int(word).to_bytes(8, "little")).digest()[:8], "little")


class Minds:
    """What decides in one game for the agents that are no classes, as the kernels for blocks do.

    agents: all of the plan, since the largest search among them makes the room of every tree. seated: those by seat.
    """

    def __init__(self, agents: Sequence[Agent], seated: Sequence[Agent]) -> None:
        self._seated = seated
        self._searching = [seat for seat, agent in enumerate(seated) if agent.name == "mcts" and agent.is_compiled]
        if self._searching:
            from splendor_sim.core.search import clear_tree
            from splendor_sim.core.search_block import make_room

            self._room = make_room(np.concatenate([agent.settings() for agent in agents if not agent.is_class]))
            _, _, trees, nodes, edges = self._room
            for seat in range(len(seated)):
                clear_tree(trees[seat], nodes[seat], edges[seat], seat, np.uint64(0))

    def decide(self, seat: int, states: Any, word: Any) -> int:
        """Return the decision (id) of the seat to move in states[0], from one random word (uint64)."""
        agent = self._seated[seat]
        if seat in self._searching:
            from splendor_sim.core.search import decide_by_search

            return int(decide_by_search(states[0], seat, _settings(agent), word, *self._room))
        return decide(agent, states, word) if agent.is_compiled else _search(agent, states, int(word))

    def advance(self, states: Any, action: int) -> None:
        """Let the trees follow a decision that is about to be applied to states[0]."""
        if self._searching:
            from splendor_sim.core.search import advance_tree

            _, _, trees, nodes, edges = self._room
            for seat in self._searching:
                advance_tree(states[0], action, trees[seat], nodes[seat], edges[seat], nodes[4], edges[4])


def decide(agent: Agent, states: Any, word: Any) -> int:
    """Return the decision (id) of a policy in states[0], from one random word (uint64)."""
    settings = _settings(agent)
    return int(choose_noisily(settings["policy"], settings["epsilon"], states[0], word))


def _search(agent: Agent, states: Any, seed: int) -> int:
    """The decision of a search by time or on threads."""
    from splendor_sim.batch import legal_mask
    from splendor_sim.search import search

    legal = np.flatnonzero(legal_mask(states)[0])
    if len(legal) == 1:
        return int(legal[0])
    names = ("simulations", "seconds", "threads", "leaf", "turns", "policy", "epsilon", "exploration")
    options = {name: agent.value(name) for name in names}
    if options["seconds"] is not None:
        options["simulations"] = None
    return int(search(states, seed=seed, **options).best)


@functools.cache
def _settings(agent: Agent) -> Any:
    return agent.settings()[0]


def given_to_classes(plan: Plan) -> dict[str, Any]:
    """What a class is made with."""
    return {"players": plan.players, "rules": plan.rules}


class Hosts:
    """The processes of Python classes: a set for each game under way, so that no two games share one."""

    def __init__(self, agents: tuple[Agent, ...], given: dict[str, Any], limit: float, stop: threading.Event) -> None:
        self.given, self.limit, self.stop = given, limit, stop
        self.closed = False
        self._free: list[Seated] = []
        self._all: list[Seated] = []

    def some(self) -> "Seated":
        """A set that is free; as a context, after which it is free again."""
        try:
            return self._free.pop()
        except IndexError:
            found = Seated(self)
            self._all.append(found)
            return found

    def __enter__(self) -> "Hosts":
        return self

    def __exit__(self, *_: Any) -> None:
        self.closed = True
        self.stop.set()
        for seated in self._all:
            seated.close()


class Seated:
    """The processes of one game under way, by agent and seat: no agent knows what it sees at another seat."""

    def __init__(self, home: Hosts) -> None:
        self._home = home
        self._hosts: dict[tuple[Agent, int], Host] = {}

    def at(self, agent: Agent, seat: int) -> Host:
        """The process of an agent at a seat."""
        if self._home.closed:
            raise Stopped
        if (agent, seat) not in self._hosts:
            self._hosts[agent, seat] = Host(agent.spec, self._home.given, self._home.limit, self._home.stop)
        return self._hosts[agent, seat]

    def close(self) -> None:
        for host in list(self._hosts.values()):
            host.close()

    def __enter__(self) -> "Seated":
        return self

    def __exit__(self, *_: Any) -> None:
        self._home._free.append(self)
