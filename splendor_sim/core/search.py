"""Information-set tree search: select, expand, back up (Cowling, Powley and Whitehouse, 2012; PUCT: Silver, 2017).

One tree for all deals: a node is a sequence of decisions, each named by what it means (a card, not a slot), so every
determinization walks the same tree and takes those edges that it makes available. Decisions that are forced make no
node. A node holds a mean value for every seat, and the seat that decides maximises its own.

A node is made on its first visit, with a value from its leaf, and gets its edges on the second, since most nodes never
see one. An edge that was never taken is a prior and the count of simulations in which it could have been.
"""

import numpy as np

from splendor_sim.core.engine import (
    KEYED,
    apply,
    apply_main,
    forget,
    go_on,
    legal,
    legal_main,
    level_dealt,
    redraw,
    winners,
)
from splendor_sim.core.evaluation import VALUES_DTYPE, evaluate
from splendor_sim.core.heuristic import score_decisions
from splendor_sim.core.heuristic_vectors import SCORES_DTYPE
from splendor_sim.core.jit import kernel, local, nth_bit, popcount
from splendor_sim.core.keys import KEYS_DTYPE, action_of, gather_keys, is_single, key_of, only_bit
from splendor_sim.core.policies import RANDOM, choose_noisily, choose_random
from splendor_sim.core.rng import GAMMA, below, mix
from splendor_sim.core.state import MAIN, OVER, STATE_DTYPE

NO_NODE, ROOT = 0, 1
MOST_DEPTH = 120  # edges of a path; beyond, a node is a leaf
MOST_NODES = 1 << 24  # what an edge can name
_MOST_TURNS = 1000  # of a playout; then it is valued as it stands

NODE_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("visits", "u4"),  # simulations that went through, those under way included
                ("available", "u4"),  # simulations in which the edge to it could be taken
                ("value", "f4", (4,)),  # by seat: mean over the finished visits
                ("edges", "u4"),  # its first edge; 0 while it has none
                ("edge_count", "u1"),
                ("room", "u1"),  # edges there is room for
                ("is_open", "u1"),  # 1 if its decisions depend on the determinization
                ("pending", "u1"),  # simulations under way
            ]
        ),
    )
)
EDGE_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("child", "u4"),  # node << 8 | key; the node is NO_NODE until it is visited
                ("prior", "u2"),  # times _PRIOR_UNIT
                ("available", "u2"),  # simulations in which it could be taken, before it was; at most 65,535
            ]
        ),
    )
)
_PRIOR_UNIT = 65535
_MOST_AVAILABLE = 65535
_ROOM_STEP = 4  # blocks of edges have room for a multiple of it

TREE_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("nodes", "i8"),  # the next free node
                ("edges", "i8"),  # the next free edge
                ("node_room", "i8"),
                ("edge_room", "i8"),
                ("stream", "u8"),  # random words for determinizations and playouts
                ("seat", "i8"),  # whose knowledge the determinizations keep
                ("free", "i8", (256 // _ROOM_STEP,)),  # by room / _ROOM_STEP: a block of edges out of use; 0 if none
            ]
        ),
    )
)
PATH_DTYPE = np.dtype(
    (np.record, np.dtype([("node", "u4", (MOST_DEPTH + 1,)), ("length", "i8"), ("low", "u8"), ("high", "u8")]))
)
# What a walk down the tree ends at.
LEAF, TERMINAL, BLOCKED = 0, 1, 2

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64
EVEN_PRIOR = -1.0  # as `uniform`: decisions that come up later get an even share, under logits of the user


# --- A search --------------------------------------------------------------------------------------------------------


@kernel(inline=False)
def clear_tree(tree, nodes, edges, seat, stream):
    """Make a tree of nothing but a root that was never visited, for determinizations that keep what a seat knows."""
    tree.nodes = ROOT + 1
    tree.edges = 1
    tree.node_room = min(len(nodes), MOST_NODES)
    tree.edge_room = len(edges)
    tree.seat = seat
    tree.stream = stream
    for size in range(len(tree.free)):
        tree.free[size] = 0
    clear_node(nodes[ROOT], 0)


@kernel
def clear_node(n, is_open):
    """Make a node that was never visited."""
    n.visits = 0
    n.available = 0
    for seat in range(4):
        n.value[seat] = np.float32(0.0)
    n.edges = 0
    n.edge_count = 0
    n.room = 0
    n.is_open = is_open
    n.pending = 0


@kernel
def search(known, trees, nodes, edges, row, a, count):
    """Run `count` simulations in the tree of a row, and return how many were run: fewer when the tree is full.

    known: STATE_DTYPE[n], roots after `forget`. trees: TREE_DTYPE[n]. nodes, edges: NODE_DTYPE, EDGE_DTYPE [n, room].
    a: SETTINGS_DTYPE[1], what a simulation is.
    """
    work = np.empty(1, STATE_DTYPE)
    return run_simulations(known, work, trees[row], nodes[row], edges[row], row, a[0], count)


@kernel(inline=False)
def run_simulations(known, work, t, nodes, edges, row, a, count):
    """Run simulations in one tree; work: STATE_DTYPE[1], to play in."""
    s = work[0]
    v, path = local(VALUES_DTYPE), local(PATH_DTYPE)
    players = np.int64(known[row].players)
    for done in range(count):
        if t.nodes >= t.node_room:
            return done
        work[0] = known[row]
        redraw(s, t.seat, next_key(t))
        if descend(s, t, nodes, edges, path, a.exploration, a.uniform) == TERMINAL:
            value_outcome(s, v)
        else:
            value_leaf(s, t, a, v)
        back_up(nodes, path, v, players)
    return count


@kernel
def next_key(t):
    """The next random word of a tree."""
    t.stream += GAMMA
    return mix(t.stream)


@kernel(inline=False)
def value_leaf(s, t, a, v):
    """Value a leaf for every seat: some turns by the leaf policy and an evaluation, or a playout to the end."""
    if a.turns != 0:
        last = np.int64(s.turn) + (_MOST_TURNS if a.turns < 0 else a.turns)
        if a.leaf_policy == RANDOM:
            play_randomly(s, t, last)
        else:
            while s.phase != OVER and s.turn < last:
                apply(s, choose_noisily(a.leaf_policy, a.leaf_epsilon, s, next_key(t)), KEYED)
    if s.phase == OVER:
        value_outcome(s, v)
    else:
        evaluate(s, v)


@kernel(inline=False)
def play_randomly(s, t, last):
    """Play uniformly until the game or turn `last` ends: what choose_noisily would do, in less time."""
    while s.phase != OVER and s.turn < last:
        word = next_key(t)
        if s.phase == MAIN:
            seat = np.int64(s.to_move)
            mask = legal_main(s, seat)
            apply_main(s, seat, nth_bit(mask, below(word, np.uint64(popcount(mask)))), KEYED)
            if s.phase == MAIN:
                go_on(s, seat)
        else:
            apply(s, choose_random(s, word), KEYED)


@kernel(inline=False)
def value_outcome(s, v):
    """The shares of the win in a state that is over."""
    seats = winners(s)
    each = np.float32(1.0) / np.float32(popcount(np.uint64(seats)))
    for seat in range(4):
        v.value[seat] = each if (seats >> seat) & 1 != 0 else np.float32(0.0)


# --- Down and up -----------------------------------------------------------------------------------------------------


@kernel(inline=False)
def descend(s, t, nodes, edges, path, exploration, uniform):
    """Walk from the root to a leaf, a node without a visit or a state that is over, and count the visits under way.

    s: the determinized root, changed to the state of the leaf. exploration: weight of the prior. uniform: part of the
    prior that all decisions share evenly, or EVEN_PRIOR. The path keeps the nodes, and of a leaf the legal decisions.
    Returns LEAF, TERMINAL, or BLOCKED if every way leads to a leaf under way; then no visit is counted.
    """
    node = ROOT
    path.node[0] = ROOT
    path.length = 1
    dealt = False
    while True:
        n = nodes[node]
        low, high = legal(s)
        while is_single(low, high):  # forced, so no decision
            action = only_bit(low, high)
            # Where cards are hidden, another deal may offer a choice.
            dealt = dealt or level_dealt(s, action) >= 0 or (s.phase == MAIN and is_veiled(s, t))
            apply(s, action, KEYED)
            low, high = legal(s)
        if n.visits == 0:
            n.is_open = np.int64(dealt or n.is_open != 0 or is_veiled(s, t))
        if s.phase == OVER:
            count_visit(nodes, path)
            return TERMINAL
        seat = np.int64(s.to_move)
        if n.visits == 0:
            path.low, path.high = low, high
            count_visit(nodes, path)
            return LEAF
        if n.visits == n.pending:  # only the root: elsewhere a leaf under way is not chosen
            return BLOCKED
        if n.edges == 0:
            expand(s, t, n, edges, low, high, uniform)
        if n.edges == 0 or path.length > MOST_DEPTH:  # no room for more
            path.low, path.high = low, high
            count_visit(nodes, path)
            return LEAF
        if n.is_open == 0:
            place = choose_closed(seat, n, nodes, edges, exploration)
        else:
            place = choose_open(s, seat, t, n, nodes, edges, low, high, exploration, uniform)
        if place < 0:
            if n.pending != 0:
                return BLOCKED
            path.low, path.high = low, high  # no edge is available, and there was no room for more
            count_visit(nodes, path)
            return LEAF
        e = edges[place]
        child = np.int64(e.child >> 8)
        action = action_of(s, seat, np.int64(e.child & 0xFF))
        dealt = dealt or level_dealt(s, action) >= 0
        if child == NO_NODE:
            child = t.nodes
            t.nodes += 1
            clear_node(nodes[child], n.is_open)
            nodes[child].available = e.available
            e.child = (child << 8) | np.int64(e.child & 0xFF)
        apply(s, action, KEYED)
        node = child
        path.node[path.length] = node
        path.length += 1


@kernel
def is_veiled(s, t):
    """Whether the seat to move holds cards that the tree's seat does not know."""
    return s.to_move != t.seat and s.hidden[np.int64(s.to_move)] != 0


@kernel
def count_visit(nodes, path):
    """Count a simulation under way at every node of its path."""
    for place in range(path.length):
        n = nodes[path.node[place]]
        n.visits += 1
        n.pending += 1


@kernel
def back_up(nodes, path, v, players):
    """Bring the values of a leaf to every node of its path."""
    for place in range(path.length):
        n = nodes[path.node[place]]
        n.pending -= 1
        weight = np.float32(1.0) / np.float32(np.int64(n.visits) - np.int64(n.pending))
        for seat in range(players):
            n.value[seat] += (v.value[seat] - n.value[seat]) * weight


@kernel
def choose_closed(seat, n, nodes, edges, exploration):
    """The edge of a node whose decisions are all available: value + prior * exploration * sqrt(visits) / (1 + own).

    What was never taken counts as the node's mean (first-play value). Returns the edge's place, -1 if all are blocked.
    """
    weight = exploration * np.float32(np.sqrt(np.float32(np.int64(n.visits)))) * np.float32(1.0 / _PRIOR_UNIT)
    first = np.int64(n.edges)
    best, best_score = -1, np.float32(-1e30)
    untaken, untaken_prior = -1, -1
    for place in range(first, first + np.int64(n.edge_count)):
        e = edges[place]
        child = np.int64(e.child >> 8)
        prior = np.int64(e.prior)
        if child == NO_NODE:
            if prior > untaken_prior:
                untaken, untaken_prior = place, prior
        else:
            c = nodes[child]
            score = c.value[seat] + weight * np.float32(prior) / np.float32(np.int64(c.visits) + 1)
            if score > best_score and c.visits != c.pending:
                best, best_score = place, score
    if untaken >= 0 and n.value[seat] + weight * np.float32(untaken_prior) > best_score:
        return untaken
    return best


@kernel(inline=False)
def choose_open(s, seat, t, n, nodes, edges, low, high, exploration, uniform):
    """As choose_closed, where a determinization makes some edges available and may ask for new ones.

    In place of the node's visits stand the simulations in which the edge could be taken.
    """
    keys = local(KEYS_DTYPE)
    gather_keys(s, seat, low, high, keys)
    missing = popcount(low) + popcount(high)
    weight = exploration * np.float32(1.0 / _PRIOR_UNIT)
    mean = n.value[seat]
    first = np.int64(n.edges)
    best, best_score = -1, np.float32(-1e30)
    for place in range(first, first + np.int64(n.edge_count)):
        e = edges[place]
        key = e.child & 0xFF
        if (keys.word[key >> 6] >> np.uint64(key & 63)) & _ONE == _ZERO:
            continue
        missing -= 1
        child = np.int64(e.child >> 8)
        prior = weight * np.float32(np.int64(e.prior))
        if child == NO_NODE:
            if e.available < _MOST_AVAILABLE:
                e.available += 1
            score = mean + prior * np.float32(np.sqrt(np.float32(np.int64(e.available))))
        else:
            c = nodes[child]
            c.available += 1
            if c.visits == c.pending:
                continue
            root = np.float32(np.sqrt(np.float32(np.int64(c.available))))
            score = c.value[seat] + prior * root / np.float32(np.int64(c.visits) + 1)
        if score > best_score:
            best, best_score = place, score
    if missing > 0:
        late = add_late(s, seat, t, n, edges, low, high, uniform)
        if late >= 0:
            # Adding may have moved the edges.
            if best >= 0:
                best += np.int64(n.edges) - first
            for place in range(late, np.int64(n.edges) + np.int64(n.edge_count)):
                e = edges[place]
                e.available = 1
                score = mean + weight * np.float32(np.int64(e.prior))
                if score > best_score:
                    best, best_score = place, score
    return best


# --- Edges -----------------------------------------------------------------------------------------------------------


@kernel(inline=False)
def expand(s, t, n, edges, low, high, uniform):
    """Give a node its edges, with the heuristic's prior; it gets none if there is no room."""
    number = popcount(low) + popcount(high)
    first = take_block(t, edges, number)
    if first == 0:
        return
    scores = local(SCORES_DTYPE)
    score_decisions(s, scores)
    make_prior(low, high, scores, max(uniform, np.float32(0.0)))
    fill_block(s, n, edges, low, high, scores, first, number)


@kernel
def fill_block(s, n, edges, low, high, priors, first, number):
    """Write the edges of the legal decisions to a block, and hand it to a node."""
    seat = np.int64(s.to_move)
    n.edges = first
    n.edge_count = number
    n.room = room_for(number)
    place = first
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            e = edges[place]
            e.child = key_of(s, seat, action)
            e.prior = as_prior(priors.score[action])
            e.available = 0
            place += 1


@kernel
def as_prior(share):
    """A share of the prior as an edge holds it; never nothing."""
    return np.int64(share * np.float32(_PRIOR_UNIT - 1)) + 1


@kernel
def make_prior(low, high, scores, uniform):
    """Turn the scores of legal decisions into their softmax, mixed with an even share."""
    number = popcount(low) + popcount(high)
    top = np.float32(-1e30)
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            top = max(top, scores.score[action])
    total = np.float32(0.0)
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            share = exp_below(scores.score[action] - top)
            scores.score[action] = share
            total += share
    factor = (np.float32(1.0) - uniform) / total
    even = uniform / np.float32(number)
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            scores.score[action] = scores.score[action] * factor + even


@kernel
def exp_below(x):
    """About exp(x) for x <= 0, within 1 % down to -6: (1 + x / 1024) ** 1024, the same on every machine."""
    y = np.float32(1.0) + max(x, np.float32(-20.0)) * np.float32(1.0 / 1024.0)
    for _ in range(10):
        y = y * y
    return y


@kernel(inline=False)
def add_late(s, seat, t, n, edges, low, high, uniform):
    """Add the edges of decisions that no determinization has offered here before.

    Returns the place of the first, behind which the others follow; -1 if there was no room.
    """
    scores = local(SCORES_DTYPE)
    if uniform >= np.float32(0.0):
        score_decisions(s, scores)
        make_prior(low, high, scores, uniform)
    even = np.float32(1.0) / np.float32(popcount(low) + popcount(high))
    number = np.int64(n.edge_count)
    known = local(KEYS_DTYPE)
    for word in range(4):
        known.word[word] = _ZERO
    first = np.int64(n.edges)
    for place in range(first, first + number):
        key = edges[place].child & 0xFF
        known.word[key >> 6] |= _ONE << np.uint64(key & 63)
    added = 0
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            key = key_of(s, seat, action)
            if (known.word[key >> 6] >> np.uint64(key & 63)) & _ONE == _ZERO:
                if number + added == n.room and not widen(t, n, edges, number + added):
                    return np.int64(n.edges) + number if added > 0 else -1
                e = edges[np.int64(n.edges) + number + added]
                e.child = key
                e.prior = as_prior(scores.score[action] if uniform >= np.float32(0.0) else even)
                e.available = 0
                added += 1
                n.edge_count = number + added
    return np.int64(n.edges) + number if added > 0 else -1


@kernel
def room_for(number):
    """The room of a block that holds so many edges."""
    return (number + _ROOM_STEP - 1) // _ROOM_STEP * _ROOM_STEP


@kernel
def take_block(t, edges, number):
    """A block of edges with room for a number of them; 0 if there is none."""
    room = room_for(number)
    first = t.free[room // _ROOM_STEP]
    if first != 0:
        t.free[room // _ROOM_STEP] = edges[first].child
        return first
    if t.edges + room > t.edge_room:
        return 0
    first = t.edges
    t.edges += room
    return first


@kernel
def widen(t, n, edges, number):
    """Move the edges of a node to a larger block; return whether there was one."""
    if number >= 250:  # as much as a byte can count; there are fewer keys than that
        return False
    larger = take_block(t, edges, number + max(_ROOM_STEP, number // 4))
    if larger == 0:
        return False
    first = np.int64(n.edges)
    for place in range(number):
        edges[larger + place] = edges[first + place]
    edges[first].child = t.free[np.int64(n.room) // _ROOM_STEP]
    t.free[np.int64(n.room) // _ROOM_STEP] = first
    n.edges = larger
    n.room = room_for(number + max(_ROOM_STEP, number // 4))
    return True


# --- What was found --------------------------------------------------------------------------------------------------


@kernel(inline=False)
def root_visits(s, t, nodes, edges, visits):
    """Write the visits of the root's decisions to visits: int64[78], by the ids they have in the root's state `s`."""
    low, high = legal(s)
    for action in range(len(visits)):
        visits[action] = 0
    if is_single(low, high):
        visits[only_bit(low, high)] = max(np.int64(nodes[ROOT].visits) - 1, 0)  # the first looked at the root itself
        return
    seat = np.int64(s.to_move)
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            child = child_of(nodes[ROOT], edges, key_of(s, seat, action))
            if child != NO_NODE:
                visits[action] = nodes[child].visits


@kernel
def child_of(n, edges, key):
    """The node that a key leads to, NO_NODE if it was never visited."""
    first = np.int64(n.edges)
    for place in range(first, first + np.int64(n.edge_count)):
        child = np.int64(edges[place].child)
        if child & 0xFF == key:
            return child >> 8
    return NO_NODE


@kernel(inline=False)
def choose_visited(s, t, nodes, edges):
    """The root's decision with the most visits, among equals the one with the higher value, then the lower id."""
    low, high = legal(s)
    if is_single(low, high):
        return only_bit(low, high)
    seat = np.int64(s.to_move)
    best, most, best_value = -1, -1, np.float32(0.0)
    for half in range(2):
        rest = low if half == 0 else high
        while rest != _ZERO:
            action = nth_bit(rest, _ZERO) + _WORD_BITS * half
            rest &= rest - _ONE
            child = child_of(nodes[ROOT], edges, key_of(s, seat, action))
            visits = np.int64(nodes[child].visits) if child != NO_NODE else 0
            value = nodes[child].value[seat] if child != NO_NODE else np.float32(0.0)
            if visits > most or (visits == most and value > best_value):
                best, most, best_value = action, visits, value
    return best


# --- From move to move -----------------------------------------------------------------------------------------------


@kernel(inline=False)
def advance_tree(s, action, t, nodes, edges, spare_nodes, spare_edges):
    """Make what follows a decision the tree, before it is applied to the real state `s`; what is left over is dropped.

    spare_nodes, spare_edges: as large as nodes and edges. Of a tree without visits nothing is kept.
    """
    low, high = legal(s)
    if is_single(low, high):
        return  # has no edge: the root stands for what follows
    child = child_of(nodes[ROOT], edges, key_of(s, np.int64(s.to_move), action))
    if child == NO_NODE:
        clear_tree(t, nodes, edges, t.seat, t.stream)
        return
    spare_nodes[ROOT] = nodes[child]
    count, used = ROOT + 1, 1
    place = ROOT
    while place < count:
        n = spare_nodes[place]
        first, number = np.int64(n.edges), np.int64(n.edge_count)
        if first != 0:
            n.edges = used
            for offset in range(number):
                e = spare_edges[used + offset]
                old = edges[first + offset]
                e.prior = old.prior
                e.available = old.available
                follower = np.int64(old.child >> 8)
                if follower != NO_NODE:
                    spare_nodes[count] = nodes[follower]
                    follower = count
                    count += 1
                e.child = (follower << 8) | np.int64(old.child & 0xFF)
            used += np.int64(n.room)
        place += 1
    for place in range(ROOT, count):
        nodes[place] = spare_nodes[place]
    for place in range(1, used):
        edges[place] = spare_edges[place]
    t.nodes = count
    t.edges = used
    for size in range(len(t.free)):
        t.free[size] = 0


@kernel(inline=False)
def decide_by_search(s, seat, a, word, known, work, trees, nodes, edges):
    """The decision of a search at a seat, in the tree that is kept for it from move to move.

    a: the settings. word: uint64, all its randomness. known: STATE_DTYPE[4], trees: TREE_DTYPE[4], nodes, edges:
    [5, room], by seat; the last row is spare. work: STATE_DTYPE[1].
    """
    low, high = legal(s)
    if is_single(low, high):
        return only_bit(low, high)
    t = trees[seat]
    count = a.simulations
    if nodes[seat, ROOT].visits == 0 or t.nodes + count > t.node_room:
        clear_tree(t, nodes[seat], edges[seat], seat, word)
        count += 1  # the first looks at the root itself
    known[seat] = s
    forget(known[seat], seat)
    t.stream = word
    run_simulations(known, work, t, nodes[seat], edges[seat], seat, a, count)
    return choose_visited(s, t, nodes[seat], edges[seat])
