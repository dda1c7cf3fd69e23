"""A slow, plain tree search with the selection rule of the compiled one: dictionaries, and decisions by their meaning.

It shares no tree code with the kernels; the game, the evaluation and the heuristic are those of the package. Numbers
are float32, in the order in which the kernels reckon, so that whole trees can be compared for equality.
"""

import numba
import numpy as np

import splendor_sim as ss
from splendor_sim.core import keys
from splendor_sim.core import search as trees
from splendor_sim.core.engine import forget, redraw
from splendor_sim.core.rng import GAMMA, SEARCH, mix, stream_of
from splendor_sim.core.settings import UNIFORM

F = np.float32
OVER, MAIN = 4, 0
PRIOR_UNIT = 65535
OTHERS = [f"reserve {level}.deck" for level in (1, 2, 3)] + ["pass"]
OTHERS += [f"return {colour}" for colour in "wugrkj"] + [f"gold for {colour}" for colour in "wugrk"] + ["pay"]


@numba.njit
def forgotten(states, seat):
    """Put back in states[0] what a seat does not know."""
    forget(states[0], seat)


@numba.njit
def redrawn(states, seat, key):
    """Draw in states[0] what a seat does not know."""
    redraw(states[0], seat, key)


class ReferenceSearch:
    """One tree over the root of a game; `run` grows it.

    A node is a dict: visits, available, value (by seat), open, and edges by meaning, in the order in which they came
    up, each a dict of prior, available and child. Meanings are those of `meaning_of`.
    """

    def __init__(self, game, seed=0, exploration=0.8, uniform=UNIFORM):
        self.known = game.state.copy()
        self.seat = int(self.known["to_move"][0])
        self.players = int(self.known["players"][0])
        forgotten(self.known, self.seat)
        self.stream = np.uint64(stream_of(np.uint64(seed), 0, SEARCH))
        self.exploration, self.uniform = F(exploration), F(uniform)
        self.root = new_node()

    def run(self, simulations):
        """Grow the tree; the first simulation of all looks at the root itself."""
        for _ in range(simulations):
            s = self.known.copy()
            with np.errstate(over="ignore"):
                self.stream += GAMMA
                redrawn(s, self.seat, np.uint64(mix(self.stream)))
            path = self.descend(s)
            values = ss.evaluate(s)[0]  # the shares of the win where it is over
            for node in path:
                node["visits"] += 1
                weight = F(1) / F(node["visits"])
                for seat in range(self.players):
                    node["value"][seat] += (values[seat] - node["value"][seat]) * weight

    def descend(self, s):
        """Walk down, change `s` to the state of the leaf, and return the nodes of the way."""
        node, path, uncertain = self.root, [], False
        while True:
            path.append(node)
            while True:
                seat = int(s["to_move"][0])
                legal = np.flatnonzero(ss.legal_mask(s)[0]).tolist()
                veiled = seat != self.seat and bool(s["hidden"][0, seat])
                if len(legal) != 1:
                    break
                uncertain = uncertain or (veiled and s["phase"][0] == MAIN)
                uncertain = apply(s, legal[0]) or uncertain
            if node["visits"] == 0:
                node["open"] = node["open"] or uncertain or veiled
            if not legal or node["visits"] == 0:
                return path
            meanings = {meaning_of(s, action): action for action in legal}
            assert len(meanings) == len(legal)
            if not node["edges"]:
                node["edges"] = self.priors(s, legal, meanings)
            chosen = self.choose_open(s, seat, node, meanings) if node["open"] else self.choose_closed(seat, node)
            edge = node["edges"][chosen]
            if edge["child"] is None:
                edge["child"] = new_node(edge["available"])
            uncertain = apply(s, meanings[chosen]) or uncertain or node["open"]
            node = edge["child"]

    def priors(self, s, legal, meanings):
        """The edges of the legal decisions, never taken."""
        scores = ss.score_decisions(s)[0, legal]
        shares = [exp_below(score - scores.max()) for score in scores]
        total = F(0)
        for share in shares:
            total += share
        factor, even = (F(1) - self.uniform) / total, self.uniform / F(len(legal))
        return {
            meaning: {"prior": int((share * factor + even) * F(PRIOR_UNIT - 1)) + 1, "available": 0, "child": None}
            for meaning, share in zip(meanings, shares)
        }

    def choose_closed(self, seat, node):
        """Untaken edges count as the node's mean; the first of the best wins, and taken ones win ties."""
        weight = self.exploration * np.sqrt(F(node["visits"])) * F(1 / PRIOR_UNIT)
        taken = {
            meaning: edge["child"]["value"][seat] + weight * F(edge["prior"]) / F(edge["child"]["visits"] + 1)
            for meaning, edge in node["edges"].items()
            if edge["child"]
        }
        untaken = {meaning: edge["prior"] for meaning, edge in node["edges"].items() if not edge["child"]}
        best = max(taken, key=taken.__getitem__, default=None)
        if untaken:
            first = max(untaken, key=untaken.__getitem__)
            if best is None or node["value"][seat] + weight * F(untaken[first]) > taken[best]:
                return first
        return best

    def choose_open(self, s, seat, node, meanings):
        """The same among the edges that this deal makes available, each by the times it was available."""
        missing = [meaning for meaning in meanings if meaning not in node["edges"]]
        weight = self.exploration * F(1 / PRIOR_UNIT)
        if missing:
            late = self.priors(s, list(meanings.values()), meanings)
            node["edges"] |= {meaning: late[meaning] for meaning in missing}
        scores = {}
        for meaning, edge in node["edges"].items():
            if meaning not in meanings:
                continue
            child = edge["child"]
            counted = child or edge
            counted["available"] += 1
            visits, value = (child["visits"], child["value"][seat]) if child else (0, node["value"][seat])
            root = np.sqrt(F(counted["available"]))
            scores[meaning] = value + weight * F(edge["prior"]) * root / F(visits + 1)
        return max(scores, key=scores.__getitem__)


def new_node(available=0):
    return {"visits": 0, "available": available, "value": [F(0)] * 4, "open": False, "edges": {}}


def read_tree(nodes, edges, place=trees.ROOT):
    """A compiled tree, NODE_DTYPE[room] and EDGE_DTYPE[room], in the shape of the reference's."""
    n = nodes[place]
    found = {
        "visits": int(n["visits"]),
        "available": int(n["available"]),
        "value": n["value"].tolist(),
        "open": bool(n["is_open"]),
        "edges": {},
    }
    assert n["pending"] == 0 and n["edge_count"] <= n["room"]
    for e in edges[int(n["edges"]) : int(n["edges"]) + int(n["edge_count"])]:
        child, key = divmod(int(e["child"]), 256)
        found["edges"][meaning_of_key(key)] = {
            "prior": int(e["prior"]),
            "available": int(e["available"]),
            "child": read_tree(nodes, edges, child) if child != trees.NO_NODE else None,
        }
    return found


def meaning_of_key(key):
    """What a key of the compiled tree means, in the words of meaning_of."""
    if key >= keys.KEY_BUY:
        return f"buy card {key - keys.KEY_BUY}"
    if key >= keys.KEY_RESERVE:
        return f"reserve card {key - keys.KEY_RESERVE}"
    if key >= keys.KEY_NOBLE:
        return f"noble tile {key - keys.KEY_NOBLE}"
    if key < keys.KEY_DECK:
        return ss.action_name(key)
    return OTHERS[key - keys.KEY_DECK]


def apply(s, action):
    """Apply a decision, and return whether a card came up."""
    before = s["deck"][0].copy()
    ss.step(s, [action])
    return bool((s["deck"][0] != before).any())


def meaning_of(s, action):
    """What a legal decision means, whatever the deal: its name, with cards and tiles in place of slots."""
    name = ss.action_name(action)
    word, _, rest = name.partition(" ")
    place = rest.split(".")
    if word in ("buy", "reserve") and place[-1] != "deck":
        row, column = place
        start = 12 + 3 * int(s["to_move"][0]) if row == "reserved" else 4 * (int(row) - 1)
        return f"{word} card {s['card_at'][0, start + int(column) - 1]}"
    return f"noble tile {s['nobles'][0, int(rest) - 1]}" if word == "noble" else name


def exp_below(x):
    """About exp(x) for x <= 0."""
    y = F(1) + max(x, F(-20)) * F(1 / 1024)
    for _ in range(10):
        y = y * y
    return y
