"""`groundling report`: where the page goes, what the files hold, what is refused."""

from pathlib import Path

import pytest

from agents.cli import main
from tests.agents.page import recorded


def run(folder: Path, **changed: str) -> str:
    episodes = [recorded.episode(f"c/{n}", won=n > 0) for n in range(4)]
    return str(recorded.write(folder, episodes, **changed))


def report(*words: str) -> int:
    return main(["report", *words])


def test_the_page_of_one_run_goes_into_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(tmp_path / "r")
    assert report(folder, "--html") == 0
    page = tmp_path / "r" / "report" / "index.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert f"page: {page} (4 episodes)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "page"), [("out", "out/index.html"), ("a/b.html", "a/b.html"), ("x.htm", "x.htm")]
)
def test_the_page_goes_where_it_is_told(tmp_path: Path, place: str, page: str) -> None:
    assert report("--html", str(tmp_path / place), run(tmp_path / "r"), run(tmp_path / "s")) == 0
    assert (tmp_path / page).is_file()


def test_pages_of_several_runs_need_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(run(tmp_path / "r"), run(tmp_path / "s"), "--html") == 1
    assert "2 runs have no folder in common" in capsys.readouterr().err


def test_a_run_folder_is_not_taken_for_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(tmp_path / "r")
    assert report(run(tmp_path / "s"), "--html", folder) == 1
    assert "that is a run folder; write --html last" in capsys.readouterr().err


def test_tables_go_into_files_in_every_form_at_once(tmp_path: Path) -> None:
    out = tmp_path / "new"
    code = report(
        run(tmp_path / "r"),
        *("--markdown", str(out / "a.md"), f"--latex={out / 'a.tex'}", "--csv", str(out / "a.csv")),
    )
    assert code == 0
    text = (out / "a.md").read_text(encoding="utf-8")
    assert text.startswith("- corridor: A: adaplanner, m: 3 of 4 won (30%-95%).\n")
    assert "\n## Runs in corridor\n" in text
    assert r"\toprule" in (out / "a.tex").read_text(encoding="utf-8")
    assert (out / "a.csv").read_text(encoding="utf-8").startswith("letter,run,folder,world")


@pytest.mark.parametrize("words", [[], ["--csv"], ["r", "--pdf", "x"], ["r", "--csv", "--html"]])
def test_words_that_mean_nothing_are_answered_with_the_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(*words) == 2
    assert capsys.readouterr().err.startswith("usage: groundling report RUN_DIR ...")


def test_a_file_that_cannot_be_written_is_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert report(run(tmp_path / "r"), "--csv", str(tmp_path / "file" / "a.csv")) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--csv" in said and "name another file" in said


def test_several_runs_are_compared_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [run(tmp_path / "r"), run(tmp_path / "s", agent="react")]
    assert report(*folders) == 0
    said = capsys.readouterr().out
    assert "Level at the top: A (adaplanner), B (react), each 3 of 4 won" in said


def test_unlike_runs_are_compared_with_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = recorded.write(tmp_path / "s", [recorded.episode("c/0")], tasks=2)
    assert report(run(tmp_path / "r"), str(other)) == 3
    said = capsys.readouterr().out
    assert "Of another protocol than the runs above (tasks)" in " ".join(said.split())
    assert "better than" not in said


def test_a_run_without_any_episode_has_a_page(tmp_path: Path) -> None:
    folder = recorded.write(tmp_path / "r", [], tasks=2)
    assert report(str(folder), "--html") == 3
    text = (tmp_path / "r" / "report" / "index.html").read_text(encoding="utf-8")
    assert "Nothing is evaluated yet." in text
