"""Blocks of games in which some agents search: play_any_block with a tree at each seat that does."""

import numpy as np

from splendor_sim.core.actions import BUY, RESERVE
from splendor_sim.core.engine import KEYED, apply, clear
from splendor_sim.core.jit import kernel
from splendor_sim.core.playout import GAME_DTYPE, apply_with_balance, end_game, next_word, pack_orders, start
from splendor_sim.core.policies import choose_noisily
from splendor_sim.core.search import EDGE_DTYPE, NODE_DTYPE, TREE_DTYPE, advance_tree, clear_tree, decide_by_search
from splendor_sim.core.settings import SEARCH
from splendor_sim.core.state import OVER, STATE_DTYPE

_KEPT = 4  # room of a tree by what is searched for one decision: what is kept of earlier ones is seldom more
_EDGES = 16  # room for edges by nodes; what does not fit makes a leaf again


@kernel
def play_search_block(
    template, settings, seed, first, count, orders, paired, max_turns, totals, turn_counts, balance, records
):
    """Play a block as play_any_block does, with agents that search among them; each keeps its tree for a game."""
    states = template.copy()
    games = np.empty(1, GAME_DTYPE)
    s, game = states[0], games[0]
    clear(s)
    cleared = states.copy()
    known, work, trees, nodes, edges = make_room(settings)
    seated = pack_orders(orders)
    k = len(seated)
    for index in range(first, first + count):
        states[0] = cleared[0]
        start(s, game, seed, index, seated[index % k], index // k if paired else index)
        game.sink = 0
        for seat in range(np.int64(s.players)):
            clear_tree(trees[seat], nodes[seat], edges[seat], seat, np.uint64(0))
        while s.phase != OVER and s.turn < max_turns:
            seat = np.int64(s.to_move)
            agent = settings[game.agents[seat]]
            word = next_word(game, seat)
            if agent.policy == SEARCH:
                action = decide_by_search(s, seat, agent, word, known, work, trees, nodes, edges)
            else:
                action = choose_noisily(agent.policy, agent.epsilon, s, word)
            for other in range(np.int64(s.players)):
                if settings[game.agents[other]].policy == SEARCH:
                    advance_tree(s, action, trees[other], nodes[other], edges[other], nodes[4], edges[4])
            if balance is None:
                if RESERVE <= action < BUY:
                    game.reserves[seat] += 1
                apply(s, action, KEYED)
            else:
                apply_with_balance(s, game, seat, action, balance[0])
        end_game(s, game, totals, turn_counts, balance, records, first)


@kernel(inline=False)
def make_room(settings):
    """What decide_by_search needs for the agents of a game: known, work, trees, nodes, edges."""
    most = 16
    for agent in range(len(settings)):
        if settings[agent].policy == SEARCH:
            most = max(most, settings[agent].simulations)
    room = _KEPT * most + 64
    return (
        np.empty(4, STATE_DTYPE),
        np.empty(1, STATE_DTYPE),
        np.empty(4, TREE_DTYPE),
        np.empty((5, room), NODE_DTYPE),
        np.empty((5, _EDGES * room), EDGE_DTYPE),
    )
