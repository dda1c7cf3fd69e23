"""One game of a run, played again decision by decision."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from splendor_sim.core.actions import BUY, RESERVE, action_name
from splendor_sim.core.cards import LEVEL_START
from splendor_sim.core.counters import RECORD_DTYPE, record_game
from splendor_sim.core.engine import clear
from splendor_sim.core.playout import GAME_DTYPE, next_word, pack_orders, start
from splendor_sim.game import Game
from splendor_sim.records import RecordsError, flat, plan_of, read_metadata, read_row, row_of
from splendor_sim.stepwise import Minds


class Decision(NamedTuple):
    """One decision: finished turns before it, who decided, its name, and the id of the card that came up, or None."""

    turn: int
    seat: int
    action: str
    card: int | None


@dataclass(frozen=True)
class Replay:
    """A game that was played again: how it began, what was decided, how it ended, and its record as a row of JSON."""

    opening: Game
    decisions: list[Decision]
    game: Game
    row: dict[str, Any]


def replay(source: str | os.PathLike[str] | dict[str, Any], index: int) -> Replay:
    """Play game `index` of a run again: of a file of records, or of the metadata of one.

    Raises RecordsError if a file holds no such game, cannot be read, or holds another end of the game; OSError too.
    """
    metadata = source if isinstance(source, dict) else read_metadata(Path(source))
    if isinstance(index, bool | np.bool_) or not isinstance(index, int | np.integer) or index < 0:
        raise RecordsError(f"the index of a game is a whole number from 0 on, not {index!r}")
    plan = plan_of(metadata)
    for agent in plan.agents:
        if not agent.is_compiled:
            raise RecordsError(f"agent {agent.spec!r} decides otherwise each time, so its games cannot be played again")
    row = None if isinstance(source, dict) else read_row(Path(source), metadata, int(index))
    with np.errstate(over="ignore"):  # words wrap round; without the JIT numpy is told
        found = _play(plan, int(index))
    if row is not None:
        _compare(row, flat(found.row), f"{source}, written by version {metadata.get('version')}")
    return found


def _play(plan: Any, index: int) -> Replay:
    """Play a game as the kernels for blocks do: one word of its stream a decision, whoever decides."""
    game = Game(plan.players, 0, plan.options)
    under_way = np.zeros(1, GAME_DTYPE)
    s, mine = game.state[0], under_way[0]
    clear(s)
    turn, deal = index % len(plan.orders), index // len(plan.orders) if plan.paired else index
    start(s, mine, np.uint64(plan.seed), index, pack_orders(np.array(plan.orders, np.int64))[turn], deal)
    opening = game.copy()
    decisions = []
    minds = Minds(plan.agents, [plan.agents[agent] for agent in plan.orders[turn]])
    while not game.is_over and game.turn < plan.max_turns:
        turn, seat = game.turn, game.seat_to_move
        decks = game.state["deck"][0].copy()
        action = minds.decide(seat, game.state, np.uint64(next_word(mine, seat)))
        minds.advance(game.state, action)
        game.apply(action)
        if RESERVE <= action < BUY:
            mine["reserves"][seat] += 1
        drawn = [(level, int(cards)) for level, cards in enumerate(decks ^ game.state["deck"][0]) if cards]
        card = int(LEVEL_START[drawn[0][0]]) + drawn[0][1].bit_length() - 1 if drawn else None
        decisions.append(Decision(turn, seat, action_name(action), card))
    record = np.zeros(1, RECORD_DTYPE)
    record_game(s, mine, record[0])
    return Replay(opening, decisions, game, row_of(plan, record[0]))


def _compare(row: dict[str, str], played: dict[str, str], where: str) -> None:
    """Refuse a row that is not that of the game."""
    wrong = [name for name in {**played, **row} if row.get(name) != played.get(name)]
    if wrong:
        said = "; ".join(f"{name} is {played.get(name)}, not {row.get(name)}" for name in wrong)
        raise RecordsError(f"game {played['index']} ends otherwise than {where}, says: {said}")
