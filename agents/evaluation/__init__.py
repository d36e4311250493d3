"""The run: tasks times repeats, many episodes at once, one record each, a table at the end."""
