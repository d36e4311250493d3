"""Writes the page: one HTML file, and beside it the trajectories where they are many.

Up to `EMBEDDED` the trajectories stand in the file itself, so that it can be sent to somebody and
is whole. Beyond, the file would take a phone too long to open; then they lie in packs in a folder
beside it, and only those that are looked at are read.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from agents.errors import RunFolderError
from agents.evaluation.labels import common_model
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page import compared, sheets, summary
from agents.evaluation.page.figures import figures
from agents.evaluation.page.listing import collect
from agents.evaluation.page.packs import Pack, squeezed
from agents.evaluation.page.plots import plots
from agents.evaluation.page.sections import Section, sections
from agents.evaluation.page.visible import visible
from inference.files import write_atomically

EMBEDDED = 6_000_000
"""Bytes of packs that the page itself holds at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What was written."""

    page: Path
    beside: Path | None
    """The folder of the packs; None where the page holds them."""
    episodes: int


def build(runs: Sequence[LoadedRun], page: Path) -> Built:
    """Write the page of these runs, and remove the packs of an earlier one in its place.

    Raises:
        RunFolderError: its folder cannot be written.
    """
    beside = page.parent / ("data" if page.name == "index.html" else f"{page.stem}.data")
    shelf = _Shelf(beside)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        listing = collect(runs, shelf.keep)
        shelf.clear_old()
        data = {**listing.json(runs), "packs": shelf.known}
        write_atomically(page, _html(runs, data, shelf.embedded).encode(errors="replace"))
    except OSError as error:
        raise RunFolderError(
            f"report {page} cannot be written ({error.strerror}); choose another place: --html FILE"
        ) from error
    return Built(page=page, beside=beside if shelf.files else None, episodes=len(listing.lines))


class _Shelf:
    """Where packs go: they are held until they are too many for the page, then all are files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._size = 0
        self.files = False
        self.embedded: list[Pack] = []
        self.known: list[dict[str, str]] = []

    def keep(self, pack: Pack) -> None:
        self._size += len(pack.text)
        file = f"{pack.number:05d}.js"
        self.known.append({"file": f"{self._folder.name}/{file}", "digest": pack.digest})
        if self._size <= EMBEDDED:
            self.embedded.append(pack)
            return
        self.files = True
        self._folder.mkdir(exist_ok=True)
        for each in (*self.embedded, pack):
            write_atomically(self._folder / f"{each.number:05d}.js", each.script.encode())
        self.embedded = []

    def clear_old(self) -> None:
        """Remove packs that are not of this report, and the folder if it is empty then."""
        if not self._folder.is_dir():
            return
        own = set() if not self.files else {Path(each["file"]).name for each in self.known}
        for path in self._folder.glob("[0-9][0-9][0-9][0-9][0-9].js"):
            if path.name not in own:
                path.unlink()
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


def _html(runs: Sequence[LoadedRun], data: object, packs: Sequence[Pack]) -> str:
    groups = compared.groups(runs)
    found = sections(runs, groups)
    drawn = [*plots(runs), *figures(runs)]
    parts = [
        Section(key="summary", name="Summary", sheets=()),
        *([Section(key="plots", name="Plots", sheets=())] if drawn else []),
        *found,
        Section(key="episodes", name="Episodes", sheets=()),
        Section(key="cards", name="Protocol cards", sheets=()),
    ]
    script = "".join(_file(f"{name}.js") for name in ("base", "episode", "list"))
    environment = Environment(
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    return environment.from_string(_file("page.html.j2")).render(
        title=_title(runs),
        policy=_policy(script),
        style=Markup(_file("page.css")),
        script=Markup(script),
        parts=parts,
        summary=summary.findings(groups),
        overview=sheets.overview(runs),
        plots=drawn,
        sections=found,
        cards=[_card(run) for run in runs],
        version=version("groundling"),
        runs=len(runs),
        data=squeezed(data),
        packs=packs,
    )


def _policy(script: str) -> str:
    """What the browser may do for the page: run its own script, and packs from beside it; load
    nothing else. So even a text that became markup by a mistake of ours could do nothing.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}' 'self' file:; style-src 'unsafe-inline';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _title(runs: Sequence[LoadedRun]) -> str:
    worlds = ", ".join(dict.fromkeys(run.world for run in runs))
    if len(runs) == 1:
        return f"{runs[0].label} in {worlds}"
    model = common_model([run.card for run in runs])
    who = f", {model}" if model == "at random" else f" with {model}" if model else ""
    return f"{len(runs)} runs in {worlds}{who}"


def _card(run: LoadedRun) -> dict[str, str]:
    text = json.dumps(
        {"folder": str(run.folder), **run.card}, indent=1, ensure_ascii=False, sort_keys=True
    )
    return {"name": f"{run.letter}: {run.label}", "text": text}


def _file(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")
