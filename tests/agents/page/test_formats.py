"""Tables to paste, and numbers for other programs."""

import csv
import io
import re
from pathlib import Path

from agents.evaluation.loaded import load
from agents.evaluation.page.formats import latex, markdown, numbers
from agents.evaluation.page.sections import all_sheets
from agents.evaluation.page.sheet import Column, Sheet
from tests.agents.page import recorded

SHEET = Sheet(
    key="try",
    title="50% of A_1 & B",
    columns=[Column(name="task", number=False), Column(name="won", meaning="100% is all")],
    rows=[["a|b*c", "3"], ["<x>\n{y}\\", "–"], ["all", "4"]],  # noqa: RUF001
    apart=1,
    words=("said #1",),
)


def test_markdown_keeps_every_cell_in_its_place() -> None:
    assert markdown([SHEET]) == (
        "## 50% of A\\_1 & B\n\n"
        "| task | won |\n"
        "| :-- | --: |\n"
        "| a\\|b\\*c | 3 |\n"
        "| \\<x\\> {y}\\\\ | – |\n"  # noqa: RUF001
        "| **all** | **4** |\n"
        "\nsaid \\#1\n"
        "\nwon: 100% is all\n"
    )


def test_markdown_begins_with_what_was_found() -> None:
    assert markdown([SHEET], ["A is *best*.", "  Surely."]).startswith(
        "- A is \\*best\\*.\n- Surely.\n\n## 50%"
    )


def test_latex_is_a_table_of_booktabs_with_everything_escaped() -> None:
    text = latex([SHEET])
    assert r"\caption{50\% of A\_1 \& B. said \#1. won: 100\% is all.}" in text
    assert r"\begin{tabular}{@{}lr@{}}" in text
    assert r"    a\textbar{}b*c & 3 \\" in text
    assert r"    \textless{}x\textgreater{} \{y\}\textbackslash{} & -- \\" in text
    assert text.index(r"\midrule", text.index("a\\textbar")) < text.index("all &")
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1


def runs(tmp_path: Path) -> list[Path]:
    first = [recorded.episode(f"c/{n}", won=n > 0) for n in range(4)]
    second = [recorded.episode(f"c/{n}", won=n > 1) for n in range(3)]
    return [
        recorded.write(tmp_path / "one", first, agent="adaplanner"),
        recorded.write(tmp_path / "two", second, agent="react & more"),
    ]


def test_csv_has_a_line_for_each_run_and_kind_with_numbers_that_programs_read(
    tmp_path: Path,
) -> None:
    found = list(csv.DictReader(io.StringIO(numbers(load(runs(tmp_path))))))
    assert [(row["letter"], row["kind"]) for row in found] == [
        *(("A", "c"), ("A", "all"), ("B", "c"), ("B", "all"))
    ]
    assert (float(found[1]["won_share"]), int(found[1]["evaluated"])) == (0.75, 4)
    assert (found[3]["not_evaluated"], found[3]["random_score"]) == ("1", "")
    assert 0 < float(found[1]["won_low"]) < 0.75 < float(found[1]["won_high"]) < 1


def test_the_same_sheets_stand_in_every_format(tmp_path: Path) -> None:
    loaded = load(runs(tmp_path))
    sheets = all_sheets(loaded)
    titles = [sheet.title for sheet in sheets]
    assert titles[0] == "Runs in corridor with m"
    assert "Compared in corridor, on the same tasks" in titles
    assert "What differs between the protocols in corridor" in titles
    assert "Not evaluated" in titles
    assert all(len(row) == len(sheet.columns) for sheet in sheets for row in sheet.rows)
    keys = [sheet.key for sheet in sheets]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[a-z0-9-]+", key) for key in keys)
    assert markdown(sheets).count("\n## ") == latex(sheets).count(r"\begin{table}") - 1
    assert "react \\& more" in latex(sheets)
