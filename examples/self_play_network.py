"""A small network that learns Splendor for two seats by self-play, in numpy alone.

It begins with random weights and no knowledge but the rules. Games are played by tree searches whose leaves the network
values (`ss.Forest`); then the network learns from them: how often the searches visited each decision, and who won.

    python examples/self_play_network.py --minutes 3
"""

import argparse
import time

import numpy as np

import splendor_sim as ss

PLAYERS, HIDDEN = 2, 128
GAMES = 128  # played side by side
SEARCHED = 32  # simulations a decision
BATCH, STEPS = 512, 8  # examples a step of learning, and steps after each decision of all games
MEMORY = 60_000  # examples that are learned from, the latest


class Network:
    """Observation -> hidden layer -> a logit for each decision, and the share of the win of the seat that sees it."""

    def __init__(self, rng):
        self.weights = {
            "in": rng.normal(0, (2 / ss.OBSERVATION_SIZE) ** 0.5, (ss.OBSERVATION_SIZE, HIDDEN)),
            "in_bias": np.zeros(HIDDEN),
            "out": rng.normal(0, 0.01, (HIDDEN, ss.ACTION_COUNT + 1)),
            "out_bias": np.zeros(ss.ACTION_COUNT + 1),
        }
        self.weights = {name: array.astype(np.float32) for name, array in self.weights.items()}
        # Adam: running means of gradients and of their squares.
        self.means = {name: np.zeros_like(array) for name, array in self.weights.items()}
        self.squares = {name: np.zeros_like(array) for name, array in self.weights.items()}
        self.steps = 0

    def forward(self, observations):
        """From uint8[m, size] the input, the hidden layer, the logits [m, 78] and the share of the win [m]."""
        seen = np.minimum(observations, 16).astype(np.float32) / 4  # counts are small, but card ids and rounds are not
        hidden = np.maximum(seen @ self.weights["in"] + self.weights["in_bias"], 0)
        out = hidden @ self.weights["out"] + self.weights["out_bias"]
        return seen, hidden, out[:, :-1], 1 / (1 + np.exp(-out[:, -1]))

    def learn(self, observations, masks, policies, shares, rate=1e-3):
        """One step of Adam on the cross entropies of the policy, of legal decisions, and of the share of the win."""
        seen, hidden, logits, value = self.forward(observations)
        error = np.empty((len(seen), ss.ACTION_COUNT + 1), np.float32)
        error[:, :-1] = softmax(logits, masks) - policies
        error[:, -1] = value - shares
        error /= len(seen)
        back = error @ self.weights["out"].T * (hidden > 0)
        gradients = {"in": seen.T @ back, "in_bias": back.sum(0), "out": hidden.T @ error, "out_bias": error.sum(0)}
        self.steps += 1
        for name, gradient in gradients.items():
            self.means[name] += 0.1 * (gradient - self.means[name])
            self.squares[name] += 0.001 * (gradient**2 - self.squares[name])
            mean, square = self.means[name] / (1 - 0.9**self.steps), self.squares[name] / (1 - 0.999**self.steps)
            self.weights[name] -= rate * mean / (np.sqrt(square) + 1e-8)


def softmax(logits, masks):
    """Shares of the legal decisions."""
    exponents = np.where(masks, np.exp(logits - np.where(masks, logits, -np.inf).max(axis=1, keepdims=True)), 0)
    return exponents / exponents.sum(axis=1, keepdims=True)


def by_seat(value, seats):
    """The network tells the share of the seat that decides; a forest wants them by the seats' numbers: [m, 2]."""
    values = np.empty((len(value), PLAYERS), np.float32)
    rows = np.arange(len(value))
    values[rows, seats], values[rows, 1 - seats] = value, 1 - value
    return values


def search(forest, network, simulations):
    """Grow every tree of a forest until its root has had so many visits, or no leaf is left to value."""
    while True:
        busy = forest.visits().sum(axis=1) < simulations
        leaves = forest.select(4)  # four at once, so that the network is asked less often
        _, _, logits, value = network.forward(leaves.observations)
        forest.update(logits, by_seat(value, leaves.seat))
        if not len(leaves) or not (busy & ~forest.is_over).any():
            return


class SelfPlay:
    """Games under way; `step` makes a decision in each, and gives the examples of the games that ended."""

    def __init__(self, network, rng):
        self.network, self.rng = network, rng
        self.forest = ss.Forest(
            ss.deal(GAMES, PLAYERS, seed=int(rng.integers(2**32))), seed=1, room=1024, exploration=1.5
        )
        self.stories = [[] for _ in range(GAMES)]

    def step(self):
        forest = self.forest
        leaves = forest.select(1)  # a root must have been looked at before it gets noise
        _, _, logits, value = self.network.forward(leaves.observations)
        forest.update(logits, by_seat(value, leaves.seat))
        forest.add_noise(alpha=0.5, share=0.25, seed=self.seed())
        search(forest, self.network, SEARCHED)
        observations, masks = ss.observe(forest.states), ss.legal_mask(forest.states)
        policies = forest.policy().astype(np.float32)
        for row in np.flatnonzero(masks.sum(axis=1) > 1):  # a forced decision teaches nothing
            seat = int(forest.states["to_move"][row])
            self.stories[row].append((seat, observations[row], masks[row], policies[row]))
        shares = forest.advance(forest.sample(temperature=1.0, seed=self.seed()))
        over = np.flatnonzero(forest.is_over | (forest.states["turn"] >= 200))  # what is stopped then has no winner
        examples = []
        for row in over:
            outcome = shares[row] if forest.is_over[row] else np.full(PLAYERS, 1 / PLAYERS)
            examples += [(*example, outcome[seat]) for seat, *example in self.stories[row]]
            self.stories[row] = []
        if len(over):
            forest.reset(over, ss.deal(len(over), PLAYERS, seed=self.seed()))
        return examples

    def seed(self):
        return int(self.rng.integers(2**63))


class Memory:
    """The latest examples, as arrays."""

    def __init__(self):
        self.arrays = (
            np.zeros((MEMORY, ss.OBSERVATION_SIZE), np.uint8),
            np.zeros((MEMORY, ss.ACTION_COUNT), np.bool_),
            np.zeros((MEMORY, ss.ACTION_COUNT), np.float32),
            np.zeros(MEMORY, np.float32),
        )
        self.written = 0

    def add(self, examples):
        for example in examples:
            for array, part in zip(self.arrays, example):
                array[self.written % MEMORY] = part
            self.written += 1

    def draw(self, rng):
        rows = rng.integers(min(self.written, MEMORY), size=BATCH)
        return [array[rows] for array in self.arrays]


def win_share(network, opponent, simulations=0, pairs=100):
    """The network's share of the wins against a policy, with its 95 % interval; both play each deal from both seats.

    Without simulations it makes the decision with the highest logit. The opponent plays its turns by `ss.playout`,
    which can stop a game after any turn. A game of 200 turns is stopped, and won by nobody.
    """
    states = np.concatenate([ss.deal(pairs, PLAYERS, seed=9)] * 2)
    mine = np.repeat([0, 1], pairs)
    won = np.zeros(2 * pairs)
    for turn in range(200):
        for moves in (True, False):
            rows = np.flatnonzero(
                (states["phase"] != 4) & ((states["to_move"] == mine) == moves) & (states["turn"] == turn)
            )
            while moves and len(rows):  # a turn may take several decisions
                won[rows] += ss.step(part := states[rows], choose(network, part, simulations))[0][
                    range(len(rows)), mine[rows]
                ]
                states[rows] = part
                rows = rows[(part["phase"] != 4) & (part["turn"] == turn)]
            if len(rows):
                part = states[rows]
                won[rows] += ss.playout(part, turn, opponent, max_turns=turn + 1)[range(len(rows)), mine[rows]]
                states[rows] = part
    shares = won.reshape(2, pairs).mean(axis=0)  # by deal: the two games of one are no independent ones
    return shares.mean(), 1.96 * shares.std(ddof=1) / pairs**0.5


def choose(network, states, simulations):
    """The network's decision in every state."""
    if simulations:
        forest = ss.Forest(states, seed=3, room=1024, exploration=1.5)
        search(forest, network, simulations)
        return forest.sample(temperature=0)
    _, _, logits, _ = network.forward(ss.observe(states))
    return np.where(ss.legal_mask(states), logits, -np.inf).argmax(axis=1)


def report(network, minutes, decisions):
    """Print one line: how strong the network is now."""
    parts = []
    for simulations in (0, SEARCHED):
        for opponent in ("random", "greedy"):
            share, half = win_share(network, opponent, simulations, pairs=50 if simulations else 200)
            parts.append(f"{opponent} {100 * share:5.1f} % ± {100 * half:4.1f}")
    alone, searching = ", ".join(parts[:2]), ", ".join(parts[2:])
    print(f"{minutes:5.1f} min, {decisions:7,} decisions | alone: {alone} | searching: {searching}", flush=True)


def main():
    """Play and learn by turns."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=3.0, help="time for play and learning, tests left out")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    network, memory = Network(rng), Memory()
    play = SelfPlay(network, rng)
    play.step()  # compiles, if need be
    print("share of the wins against each policy, the network alone and with a search")
    spent, next_report = 0.0, 0.0
    while True:
        if spent >= next_report or spent >= 60 * options.minutes:
            report(network, spent / 60, memory.written)
            next_report += 60 * options.minutes / 6
        if spent >= 60 * options.minutes:
            return
        began = time.perf_counter()
        memory.add(play.step())
        if memory.written > 2000:
            for _ in range(STEPS):
                network.learn(*memory.draw(rng))
        spent += time.perf_counter() - began


if __name__ == "__main__":
    main()
