"""What is counted while games are played: integers alone, so that totals of blocks add up exactly in any order."""

import numpy as np

from splendor_sim.core.engine import is_deadlocked, winners
from splendor_sim.core.jit import kernel, popcount
from splendor_sim.core.state import OVER

_by_agent_and_seat = (4, 4)

# All counts are int64; "by agent and seat" is indexed [agent, seat] with agents by their place in the run's list.
TOTALS_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("games", "i8"),
                ("deadlocked", "i8"),  # games that ended because every seat passed
                ("truncated", "i8"),  # games stopped at the limit of turns: no win is counted
                ("turns", "i8"),
                ("played", "i8", _by_agent_and_seat),  # games in which this agent sat here
                ("wins", "i8", (4, 4, 4)),  # [agent, seat, winners - 1]: games won together with so many others
                # Sums over games, and sums of squares, of what each seat has at the end.
                ("prestige", "i8", _by_agent_and_seat),
                ("prestige_squared", "i8", _by_agent_and_seat),
                ("cards", "i8", _by_agent_and_seat),
                ("cards_squared", "i8", _by_agent_and_seat),
                ("nobles", "i8", _by_agent_and_seat),
                ("nobles_squared", "i8", _by_agent_and_seat),
                ("reserves", "i8", _by_agent_and_seat),
                ("reserves_squared", "i8", _by_agent_and_seat),
            ]
        ),
    )
)

# How a game ended; forfeited by an agent that failed, in matches alone.
FINISHED, DEADLOCKED, TRUNCATED, FORFEITED = 0, 1, 2, 3
ENDING_NAMES = ("finished", "deadlocked", "truncated", "forfeited")

_by_seat = (4,)

# One game. Absent seats hold 0.
RECORD_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("index", "i8"),  # of the game in its run
                ("key", "u8"),  # of its deal
                ("turns", "u4"),
                ("ending", "u1"),  # FINISHED, DEADLOCKED, TRUNCATED or FORFEITED
                ("winners", "u1"),  # set of seats, empty if truncated
                ("agents", "u1", _by_seat),  # who sat there
                ("prestige", "u1", _by_seat),
                ("cards", "u1", _by_seat),
                ("nobles", "u1", _by_seat),
                ("reserves", "u1", _by_seat),  # reserve decisions
            ]
        ),
    )
)


@kernel
def ending_of(s):
    """How a game ended that is over or truncated."""
    if s.phase != OVER:
        return TRUNCATED
    return DEADLOCKED if is_deadlocked(s) else FINISHED


@kernel(inline=False)
def record_game(s, game, record):
    """Write the record of a game that is over or truncated; `game` is a record of playout.GAME_DTYPE."""
    record.index = game.index
    record.key = s.key
    record.turns = s.turn
    record.ending = ending_of(s)
    record.winners = winners(s) if s.phase == OVER else 0
    for seat in range(4):
        seated = seat < s.players
        record.agents[seat] = game.agents[seat] if seated else 0
        record.prestige[seat] = s.prestige[seat]
        record.cards[seat] = s.bought[seat]
        record.nobles[seat] = popcount(np.uint64(s.visited[seat]))
        record.reserves[seat] = game.reserves[seat] if seated else 0


@kernel(inline=False)
def count_game(s, agents, reserves, totals, turn_counts):
    """Add a game that is over or truncated.

    agents: int64[4], the agent at each seat. reserves: int64[4], reserve decisions by seat.
    turn_counts: int64[max_turns + 1], games by their number of turns.
    """
    players = np.int64(s.players)
    totals.games += 1
    totals.turns += np.int64(s.turn)
    turn_counts[np.int64(s.turn)] += 1
    won = 0
    if s.phase != OVER:
        totals.truncated += 1
    else:
        won = winners(s)
        if is_deadlocked(s):
            totals.deadlocked += 1
    sharers = popcount(np.uint64(won)) - 1
    for seat in range(players):
        agent = agents[seat]
        totals.played[agent, seat] += 1
        if (won >> seat) & 1 != 0:
            totals.wins[agent, seat, sharers] += 1
        prestige = np.int64(s.prestige[seat])
        cards = np.int64(s.bought[seat])
        nobles = popcount(np.uint64(s.visited[seat]))
        totals.prestige[agent, seat] += prestige
        totals.prestige_squared[agent, seat] += prestige * prestige
        totals.cards[agent, seat] += cards
        totals.cards_squared[agent, seat] += cards * cards
        totals.nobles[agent, seat] += nobles
        totals.nobles_squared[agent, seat] += nobles * nobles
        totals.reserves[agent, seat] += reserves[seat]
        totals.reserves_squared[agent, seat] += reserves[seat] * reserves[seat]
