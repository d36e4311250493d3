import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from grammars import answers
from grammars.forms import Blank, text_of
from grammars.plans.check import check_plan
from grammars.plans.scienceworld import scienceworld_plans
from grammars.plans.typed import TypedForm
from inference.constraint import matches
from tests.grammars.plans.homes import refused

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=1, max_size=12)
SOME = settings(max_examples=60, deadline=None)


@SOME
@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.data())
def test_any_name_can_be_said_at_the_typed_level_and_means_itself(
    names: list[str], data: st.DataObject
) -> None:
    world = scienceworld_plans(("move OBJ to OBJ",), names, ())
    first, second = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    form = TypedForm(world)
    plan = [
        " Move it.\n",
        f" move')\n        observation = agent.move_to({first!r}, {second!r})\n"
        "        assert 'closed' not in observation, f'[Step 1] No. {agent.report()}'\n",
    ]
    assert refused(form, plan) == []
    source = text_of(form, plan)
    assert check_plan(source, world).valid
    said = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    assert {first, second} <= set(said)


@SOME
@given(st.lists(NAMES, min_size=1, max_size=6, unique=True), st.data())
def test_any_order_of_any_options_is_a_list_and_nothing_stands_in_it_twice(
    options: list[str], data: st.DataObject
) -> None:
    wanted = data.draw(st.permutations(options))[: data.draw(st.integers(1, len(options)))]
    form = answers.list_of(options)
    said: list[str] = []
    for number, option in enumerate(wanted):
        blank = form.next(said)
        assert isinstance(blank, Blank)
        end = "]" if number + 1 == len(wanted) else ","
        answer = f"{' ' if said else '['}{option!r}{end}"
        assert matches(blank.grammar, answer)
        again = f"{' ' if said else '['}{wanted[0]!r}{end}"
        assert not said or not matches(blank.grammar, again)
        said.append(answer)
    assert answers.read_list(text_of(form, said)) == tuple(wanted)
