"""Splendor by the million: exact rules compiled by Numba, agents from random to search, statistics to trust.

`import splendor_sim as ss`. The names below are imported when they are first used, so that this import costs nothing.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splendor_sim.agents import AgentError as AgentError
    from splendor_sim.arena import MatchResult as MatchResult
    from splendor_sim.arena import TournamentResult as TournamentResult
    from splendor_sim.arena import match as match
    from splendor_sim.arena import tournament as tournament
    from splendor_sim.balance import Balance as Balance
    from splendor_sim.batch import StateError as StateError
    from splendor_sim.batch import deal as deal
    from splendor_sim.batch import determinize as determinize
    from splendor_sim.batch import legal_mask as legal_mask
    from splendor_sim.batch import observe as observe
    from splendor_sim.batch import playout as playout
    from splendor_sim.batch import step as step
    from splendor_sim.core.actions import ACTION_COUNT as ACTION_COUNT
    from splendor_sim.core.actions import ACTION_NAMES as ACTION_NAMES
    from splendor_sim.core.actions import IllegalActionError as IllegalActionError
    from splendor_sim.core.actions import action_name as action_name
    from splendor_sim.core.actions import parse_action as parse_action
    from splendor_sim.core.observation import OBSERVATION_DTYPE as OBSERVATION_DTYPE
    from splendor_sim.core.observation import OBSERVATION_SIZE as OBSERVATION_SIZE
    from splendor_sim.core.rng import SeedError as SeedError
    from splendor_sim.core.rules import Rules as Rules
    from splendor_sim.core.rules import RulesError as RulesError
    from splendor_sim.core.state import STATE_DTYPE as STATE_DTYPE
    from splendor_sim.distributed import ClusterError as ClusterError
    from splendor_sim.forest import Forest as Forest
    from splendor_sim.forest import evaluate as evaluate
    from splendor_sim.forest import score_decisions as score_decisions
    from splendor_sim.game import DepthError as DepthError
    from splendor_sim.game import Game as Game
    from splendor_sim.game import perft as perft
    from splendor_sim.outsiders import View as View
    from splendor_sim.position import PositionError as PositionError
    from splendor_sim.position import from_position as from_position
    from splendor_sim.position import to_position as to_position
    from splendor_sim.ratings import RatingError as RatingError
    from splendor_sim.ratings import Sprt as Sprt
    from splendor_sim.records import RecordsError as RecordsError
    from splendor_sim.replay import Replay as Replay
    from splendor_sim.replay import replay as replay
    from splendor_sim.result import Result as Result
    from splendor_sim.search import Found as Found
    from splendor_sim.search import SearchError as SearchError
    from splendor_sim.search import search as search
    from splendor_sim.simulate import SimulationError as SimulationError
    from splendor_sim.simulate import simulate as simulate
    from splendor_sim.sweep import Sweep as Sweep
    from splendor_sim.sweep import SweepError as SweepError
    from splendor_sim.sweep import sweep as sweep

__version__ = "0.1.0"

# Where each name lives.
_HOMES = {
    "ACTION_COUNT": "core.actions",
    "ACTION_NAMES": "core.actions",
    "AgentError": "agents",
    "Balance": "balance",
    "ClusterError": "distributed",
    "DepthError": "game",
    "Forest": "forest",
    "Found": "search",
    "Game": "game",
    "IllegalActionError": "core.actions",
    "MatchResult": "arena",
    "OBSERVATION_DTYPE": "core.observation",
    "OBSERVATION_SIZE": "core.observation",
    "PositionError": "position",
    "RatingError": "ratings",
    "RecordsError": "records",
    "Replay": "replay",
    "Result": "result",
    "Rules": "core.rules",
    "RulesError": "core.rules",
    "STATE_DTYPE": "core.state",
    "SearchError": "search",
    "SeedError": "core.rng",
    "SimulationError": "simulate",
    "Sprt": "ratings",
    "StateError": "batch",
    "Sweep": "sweep",
    "SweepError": "sweep",
    "TournamentResult": "arena",
    "View": "outsiders",
    "action_name": "core.actions",
    "deal": "batch",
    "determinize": "batch",
    "evaluate": "forest",
    "from_position": "position",
    "legal_mask": "batch",
    "match": "arena",
    "observe": "batch",
    "parse_action": "core.actions",
    "perft": "game",
    "playout": "batch",
    "replay": "replay",
    "score_decisions": "forest",
    "search": "search",
    "simulate": "simulate",
    "step": "batch",
    "sweep": "sweep",
    "to_position": "position",
    "tournament": "arena",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps functions that are named like their module: to import a submodule sets its name in the package."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOMES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
