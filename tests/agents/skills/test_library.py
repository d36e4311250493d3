"""A library as files: read back exactly, never read wrongly."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from agents.decoding import PlanLevel
from agents.prompts.plans import PlanExample
from agents.skills.fitting import check_fit
from agents.skills.library import LibraryError, digest_of, read_library, write_library
from agents.skills.skill import Interaction, Library, Origin, Skill, Trial, Verdict
from grammars.plans.skeleton import Skeleton

PLAN = """\
def solution(agent, start_from=1):
    # General plan: find a <object:mug>, put it on <goal:desk 1>
    if start_from <= 1:
        agent.put('<object:mug> 1', '<goal:desk 1>')
        assert agent.holding != 'mug 1', f'[Step 1] No. {agent.report()}'
"""
KEPT = Trial(both=3, only_with=5, only_without=1, neither=2)
DISCARDED = Trial(both=3, only_with=1, only_without=1, neither=2)


def skill(kind: str = "pick", number: int = 0, trial: Trial | None = KEPT) -> Skill:
    return Skill(
        kind=kind,
        number=number,
        example=PlanExample(
            task="put a mug in desk: now.",
            receptacles=("desk 1", "shelf 1"),
            skeleton=Skeleton(PLAN),
        ),
        origin=Origin(
            run="rounds/0/acquire",
            episode="place/train-0001#0",
            plan=2,
            world="household",
            model="smollm2_135m",
            model_files="0" * 64,
            level="typed",
            samples=1,
            groundling="0.1.0",
        ),
        interactions=(
            Interaction(command="go to desk 1", answer="You arrive at desk 1.\nOn it: 'a mug 1'"),
            Interaction(command="yes", answer="null"),
        ),
        trial=trial,
    )


@pytest.mark.parametrize("trial", [None, KEPT, DISCARDED])
def test_what_was_written_is_read_back_equal(tmp_path: Path, trial: Trial | None) -> None:
    library = Library((skill(trial=trial), skill(number=2), skill(number=10)))
    write_library(tmp_path / "library", library)
    assert read_library(tmp_path / "library") == library


def test_equal_libraries_are_equal_files_and_nothing_of_another_is_left(tmp_path: Path) -> None:
    write_library(tmp_path / "one", Library((skill(), skill(number=1))))
    write_library(tmp_path / "one", Library((skill(),)))
    write_library(tmp_path / "other", Library((skill(),)))
    files = [{p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "other")]
    assert files[0] == files[1]


def test_a_person_can_read_what_a_skill_was_worth(tmp_path: Path) -> None:
    write_library(tmp_path, Library((skill(),)))
    notes = (tmp_path / "pick-0.yaml").read_text()
    counts = "both: 3, only_with: 5, only_without: 1, neither: 2, tasks: 11, p: 0.21875"
    assert f"verdict: kept\ntrial: {{{counts}}}\n" in notes
    assert "episode: place/train-0001#0" in notes
    assert "- {command: go to desk 1, answer:" in notes


def damaged(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("pick-0.yaml", "kind: pick", "kind: clean", "its kind is 'clean', not pick"),
        ("pick-0.yaml", "verdict: kept", "verdict: discarded", "by its trial it is kept"),
        ("pick-0.yaml", "verdict: kept", "verdict: great", "its verdict is 'great'"),
        ("pick-0.yaml", "only_with: 5", "only_with: 6", "'tasks': 11"),
        ("pick-0.yaml", "p: 0.21875", "p: 0.01", "'p': 0.01"),
        ("pick-0.yaml", "only_with: 5", "only_with: -5", "below 0"),
        ("pick-0.yaml", "both: 3", "both: many", "trial.both is 'many'"),
        ("pick-0.yaml", "neither: 2, ", "", "trial must hold both, only_with"),
        ("pick-0.yaml", "task: 'put", "tusk: 'put", "it has no task"),
        ("pick-0.yaml", "verdict: kept", "verdict: kept\nmood: good", "mood, which means nothing"),
        ("pick-0.yaml", "plan: 2", "plan: two", "origin.plan is 'two'"),
        ("pick-0.yaml", "[desk 1, shelf 1]", "desk 1", "receptacles is no list"),
        ("pick-0.yaml", "[desk 1, shelf 1]", "[desk 1, 7]", "receptacles holds 7"),
        ("pick-0.yaml", "kind: pick", "kind: [", "cannot be used"),
        ("pick-0.yaml", "command: 'yes'", "do: 'yes'", "interactions must hold"),
        ("pick-0.plan", "mug> 1", "mug> 2", "is not the plan that was tried"),
        ("pick-0.plan", PLAN, "", "is not the plan that was tried"),
    ],
)
def test_a_damaged_file_is_named_in_one_line_with_the_way_out(
    tmp_path: Path, name: str, old: str, new: str, said: str
) -> None:
    write_library(tmp_path, Library((skill(),)))
    damaged(tmp_path, name, old, new)
    with pytest.raises(LibraryError) as caught:
        read_library(tmp_path)
    message = str(caught.value)
    assert said in message
    assert f"{tmp_path / 'pick-0.yaml'} cannot be used" in message
    assert "restore it from a copy, or remove it and pick-0.plan" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["pick-0.yaml", "pick-0.plan"])
def test_one_file_without_the_other_is_named(tmp_path: Path, name: str) -> None:
    write_library(tmp_path, Library((skill(),)))
    (tmp_path / name).unlink()
    with pytest.raises(LibraryError, match=re.escape(name)):
        read_library(tmp_path)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    write_library(tmp_path, Library((skill(),)))
    (tmp_path / "pick-0.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LibraryError, match="pick-0.yaml cannot be used"):
        read_library(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("agent.put(", "agent.put((", "Python cannot read pick-0.plan"),
        ("def solution", "def resolution", "does not begin with"),
    ],
)
def test_an_edited_plan_is_used_once_its_digest_is_taken_out_if_it_is_a_plan(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    write_library(tmp_path, Library((skill(),)))
    notes = tmp_path / "pick-0.yaml"
    notes.write_text(re.sub(r"plan_sha256: .*\n", "", notes.read_text()))
    damaged(tmp_path, "pick-0.plan", "find a", "look for a")
    (read,) = read_library(tmp_path)
    assert "look for a mug" in read.example.skeleton.example
    damaged(tmp_path, "pick-0.plan", old, new)
    with pytest.raises(LibraryError, match=said):
        read_library(tmp_path)


def test_the_last_skill_of_a_kind_that_was_not_discarded_is_in_use() -> None:
    library = Library().joined_by(
        skill(number=10, trial=DISCARDED), skill(number=9), skill(number=2), skill("clean")
    )
    assert {kind: one.name for kind, one in library.in_use.items()} == {
        "pick": "pick-9",
        "clean": "clean-0",
    }
    assert library.next_number("pick") == 11
    assert library.next_number("heat") == 0


def test_the_digest_names_what_a_model_is_shown_and_nothing_else() -> None:
    kept = Library((skill(),))
    tried = Library((skill(trial=None), skill(number=1, trial=DISCARDED)))
    assert digest_of(kept) == digest_of(tried)
    example = replace(skill().example, task="put a pen in desk.")
    assert digest_of(Library((replace(skill(), example=example),))) != digest_of(kept)
    assert digest_of(Library((skill(trial=DISCARDED),))) == ""


def test_a_trial_is_kept_only_if_more_is_gained_than_lost_and_says_how_likely_that_is() -> None:
    assert (KEPT.verdict, round(KEPT.p, 9)) == (Verdict.KEPT, 2 * 7 / 64)
    assert (DISCARDED.verdict, DISCARDED.p) == (Verdict.DISCARDED, 1.0)
    assert Trial(both=4, only_with=0, only_without=0, neither=0).p == 1.0


@pytest.mark.parametrize(
    ("made", "level", "said"),
    [
        (skill(trial=DISCARDED), PlanLevel.typed, "holds no skill that was kept"),
        (skill("click"), PlanLevel.typed, "env=alfworld has no use for"),
        (
            replace(skill(), origin=replace(skill().origin, world="miniwob")),
            PlanLevel.typed,
            "is a skill of miniwob",
        ),
        (
            replace(skill(), example=replace(skill().example, skeleton=Skeleton("<thing:mug>"))),
            PlanLevel.typed,
            "marks <thing:...>, but slots are called",
        ),
        (
            replace(skill(), example=replace(skill().example, skeleton=Skeleton("mug"))),
            PlanLevel.skeleton,
            "has no slots, because they could not be told",
        ),
        (
            replace(
                skill(),
                example=replace(
                    skill().example, skeleton=Skeleton(PLAN.replace("agent.put", "agent.fly"))
                ),
            ),
            PlanLevel.skeleton,
            "leaves the language of plans (line 4: agent.fly cannot be called so in a plan)",
        ),
    ],
)
def test_a_library_that_a_run_could_not_use_is_refused_by_name(
    made: Skill, level: PlanLevel, said: str
) -> None:
    with pytest.raises(LibraryError, match=re.escape(said)) as caught:
        check_fit("lib", Library((made,)), "alfworld", level)
    assert str(caught.value).startswith("planner.skills=lib")


def test_a_skill_of_a_household_is_used_in_alfworld() -> None:
    check_fit("lib", Library((skill(),)), "alfworld", PlanLevel.skeleton)
