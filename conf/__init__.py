"""Hydra's configuration: a group per noun, a dataclass schema behind every file."""
