"""The run: tasks times repeats in rounds, many at once, a record an episode, tables at the end."""
