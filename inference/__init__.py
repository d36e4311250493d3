"""Engines: from messages and a grammar to text. Knows nothing of agents or worlds."""
