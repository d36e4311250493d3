import ast
from collections.abc import Callable
from functools import partial

import pytest

from grammars import Grammar
from grammars.forms import Blank, Form, text_of
from grammars.plans.browser import browser_plans
from grammars.plans.check import check_plan
from grammars.plans.household import household_plans, household_slots
from grammars.plans.scienceworld import scienceworld_plans
from grammars.plans.skeleton import Skeleton, SkeletonForm
from grammars.plans.surface import STATEMENTS
from grammars.plans.syntax import SyntaxForm, syntax_step
from grammars.plans.typed import TypedForm, assigned_by, typed_step
from inference.constraint import matches
from tests.grammars.plans.homes import EXAMPLES, RECEPTACLES, WORLD, answers_of, refused, skeleton

SYNTAX, TYPED = SyntaxForm(WORLD), TypedForm(WORLD)
PICK = skeleton("pick").example


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("form", [SYNTAX, TYPED], ids=["syntax", "typed"])
def test_each_level_accepts_every_worked_example(name: str, form: Form) -> None:
    example = skeleton(name).example
    answers = answers_of(form, example)
    assert refused(form, answers) == []
    assert text_of(form, answers) == example


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_worked_example_is_a_valid_plan_that_assigns_before_it_uses(name: str) -> None:
    verdict = check_plan(skeleton(name).example, WORLD)
    assert verdict.valid
    assert verdict.unassigned == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_skeleton_filled_as_its_example_is_its_example(name: str) -> None:
    plan = skeleton(name)
    names = household_slots(RECEPTACLES)
    form = SkeletonForm(plan, {**names, "object": (*names["object"], "lettuce")})
    answers: list[str] = []
    for slot in plan.slots:
        value = plan.source.split(f"<{slot}:")[1].split(">")[0]
        blank = form.next(answers)
        answers.append(
            next(said for said in blank.grammar.options if said[1:-1] == value)  # type: ignore[union-attr]
        )
    assert text_of(form, answers) == plan.example


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_skeleton_can_say_the_typed_level_can_say(name: str) -> None:
    plan = skeleton(name)
    form = SkeletonForm(plan, household_slots(RECEPTACLES))
    for choice in (0, 3, -1):
        answers: list[str] = []
        while len(answers) < len(plan.slots):
            options = form.next(answers).grammar.options  # type: ignore[union-attr]
            answers.append(options[choice % len(options)])
        text = text_of(form, answers)
        assert refused(TYPED, answers_of(TYPED, text)) == []


def test_a_slot_is_asked_once_and_copied_to_its_other_places() -> None:
    form = SkeletonForm(Skeleton("a <it:x>, the <it:x>; <on:y>.\n"), {"it": ("b",), "on": ("c",)})
    assert text_of(form, [" b,"]) == "a b, the b;"
    assert text_of(form, [" b,", " c."]) == "a b, the b; c.\n"


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_blank_follows_a_space(name: str) -> None:
    forms: list[tuple[Form, list[str]]] = [
        (SkeletonForm(skeleton(name), household_slots(RECEPTACLES)), []),
        (SYNTAX, answers_of(SYNTAX, skeleton(name).example)),
    ]
    for form, answers in forms:
        said: list[str] = []
        while isinstance(blank := form.next(said), Blank):
            assert not blank.lead.endswith((" ", "\n"))
            said.append(answers[len(said)] if answers else blank.grammar.options[0])


def test_an_empty_slot_and_a_name_that_would_break_a_string_are_named() -> None:
    plan = Skeleton("put '<it:x>'\n")
    with pytest.raises(ValueError, match="nothing can stand in its slot 'it'"):
        SkeletonForm(plan, {"it": ()})
    with pytest.raises(ValueError, match='"o\'neil" cannot stand'):
        SkeletonForm(plan, {"it": ("o'neil",)})


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("agent.goto(place)", "agent.fly(place)"),
        ("agent.goto(place)", "agent.goto(place, place)"),
        ("agent.goto(place)", "agent.goto()"),
        ("agent.goto(place)", "agent.goto(place)()"),
        ("agent.goto(place)", "open(place)"),
        ("agent.goto(place)", "agent.__class__"),
        ("agent.goto(place)", "place[0]"),
        ("agent.goto(place)", "place + place"),
        ("for place in places:", "while places:"),
        ("for place in places:", "for place in range(3):"),
        ("break", "continue"),
        ("break", "return"),
        ("observation = agent.goto(place)", "elif = agent.goto(place)"),
        ("observation = agent.goto(place)", "start_from = agent.goto(place)"),
        ("if 'closed' in observation:", "if places in observation:"),
        ("list_of=agent.receptacles", "list_of=agent.holding"),
        ("answer='number'", "answer='poem'"),
        ("    if start_from <= 2:", "    if start_from <= 3:"),
        ("    if start_from <= 2:", "    if True:"),
        ("{agent.report()}'\n    if start_from <= 3:", "'\n    if start_from <= 3:"),
        ("assert agent.holding == found, f'[Step 3]", "assert agent.holding == found, f'[Step 2]"),
        ("    if start_from <= 1:", "    import os\n    if start_from <= 1:"),
    ],
)
def test_what_leaves_the_language_is_refused_by_grammar_and_reader(right: str, wrong: str) -> None:
    plan = PICK.replace(right, wrong, 1)
    assert plan != PICK
    assert not check_plan(plan, WORLD).valid
    try:
        answers = answers_of(SYNTAX, plan)
    except AssertionError:
        return  # not even the frame is right
    assert refused(SYNTAX, answers)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("agent.goto('countertop 1')", "agent.goto('countertop 3')"),
        ("agent.goto('countertop 1')", "agent.goto('countertop')"),
        ("agent.goto('countertop 1')", "agent.goto(found)"),
        ("f'soapbar {number}'", "f'dragon {number}'"),
        ("f'soapbar {number}'", "f'soapbar {place}'"),
        ("f'soapbar {number}'", "'soapbar 1'"),
        ("'closed' in observation", "'magic' in observation"),
        ("agent.take(found, place)", "agent.take(place, found)"),
        ("agent.take(found, place)", "agent.clean(found, 'fridge 1')"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_at_the_typed_level_only(
    right: str, wrong: str
) -> None:
    plan = PICK.replace(right, wrong, 1)
    assert plan != PICK
    assert refused(SYNTAX, answers_of(SYNTAX, plan)) == []
    assert refused(TYPED, answers_of(TYPED, plan))


def test_a_variable_can_only_be_used_at_the_typed_level_once_it_is_assigned() -> None:
    early = PICK.replace("list_of=agent.receptacles", "list_of=places", 1)
    assert refused(SYNTAX, answers_of(SYNTAX, early)) == []
    assert refused(TYPED, answers_of(TYPED, early)) == ["step 1"]
    assert check_plan(early, WORLD).unassigned == ("places",)
    swapped = PICK.replace("number = ask", "found = ask", 1).replace(", answer='number'", "", 1)
    assert refused(TYPED, answers_of(TYPED, swapped)) == ["step 3"]
    assert check_plan(swapped, WORLD).unassigned == ("number",)


def test_what_a_loop_or_a_branch_assigns_is_known_after_a_loop_only() -> None:
    step = "        for place in places:\n            observation = agent.goto(place)\n"
    assert assigned_by(step) == {"place", "observation"}
    branch = "        if places:\n            observation = agent.goto(place)\n"
    assert assigned_by(branch) == frozenset()


def test_an_action_without_its_appliance_is_left_out() -> None:
    cold = household_plans(("fridge 1", "shelf 1"))
    source = typed_step(cold, 1, frozenset({"found"})).source
    assert "agent.cool(" in source
    assert "agent.heat(" not in source


def test_no_list_of_statements_and_no_text_goes_on_for_ever() -> None:
    grammar = syntax_step(WORLD, 1)
    line, end = (
        "        agent.goto(place)\n",
        "        assert places, f'[Step 1] x {agent.report()}'\n",
    )
    assert matches(grammar, f" Go')\n{line * STATEMENTS}{end}")
    assert not matches(grammar, f" Go')\n{line * (STATEMENTS + 1)}{end}")
    assert matches(grammar, f" G{'o' * 79}')\n{line}{end}")
    assert not matches(grammar, f" G{'o' * 80}')\n{line}{end}")


def test_a_plan_has_nine_steps_at_most() -> None:
    step = " Go')\n        agent.goto(place)\n        assert places, f'[Step 9] x {agent.report()}'"
    assert matches(syntax_step(WORLD, 9), step + "\n")
    assert not matches(syntax_step(WORLD, 9), step + "\n    if")
    assert matches(syntax_step(WORLD, 8), step.replace("9]", "8]") + "\n    if")


@pytest.mark.parametrize(
    "make",
    [partial(syntax_step, WORLD), lambda number: typed_step(WORLD, number, frozenset({"places"}))],
)
def test_a_line_ends_before_it_is_said_whether_another_step_follows(
    make: Callable[[int], Grammar],
) -> None:
    end = "        assert places, f'[Step 1] x {agent.report()}'"
    step = f" Go')\n        agent.goto('fridge 1')\n{end}"
    assert not matches(make(1), step)
    assert matches(make(1), step + "\n")
    assert matches(make(1), step + "\n    if")


@pytest.mark.parametrize("broken", ["def solution(", "\0", "x" * 10 + " =", ""])
def test_what_python_cannot_read_is_a_verdict_and_not_a_crash(broken: str) -> None:
    assert not check_plan(broken, WORLD).valid


@pytest.mark.parametrize(
    ("xpath", "allowed"),
    [
        ("//button[@id='subbtn']", True),
        ("//*[text()='Forward'][2]", True),
        ("//div[contains(@class,'email')]", True),
        ("//*", True),
        ("//button[@id='subbtn'", False),
        ("//button[@id=subbtn]", False),
        ("button", False),
    ],
)
@pytest.mark.parametrize("level", [SyntaxForm, TypedForm])
def test_a_plan_in_a_browser_can_only_say_balanced_xpaths(
    level: type[SyntaxForm] | type[TypedForm], xpath: str, allowed: bool
) -> None:
    form = level(browser_plans())
    plan = [
        " Press it.\n",
        f' click it\')\n        observation = agent.click_xpath("{xpath}")\n'
        "        assert 'popup' not in observation, f'[Step 1] No. {agent.report()}'\n",
    ]
    assert (refused(form, plan) == []) is allowed
    assert check_plan(text_of(form, plan), browser_plans()).valid


@pytest.mark.parametrize(
    "name", ["O'Neil's \"cup\"", "a\\b", "{x}", "agua é", "water", "water jug", "a::=b", "//", "#"]
)
def test_awkward_names_of_things_can_be_said_and_mean_themselves(name: str) -> None:
    world = scienceworld_plans(("focus on OBJ",), (name, "waterfall"), ("kitchen",))
    form = TypedForm(world)
    plan = [
        " Look at it.\n",
        f" focus')\n        observation = agent.focus_on({name!r})\n"
        "        assert 'closed' not in observation, f'[Step 1] No. {agent.report()}'\n",
    ]
    assert refused(form, plan) == []
    source = text_of(form, plan)
    assert check_plan(source, world).valid
    literals = [
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)
    ]
    assert name in literals
    near = [plan[0], plan[1].replace(repr(name), repr(name + "x"))]
    assert refused(form, near) == ["step 1"]
