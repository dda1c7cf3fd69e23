"""Many trees: their leaves in batches, what they found, and their way from move to move; for searches and forests."""

import numpy as np

from splendor_sim.core.actions import BUY, PASS, PAY, RESERVE, RESERVE_DECK
from splendor_sim.core.engine import KEYED, apply, forget, legal, place_of, redraw
from splendor_sim.core.evaluation import VALUES_DTYPE, evaluate
from splendor_sim.core.heuristic import score_decisions
from splendor_sim.core.heuristic_vectors import SCORES_DTYPE
from splendor_sim.core.jit import kernel, local, popcount
from splendor_sim.core.keys import is_single, key_of, only_bit
from splendor_sim.core.search import (
    BLOCKED,
    NO_NODE,
    ROOT,
    TERMINAL,
    advance_tree,
    back_up,
    child_of,
    clear_tree,
    descend,
    fill_block,
    make_prior,
    next_key,
    root_visits,
    take_block,
    value_outcome,
)
from splendor_sim.core.state import OVER

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD_BITS = 64


@kernel
def plant(known, trees, nodes, edges, row, stream):
    """Forget in a root what its seat to move does not know, and begin its tree. stream: uint64, of its randomness."""
    s = known[row]
    forget(s, np.int64(s.to_move))
    clear_tree(trees[row], nodes[row], edges[row], np.int64(s.to_move), stream)


@kernel
def select_leaves(known, trees, nodes, edges, most, exploration, uniform, leaves, paths, owners):
    """Collect up to `most` leaves of each tree whose root's state is not over, and return how many there are.

    known: STATE_DTYPE[n], roots after `forget`. trees: TREE_DTYPE[n]; nodes, edges: [n, room]. leaves, paths, owners:
    STATE_DTYPE, PATH_DTYPE and int64 [n * most], filled from the start. What ends the game is backed up at once.
    """
    count = 0
    v = local(VALUES_DTYPE)
    for row in range(len(known)):
        t = trees[row]
        mine, tries = 0, 0
        while mine < most and tries < 2 * most and known[row].phase != OVER and t.nodes < t.node_room:
            tries += 1
            leaves[count] = known[row]
            s = leaves[count]
            redraw(s, t.seat, next_key(t))
            end = descend(s, t, nodes[row], edges[row], paths[count], exploration, uniform)
            if end == BLOCKED:
                break
            if end == TERMINAL:
                value_outcome(s, v)
                back_up(nodes[row], paths[count], v, np.int64(s.players))
            else:
                owners[count] = row
                count += 1
                mine += 1
    return count


@kernel
def update_leaves(count, leaves, paths, owners, trees, nodes, edges, logits, values, uniform):
    """Back up the values of leaves (float32[count, players]) and give them edges by logits (float32[count, 78]) if any.

    Without logits a node gets its edges on its second visit, from the heuristic.
    """
    v = local(VALUES_DTYPE)
    for place in range(count):
        row = owners[place]
        s, path = leaves[place], paths[place]
        if logits is not None:
            expand_by_logits(s, trees[row], nodes[row], edges[row], path, logits, place, uniform)
        for seat in range(values.shape[1]):
            v.value[seat] = values[place, seat]
        back_up(nodes[row], path, v, np.int64(s.players))


@kernel(inline=False)
def expand_by_logits(s, t, nodes, edges, path, logits, place, uniform):
    """Give the leaf of a path its edges."""
    n = nodes[path.node[path.length - 1]]
    if n.edges != 0:
        return
    first = take_block(t, edges, popcount(path.low) + popcount(path.high))
    if first == 0:
        return
    scores = local(SCORES_DTYPE)
    for action in range(logits.shape[1]):
        scores.score[action] = logits[place, action]
    make_prior(path.low, path.high, scores, uniform)
    fill_block(s, n, edges, path.low, path.high, scores, first, popcount(path.low) + popcount(path.high))


@kernel
def summarise(known, trees, nodes, edges, visits, values):
    """Add up what the trees of rows found for roots alike: visits int64[78] and values float64[79, 4] by decision.

    The values are means over the trees' visits; those of the root come last.
    """
    own = np.zeros(len(visits), np.int64)
    for action in range(len(visits)):
        visits[action] = 0
    values[:] = 0.0
    total = 0
    s = known[0]
    low, high = legal(s)
    seat = np.int64(s.to_move)
    for row in range(len(trees)):
        root = nodes[row, ROOT]
        total += np.int64(root.visits)
        for other in range(np.int64(s.players)):
            values[len(visits), other] += np.float64(root.value[other]) * np.int64(root.visits)
        root_visits(s, trees[row], nodes[row], edges[row], own)
        for action in range(len(visits)):
            if own[action] > 0:
                visits[action] += own[action]
                n = root
                if not is_single(low, high):
                    n = nodes[row, child_of(root, edges[row], key_of(s, seat, action))]
                for other in range(np.int64(s.players)):
                    values[action, other] += np.float64(n.value[other]) * own[action]
    for action in range(len(visits)):
        if visits[action] > 0:
            values[action] /= visits[action]
    if total > 0:
        values[len(visits)] /= total


@kernel
def expected_line(known, trees, nodes, edges, key, least, line):
    """Follow the most visited decisions from a root alike in all rows, in the deal of a key, and return how many.

    least: visits that a decision needs. line: int64[most, 4]: seat, decision, card that it is about or -1, visits.
    """
    work = known[:1].copy()
    s = work[0]
    redraw(s, trees[0].seat, key)
    places = np.full(len(trees), ROOT)
    length = 0
    while length < len(line) and s.phase != OVER:
        low, high = legal(s)
        seat = np.int64(s.to_move)
        best, most, best_key = -1, 0, 0
        if is_single(low, high):
            best, most = only_bit(low, high), least
        else:
            for action in range(PAY + 1):
                mask = low if action < _WORD_BITS else high
                if (mask >> np.uint64(action & 63)) & _ONE == _ZERO:
                    continue
                meaning = key_of(s, seat, action)
                visits = 0
                for row in range(len(trees)):
                    if places[row] != NO_NODE:
                        child = child_of(nodes[row, places[row]], edges[row], meaning)
                        visits += np.int64(nodes[row, child].visits) if child != NO_NODE else 0
                if visits > most:
                    best, most, best_key = action, visits, meaning
            if most >= least:
                for row in range(len(trees)):
                    if places[row] != NO_NODE:
                        places[row] = child_of(nodes[row, places[row]], edges[row], best_key)
        if most < least:
            return length
        line[length, 0] = seat
        line[length, 1] = best
        line[length, 2] = card_of(s, seat, best)
        line[length, 3] = most
        apply(s, best, KEYED)
        length += 1
    return length


@kernel
def card_of(s, seat, action):
    """The card that a decision buys or reserves, -1 if it is about none or about a deck's top."""
    if RESERVE <= action < RESERVE_DECK:
        return np.int64(s.card_at[action - RESERVE])
    if BUY <= action < PASS:
        return np.int64(s.card_at[place_of(seat, action - BUY)])
    return -1


@kernel
def visits_of_trees(known, trees, nodes, edges, visits):
    """Write the visits of every root's decisions to visits: int64[n, 78]; 0 where the game is over."""
    for row in range(len(known)):
        if known[row].phase != OVER:
            root_visits(known[row], trees[row], nodes[row], edges[row], visits[row])


@kernel
def advance_trees(states, actions, trees, nodes, edges, spare_nodes, spare_edges):
    """Advance every tree by a decision (int64[n], -1 for none), before it is applied."""
    for row in range(len(states)):
        if actions[row] >= 0:
            advance_tree(states[row], actions[row], trees[row], nodes[row], edges[row], spare_nodes, spare_edges)


@kernel
def forget_rows(known, trees, rows):
    """Forget in some roots (int64[m]) what their seats to move do not know, and let their trees keep what they do."""
    for place in range(len(rows)):
        row = rows[place]
        seat = np.int64(known[row].to_move)
        forget(known[row], seat)
        trees[row].seat = seat


@kernel
def evaluate_rows(states, values):
    """Write the evaluation of every state, or the shares of the win if it is over, to values: float32[n, players]."""
    v = local(VALUES_DTYPE)
    for row in range(len(states)):
        if states[row].phase == OVER:
            value_outcome(states[row], v)
        else:
            evaluate(states[row], v)
        for seat in range(np.int64(states[row].players)):
            values[row, seat] = v.value[seat]


@kernel
def score_rows(states, scores):
    """Write the heuristic's scores of the legal decisions to scores: float32[n, 78]; others are left alone."""
    r = local(SCORES_DTYPE)
    for row in range(len(states)):
        if states[row].phase == OVER:
            continue
        score_decisions(states[row], r)
        low, high = legal(states[row])
        for action in range(PAY + 1):
            mask = low if action < _WORD_BITS else high
            if (mask >> np.uint64(action & 63)) & _ONE != _ZERO:
                scores[row, action] = r.score[action]
