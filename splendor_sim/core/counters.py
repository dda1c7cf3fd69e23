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


@kernel(inline=False)
def count_game(s, first_agent, reserves, totals, turn_counts):
    """Add a game that is over or truncated; agent a sat at seat (first_agent + a) % players.

    reserves: int64[4], reserve decisions by seat. turn_counts: int64[max_turns + 1], games by their number of turns.
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
        agent = seat - first_agent
        if agent < 0:
            agent += players
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
