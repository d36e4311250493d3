"""Figures of matplotlib as parts of a page: its text stays text, its colours follow the page's."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.figure import Figure

INK, FAINT, GRID, ACCENT, CHANCE = "#010203", "#020304", "#030405", "#040506", "#050607"
"""Stand for the page's colours until the picture is placed: no other line or text has them."""
SERIES = ("#060708", "#07080a", "#08090a", "#090a0b", "#0a0b0c", "#0b0c0d")
"""Of runs, in turn."""
PAPER = "#0c0d0e"
"""The page's background."""
_VARIABLES = {
    **{INK: "ink", FAINT: "faint", GRID: "line", ACCENT: "accent", CHANCE: "chance"},
    **{colour: f"series-{number}" for number, colour in enumerate(SERIES)},
    PAPER: "paper",
}
_SETTINGS = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 10.5,
    "axes.edgecolor": GRID,
    "axes.labelcolor": FAINT,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "text.color": INK,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": FAINT,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Figures made and saved in here look as the page does, whatever the user's own settings."""
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def placed(figure: Figure, name: str, described: str) -> str:
    """The figure as an `svg` element. `name` keeps its ids apart from those of other figures;
    `described` is what it shows, for who cannot see it.
    """
    name = re.sub(r"[^A-Za-z0-9-]", "-", name)
    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(r"(font: [\d.]+px) [^;\"]*", r"\1 inherit", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    width = figure.get_figwidth() * 72
    head = f'<svg role="img" aria-label="{described}" style="max-width: {width:.0f}pt"'
    return re.sub(r'^<svg [^>]*?(viewBox="[^"]*")[^>]*>', lambda found: f"{head} {found[1]}>", text)
