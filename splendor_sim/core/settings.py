"""SETTINGS_DTYPE: how an agent decides, as kernels read it."""

import numpy as np

SEARCH = 100  # as a policy: searches a tree; the others are in policies.py
TO_THE_END = -1  # as `turns`: a leaf's value is the outcome of a playout

# What search uses where nothing else is asked for; exploration by kind of leaf, since the noise of a leaf decides it.
EXPLORATION = {"evaluation": 0.4, "playout": 1.5}
UNIFORM = 0.4

SETTINGS_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("policy", "i8"),  # a number of policies.POLICIES, or SEARCH
                ("epsilon", "u8"),  # share of its decisions made at random instead, times 2**32
                # Search: what one simulation is, and how many a decision.
                ("simulations", "i8"),
                ("leaf_policy", "i8"),  # who plays from a leaf on
                ("leaf_epsilon", "u8"),  # share of those decisions made at random, times 2**32
                ("turns", "i8"),  # so many turns before the evaluation, or TO_THE_END
                ("exploration", "f4"),  # weight of the prior against values
                ("uniform", "f4"),  # part of the prior that all decisions share evenly
            ]
        ),
    )
)
