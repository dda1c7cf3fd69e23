"""An agent in Python: buys what it can, else takes what a card it has set its heart on still lacks.

Play it from this folder:

    splendor-sim match patient:Patient greedy --deals 100
"""

import random

import numpy as np

import splendor_sim as ss
from splendor_sim.core.cards import CARD_BONUS, CARD_COST, CARD_PRESTIGE


class Patient:
    """Decides from the position alone; ties are broken at random."""

    def __init__(self, players, rules):
        """Made once, with the number of seats and the rules of all games to come."""
        self.players, self.rules = players, rules
        self.random = random.Random(0)

    def start(self, seat, seed):
        """Called before each game; optional. The same game of a match brings the same seed."""
        self.random.seed(seed)

    def choose(self, view):
        """Return one of view.legal_actions, or its name."""
        names = {action: ss.action_name(action) for action in view.legal_actions}
        buys = [action for action, name in names.items() if name.startswith("buy")]
        if buys:
            return max(buys, key=lambda action: (CARD_PRESTIGE[self.card(view, names[action])], self.random.random()))
        takes = [action for action, name in names.items() if name.startswith("take")]
        if not takes:
            return self.random.choice(view.legal_actions)
        lacking = self.lacking(view)
        return max(takes, key=lambda action: (self.useful(names[action], lacking), self.random.random()))

    def card(self, view, name):
        """The card that a decision `buy level.slot` or `buy reserved.place` is about."""
        row, place = name.split()[1].split(".")
        if row == "reserved":
            return view.position["seats"][view.seat]["reserved"][int(place) - 1]["card"]
        return view.position["board"][int(row) - 1][int(place) - 1]

    def lacking(self, view):
        """By colour, the tokens that the card that lacks the fewest still lacks."""
        mine = view.position["seats"][view.seat]
        means = np.array(mine["tokens"][:5]) + np.bincount(CARD_BONUS[mine["cards"]], minlength=5)[:5]
        cards = [card for row in view.position["board"] for card in row if card is not None]
        short = np.maximum(CARD_COST[cards] - means, 0)
        return short[short.sum(axis=1).argmin()] if cards else np.zeros(5, int)

    def useful(self, name, lacking):
        """How many of the tokens of a take are lacking."""
        taken = [name.split()[1].count(colour) for colour in "wugrk"]
        return int(np.minimum(taken, lacking).sum())
