"""One kitchen for the tests of plans, and the worked examples as answers to a form's blanks."""

from collections.abc import Sequence
from importlib import resources

from grammars.forms import Blank, Form
from grammars.plans.household import household_plans
from grammars.plans.skeleton import Skeleton
from inference.constraint import matches

RECEPTACLES = (
    *("diningtable 1", "drawer 2", "drawer 1", "drawer 10", "sinkbasin 1", "cabinet 1"),
    *("countertop 1", "countertop 2", "microwave 1", "fridge 1"),
)
WORLD = household_plans(RECEPTACLES)
EXAMPLES = ("pick", "clean", "heat", "cool", "examine", "pick_two")


def skeleton(name: str) -> Skeleton:
    """The skeleton that ships under this name."""
    folder = resources.files("agents.prompts") / "household" / "plans"
    return Skeleton((folder / f"{name}.plan").read_text(encoding="utf-8"))


def answers_of(form: Form, text: str) -> list[str]:
    """The text cut into answers by a form with one blank a step; fails where the form differs."""
    answers: list[str] = []
    while isinstance(blank := form.next(answers), Blank):
        assert text.startswith(blank.lead), f"{text[:60]!r} does not begin with {blank.lead!r}"
        text = text.removeprefix(blank.lead)
        answers.append(text[: _end(blank, text)])
        text = text[len(answers[-1]) :]
    assert text == blank.text
    return answers


def refused(form: Form, answers: Sequence[str]) -> list[str]:
    """Names of the blanks whose grammar does not allow the answer given."""
    blanks = [form.next(answers[:number]) for number in range(len(answers))]
    return [
        blank.name
        for blank, answer in zip(blanks, answers, strict=True)
        if isinstance(blank, Blank) and not matches(blank.grammar, answer)
    ]


def _end(blank: Blank, text: str) -> int:
    if blank.name == "general plan":
        return text.index("\n") + 1
    following = text.find("\n    if start_from")
    return len(text) if following < 0 else following + len("\n    if")
