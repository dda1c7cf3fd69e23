"""Agents that are Python classes: what such a class is told and asked, and the processes that they live in.

A class is written as `module:Class`; the module is found as `import` finds it, the current folder first. It has

    def __init__(self, players, rules):    called once in a process; arguments come by keyword
    def start(self, seat, seed):           optional: before a game; the same seed for the same game of a match
    def choose(self, view):                an id or a name of one of view.legal_actions

and `view` is a View. Each seat has a process of its own, so an agent shares nothing with others and can be stopped: one
that raises, answers nothing legal, takes too long or ends its process loses the game, and begins anew with the next.
What it prints goes to standard error. A process is no prison: it may do whatever the user may.
"""

import json
import operator
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from splendor_sim.agents import AgentError

if TYPE_CHECKING:
    from splendor_sim.game import Game

LIMIT = 10.0  # seconds for a decision
_BEGIN = 60.0  # seconds to import a module and make an agent
_TRIES = 3  # times in succession that an agent which has begun before may fail to
_LONGEST = 1 << 20  # bytes of an answer
_SOON = 0.05  # seconds between looks at `stop`


class View:
    """What a seat knows when it decides, and no more.

    seat, players: whose view it is, of how many. legal_actions: ids, ascending. observation: uint8[OBSERVATION_SIZE].
    position: as Game.position gives it, but a card that another seat reserved from a deck is None, with its level; and
    in place of `decks` there is `unseen`, by level the ids in the deck and hidden in other hands, ascending.
    """

    def __init__(self, seat: int, legal_actions: list[int], observation: bytes, position: dict[str, Any]) -> None:
        import numpy as np

        self.seat, self.players = seat, int(position["players"])
        self.legal_actions, self.position = legal_actions, position
        self.observation = np.frombuffer(observation, np.uint8)

    def determinize(self, seed: int) -> "Game":
        """Return a game as it may stand: what the seat does not know is drawn from the seed."""
        import random

        from splendor_sim.game import Game

        draw = random.Random(seed)
        decks = [list(cards) for cards in self.position["unseen"]]
        seats = []
        for seat in self.position["seats"]:
            reserved = []
            for held in seat["reserved"]:
                if held["card"] is None:
                    deck = decks[held["level"] - 1]
                    held = {"card": deck.pop(draw.randrange(len(deck))), "hidden": True}
                reserved.append(held)
            seats.append({**seat, "reserved": reserved})
        position = {name: value for name, value in self.position.items() if name != "unseen"}
        return Game.from_position({**position, "decks": decks, "seats": seats}, draw.getrandbits(64))


def seen(game: "Game", seat: int) -> dict[str, Any]:
    """Return what a view of a game is made of: nothing in it tells what the seat does not know."""
    from splendor_sim.core.cards import LEVEL_START

    position = game.position()
    unseen = position.pop("decks")
    for other, held in enumerate(position["seats"]):
        for place, reserved in enumerate(held["reserved"]):
            if reserved["hidden"] and other != seat:
                level = sum(reserved["card"] >= start for start in LEVEL_START[:3].tolist())
                unseen[level - 1] = sorted([*unseen[level - 1], reserved["card"]])
                held["reserved"][place] = {"card": None, "hidden": True, "level": level}
    position["unseen"] = unseen
    return {
        "seat": seat,
        "legal_actions": game.legal_actions(),
        "observation": game.observe(seat).tobytes(),
        "position": position,
    }


# --- In the process that plays ---------------------------------------------------------------------------------------


class Failure(Exception):
    """An agent that failed, and how."""


class Stopped(Exception):
    """Nobody waits for the agent any more."""


class Host:
    """A process with an agent in it, begun when it is needed and anew after a failure.

    spec: `module:Class`. given: the keyword arguments for the class. limit: seconds for a decision.
    """

    def __init__(self, spec: str, given: dict[str, Any], limit: float, stop: threading.Event) -> None:
        self.spec, self._given, self._limit, self._stop = spec, given, limit, stop
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._failed = 0  # times in succession that it failed to begin
        self._has_begun = False
        self._closed = False

    def start(self, seat: int, seed: int) -> None:
        """Begin a game; raises Failure, or AgentError if the agent never began, or does not again and again."""
        if self._process is None:
            try:
                self._begin()
            except Failure as error:
                self._failed += 1
                if not self._has_begun or self._failed == _TRIES:
                    raise AgentError(f"agent {self.spec!r} cannot begin: {error}") from None
                raise
            self._failed, self._has_begun = 0, True
        self._ask(("start", {"seat": seat, "seed": seed}), self._limit)

    def choose(self, view: dict[str, Any]) -> int | str:
        """Return what the agent decides, an id or a name of whatever kind; raises Failure."""
        answer = self._ask(("choose", view), self._limit)
        if isinstance(answer, int | str):
            return answer
        raise Failure(f"it answered {answer[0]}, which is no decision")

    def close(self) -> None:
        """End the process, with those that it began."""
        self._closed = True
        self._end()

    def _begin(self) -> None:
        paths = [os.getcwd(), *(path or os.getcwd() for path in sys.path)]
        self._answers = queue.SimpleQueue()
        process = subprocess.Popen(
            [sys.executable, "-c", "from splendor_sim.outsiders import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        self._process = process
        threading.Thread(target=_listen, args=(process.stdout, self._answers), daemon=True).start()
        if self._closed:
            self._end()
            raise Stopped
        self._ask(("begin", {"spec": self.spec, "given": self._given}), _BEGIN)

    def _ask(self, request: tuple[str, dict[str, Any]], limit: float) -> Any:
        """The answer to a request; whatever else happens is a Failure, and ends the process."""
        process = self._process
        if process is None or process.stdin is None:
            raise Stopped
        try:
            with suppress(OSError):  # it is dead, as the missing answer will tell
                _write(process.stdin, pickle.dumps(request))
            answer = json.loads(self._wait(limit))
            if "failed" in answer:
                raise Failure(answer["failed"])
            return answer["answer"]
        except BaseException:
            self._end()
            raise

    def _wait(self, limit: float) -> bytes:
        until = time.monotonic() + limit
        while True:
            try:
                answer = self._answers.get(timeout=min(_SOON, max(0.0, until - time.monotonic())))
            except queue.Empty:
                if self._stop.is_set() or self._closed:
                    raise Stopped from None
                if time.monotonic() >= until:
                    raise Failure(f"it did not answer within {limit:g} s") from None
                continue
            if answer is not None:
                return answer
            assert self._process is not None
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            raise Failure(f"its process ended with exit code {self._process.returncode}")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        with suppress(OSError):
            process.kill()
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()


def _listen(stream: IO[bytes], answers: "queue.SimpleQueue[bytes | None]") -> None:
    """Pass on answers until the stream ends, which None says."""
    with suppress(OSError, ValueError), stream:
        while (answer := _read(stream)) is not None:
            answers.put(answer)
    answers.put(None)


def _write(stream: IO[bytes], message: bytes) -> None:
    stream.write(struct.pack("<I", len(message)) + message)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    """The next message, None at the end or after what is no message."""
    head = stream.read(4)
    size = struct.unpack("<I", head)[0] if len(head) == 4 else _LONGEST + 1
    message = stream.read(size) if size <= _LONGEST else b""
    return message if len(message) == size else None


# --- In the process of an agent --------------------------------------------------------------------------------------


def serve() -> None:
    """Answer requests on the first standard input and output, until nobody asks any more."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what the agent prints must not be taken for an answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    came: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, came), daemon=True).start()
    agent: Any = None
    while True:
        what, given = pickle.loads(came.get())
        try:
            if what == "begin":
                agent, answer = _make(**given), None
            elif what == "start":
                answer = None
                if hasattr(agent, "start"):
                    agent.start(**given)
            else:
                answer = _plain(agent.choose(View(**given)))
            said: dict[str, Any] = {"answer": answer}
        except BaseException as error:  # SystemExit too is no answer
            said = {"failed": " ".join(f"{type(error).__name__}: {error}".split())[:500]}
        _write(answers, json.dumps(said).encode())


def _receive(requests: IO[bytes], came: "queue.SimpleQueue[bytes]") -> None:
    while (request := _read(requests)) is not None:
        came.put(request)
    os._exit(0)  # who asked is gone, and the agent may be in a loop without end


def _make(spec: str, given: dict[str, Any]) -> Any:
    from importlib import import_module

    import_module("numpy")  # which views need: the first decision shall not have to wait for it
    module, _, name = spec.partition(":")
    found = getattr(import_module(module), name)
    if not callable(getattr(found, "choose", None)):
        raise TypeError(f"{spec} has no method choose")
    return found(**given)


def _plain(decision: Any) -> Any:
    """A decision as JSON holds it; what is none as a list of its text."""
    if isinstance(decision, str):
        return decision[:200]
    with suppress(TypeError):
        if not isinstance(decision, bool) and abs(operator.index(decision)) < 2**53:
            return operator.index(decision)
    return [repr(decision)[:200]]
