"""The page as a file: what is in it, what is beside it, what of hostile records reaches it."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agents.errors import RunFolderError
from agents.evaluation.loaded import load
from agents.evaluation.page import build as building
from agents.evaluation.page import packs
from agents.evaluation.page.build import Built, build
from agents.evaluation.page.packs import opened, squeezed
from agents.evaluation.page.visible import visible
from agents.evaluation.records import picture
from tests.agents.page import recorded

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028\x1b[31m\u202e"


def built(tmp_path: Path, *folders: Path) -> Built:
    runs = load(folders)
    return build(runs, tmp_path / "page" / "index.html")


def embedded(page: Path, name: str) -> Any:
    text = page.read_text(encoding="utf-8")
    found = re.search(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]*)</script>', text)
    assert found, name
    return opened(found[1])


def lines(page: Path) -> list[dict[str, Any]]:
    data = embedded(page, "data")
    return [dict(zip(data["fields"], values, strict=True)) for values in data["lines"]]


class Tags(HTMLParser):
    """Which elements a page has, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.references += [value or "" for key, value in attrs if key in ("src", "href")]


def tags(page: Path) -> Tags:
    found = Tags()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def test_a_page_of_few_episodes_is_one_whole_file(tmp_path: Path) -> None:
    folder = recorded.write(tmp_path / "run", [recorded.full(), recorded.episode("c/1")], tasks=2)
    found = built(tmp_path, folder)
    assert (found.beside, found.episodes) == (None, 2)
    assert [path.name for path in found.page.parent.iterdir()] == ["index.html"]
    told = embedded(found.page, "pack-0")
    assert [each["id"] for each in told] == ["c/0#0", "c/1#0"]
    first, second = lines(found.page)
    assert (first["pack"], first["index"], second["index"]) == (0, 0, 1)


def test_a_page_refers_to_nothing_but_itself(tmp_path: Path) -> None:
    folder = recorded.write(tmp_path / "run", [recorded.full()], tasks=1)
    found = tags(built(tmp_path, folder).page)
    assert all(each.startswith(("#", "data:,")) for each in found.references)
    assert not {"iframe", "object", "embed", "base", "form action"} & set(found.names)


def test_many_trajectories_lie_in_packs_beside_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "EMBEDDED", 2000)
    monkeypatch.setattr(packs, "PACK_BYTES", 4000)
    episodes = [recorded.full(f"c/{number}") for number in range(12)]
    folder = recorded.write(tmp_path / "run", episodes, tasks=12)
    found = built(tmp_path, folder)
    assert found.beside == found.page.parent / "data"
    files = sorted(found.beside.iterdir())
    assert len(files) > 2
    assert "pack-0" not in found.page.read_text(encoding="utf-8")
    known = embedded(found.page, "data")["packs"]
    for number, (path, entry) in enumerate(zip(files, known, strict=True)):
        call = re.fullmatch(
            r'groundlingPack\((\d+),"([0-9a-f]+)","([A-Za-z0-9+/=]+)"\)\n', path.read_text()
        )
        assert call
        assert (int(call[1]), entry["file"]) == (number, f"data/{path.name}")
        assert entry["digest"] == call[2]
    last = lines(found.page)[-1]
    call_text = files[last["pack"]].read_text().split('"')[3]
    assert opened(call_text)[last["index"]]["id"] == "c/11#0"


def test_packs_of_an_earlier_page_are_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = recorded.write(tmp_path / "run", [recorded.full(f"c/{n}") for n in range(4)])
    monkeypatch.setattr(building, "EMBEDDED", 0)
    beside = built(tmp_path, folder).beside
    assert beside is not None and list(beside.iterdir())
    (beside / "mine.txt").write_text("kept")
    monkeypatch.undo()
    assert built(tmp_path, folder).beside is None
    assert [path.name for path in beside.iterdir()] == ["mine.txt"]


def test_hostile_texts_are_no_markup_wherever_they_come_from(tmp_path: Path) -> None:
    steps = [recorded.step(HOSTILE, HOSTILE, thoughts=(HOSTILE,))]
    episode = recorded.episode("c/0", steps=steps, goal=HOSTILE)
    folder = recorded.write(tmp_path / "run", [episode], tasks=1, model=HOSTILE, agent=HOSTILE)
    page = built(tmp_path, folder, recorded.write(tmp_path / "b", [episode], tasks=1)).page
    text = page.read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text
    assert not set(text) & set("\u2028\x1b\u202e")
    assert "img" not in tags(page).names
    assert tags(page).names.count("script") == 3, "data, a pack, and the page's own"
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    (told, _) = embedded(page, "pack-0")
    assert told["goal"] == HOSTILE


def test_what_cannot_be_seen_is_shown_by_its_number() -> None:
    assert visible("a\x00b\u202e\n\tc") == "a⟨U+0000⟩b⟨U+202E⟩\n\tc"


def test_data_survive_packing_but_for_half_characters() -> None:
    data = {"text": "</script>\u2028\x00ü€😀", "half": "\ud800", "number": [1, None, 0.5]}
    assert opened(squeezed(data)) == {**data, "half": "?"}


def test_the_page_runs_no_script_but_its_own(tmp_path: Path) -> None:
    folder = recorded.write(tmp_path / "run", [recorded.episode()], tasks=1)
    text = built(tmp_path, folder).page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe-inline" not in policy[1].partition("style-src")[0]


# ---- records that are not what they should be


def doctored(folder: Path, change: Any) -> None:
    path = folder / "episodes.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows, folder)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (
            lambda rows, folder: (folder / rows[0]["trajectory"]).unlink(),
            "trajectories/c_0.0.json cannot be read: No such file or directory",
        ),
        (
            lambda rows, folder: (folder / rows[0]["trajectory"]).write_text("{}"),
            "trajectories/c_0.0.json is no trajectory: 'steps'",
        ),
        (
            lambda rows, folder: rows[0].update(trajectory="../secret.json"),
            "../secret.json is not in the run folder",
        ),
        (
            lambda rows, folder: rows[0].update(trajectory_sha256="0" * 64),
            "this is not the file that was written when the episode ended",
        ),
    ],
)
def test_a_record_that_is_not_what_was_written_is_named_and_the_others_are_shown(
    tmp_path: Path, change: Any, wrong: str
) -> None:
    folder = recorded.write(
        tmp_path / "run", [recorded.episode("c/0"), recorded.episode("c/1")], tasks=2
    )
    (tmp_path / "secret.json").write_text(json.dumps(recorded.episode().to_json()))
    doctored(folder, change)
    first, second = lines(built(tmp_path, folder).page)
    assert first["wrong"] == wrong
    assert (first["pack"] == -1) == ("when the episode ended" not in wrong)
    assert (second["wrong"], second["pack"]) == ("", 0)


def test_a_picture_is_taken_into_the_page_only_if_it_is_one_and_of_this_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for place in (folder / "a.png", tmp_path / "outside.png"):
        place.write_bytes(PNG)
    (folder / "b.png").write_text("<svg onload=alert(1)>")
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    address = picture(folder, "a.png")
    assert base64.b64decode(address.removeprefix("data:image/png;base64,")) == PNG
    for name in ("b.png", "../outside.png", "link.png", "none.png", str(tmp_path / "outside.png")):
        assert picture(folder, name) == ""


def test_what_is_not_evaluated_is_in_the_list(tmp_path: Path) -> None:
    folder = recorded.write(tmp_path / "run", [recorded.episode("c/0", won=False)], tasks=2)
    first, second = lines(built(tmp_path, folder).page)
    assert (first["state"], second["state"], second["task"]) == (1, 2, "c/1")
    assert (second["cause"], second["wrong"]) == ("infrastructure", "not run yet")
    assert second["pack"] == -1


def test_a_place_that_cannot_be_written_is_named_in_one_line(tmp_path: Path) -> None:
    folder = recorded.write(tmp_path / "run", [recorded.episode()], tasks=1)
    (tmp_path / "page").write_text("a file")
    with pytest.raises(RunFolderError, match=r"index\.html cannot be written .*--html FILE"):
        built(tmp_path, folder)
