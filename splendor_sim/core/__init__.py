"""The game, compiled: rules, state, kernels. Knows nothing of the rest of the package."""
