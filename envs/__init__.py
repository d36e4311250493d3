"""Worlds: actions go in, observations come out. Knows nothing of models or agents."""
