"""Sheets ready to paste: Markdown and LaTeX, and numbers as CSV for other programs."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Sheet

_LATEX = {
    **{each: f"\\{each}" for each in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"},
    **{NOTHING: "--", "\u202f": r"\,", "−": "$-$", "·": r"\textperiodcentered{}"},  # noqa: RUF001
}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(sheets: Sequence[Sheet], words: Iterable[str] = ()) -> str:
    """Some words as a list, and all sheets, each under its title."""
    told = "".join(f"- {_escaped(each.strip())}\n" for each in words)
    found = "\n".join("\n".join(_markdown(sheet)) + "\n" for sheet in sheets)
    return f"{told}\n{found}" if told else found


def _markdown(sheet: Sheet) -> Iterator[str]:
    yield f"## {_escaped(sheet.title)}\n"
    yield _line([column.name for column in sheet.columns])
    yield _line_of_rules(sheet)
    for number, row in enumerate(sheet.rows):
        bold = number >= len(sheet.rows) - sheet.apart
        yield _line(row, bold=bold)
    for words in (*sheet.words, sheet.legend):
        if words:
            yield f"\n{_escaped(words)}"


def _line(cells: Sequence[str], *, bold: bool = False) -> str:
    told = [_escaped(cell) for cell in cells]
    return f"| {' | '.join(f'**{cell}**' if bold and cell else cell for cell in told)} |"


def _line_of_rules(sheet: Sheet) -> str:
    return f"| {' | '.join('--:' if column.number else ':--' for column in sheet.columns)} |"


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", _one_line(text))


def latex(sheets: Sequence[Sheet]) -> str:
    """All sheets as `table` floats; they need the package booktabs, and say so."""
    return "% \\usepackage{booktabs}\n\n" + "\n".join(_latex(sheet) for sheet in sheets)


def _latex(sheet: Sheet) -> str:
    form = "".join("r" if column.number else "l" for column in sheet.columns)
    body = [_tex_line(row) for row in sheet.rows]
    if 0 < sheet.apart < len(body):
        body.insert(len(body) - sheet.apart, r"\midrule")
    caption = " ".join(
        f"{words.rstrip('.')}." for words in (sheet.title, *sheet.words, sheet.legend) if words
    )
    return "\n".join(
        (
            r"\begin{table}",
            r"  \centering",
            f"  \\caption{{{_tex(caption)}}}",
            f"  \\label{{tab:{sheet.key}}}",
            f"  \\begin{{tabular}}{{@{{}}{form}@{{}}}}",
            r"    \toprule",
            f"    {_tex_line([column.name for column in sheet.columns])}",
            r"    \midrule",
            *(f"    {line}" for line in body),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        )
    )


def _tex_line(cells: Sequence[str]) -> str:
    return f"{' & '.join(_tex(cell) for cell in cells)} \\\\"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(each, each) for each in _one_line(text))


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\u202f" else " " for c in text)


CSV_OF_RUN = ("letter", "run", "folder", "world", "agent", "model", "engine", "seed")
CSV_OF_RESULT = (
    *("kind", "name", "evaluated", "not_evaluated", "won", "score", "clamped", "best", "failures"),
    *("steps", "invalid_share", "legal_share"),
)
CSV_DERIVED = ("won_share", "won_low", "won_high", "random_won_share", "random_score")


def numbers(runs: Sequence[LoadedRun]) -> str:
    """CSV: a line for each run and kind of tasks, shares from 0 to 1, empty where there is no
    number.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*CSV_OF_RUN, *CSV_OF_RESULT, *CSV_DERIVED))
    for run in runs:
        protocol = run.protocol
        named = (
            *(run.letter, run.label, run.folder, run.world),
            run.card["setting"].get("agent", protocol["agent"]["planner"]["name"]),
            *(protocol["model"]["name"], protocol["engine"]["name"], protocol["seed"]),
        )
        for result in run.found:
            chance = run.random_result(result.kind)
            interval = result.success
            writer.writerow(
                (
                    *named,
                    *(getattr(result, name) for name in CSV_OF_RESULT),
                    result.won_share,
                    *((interval.low, interval.high) if interval else (None, None)),
                    *((chance.won_share, chance.score) if chance else (None, None)),
                )
            )
    return out.getvalue()
