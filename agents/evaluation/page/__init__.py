"""What a report shows of runs: sheets of numbers, plots, and one page with every trajectory.

`summary`, `sections` and `plots` say what is in runs (`agents.evaluation.loaded`); `formats` writes
sheets as Markdown, LaTeX and CSV; `build` writes the page. Whatever a model, a world or a folder's
name put into a record is text here and nothing else: it reaches the page only inside compressed
JSON or through a template that escapes, and the page's policy runs no script but its own.
"""
