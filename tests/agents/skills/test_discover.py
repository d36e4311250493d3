"""`groundling discover`, whole: real games, real sandbox, a model that imitates."""

import shutil
from pathlib import Path

import pytest

from agents.cli import main
from agents.commands.configure import ConfigError, composed
from agents.commands.discover import discover
from agents.errors import RunError, RunFolderError
from agents.evaluation.run_folder import differences, read_protocol, read_rows
from agents.skills.discovery import NotEvaluated
from agents.skills.library import read_library
from agents.skills.skill import Trial, Verdict
from envs.errors import WorldSetupError
from inference.engine import Request
from inference.errors import EngineFault
from tests.agents.skills.discovering import (
    WORDS,
    config_of,
    contents,
    discovered,
    first_only,
    played,
)
from tests.agents.skills.imitator import Imitator


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished discovery: a skill of cleaning that helps with both of its held-out tasks."""
    folder = tmp_path_factory.mktemp("found")
    assert discovered(folder, Imitator(first_only), "env.tasks=[clean]") == 0
    return folder


def test_a_solved_episode_becomes_a_skill_that_is_kept_because_it_helps(found: Path) -> None:
    (skill,) = read_library(found / "library")
    assert (skill.name, skill.verdict) == ("clean-0", Verdict.KEPT)
    assert skill.trial == Trial(both=0, only_with=2, only_without=0, neither=0)
    assert skill.origin.run == "rounds/0/acquire"
    (row,) = read_rows(found / skill.origin.run)
    assert skill.origin.episode == row.key.id
    assert len(skill.interactions) == len(row.scores)
    assert skill.interactions[-1].command.startswith("move ")
    assert "errand of the" in skill.example.skeleton.example
    assert set(skill.example.skeleton.slots) == {"object", "sink", "goal"}


def test_the_same_held_out_tasks_and_seeds_are_played_with_and_without(found: Path) -> None:
    seeds = [
        {row.task: row.seed for row in read_rows(found / "rounds" / "0" / part)}
        for part in ("with", "without", "acquire")
    ]
    assert seeds[0] == seeds[1]
    assert not set(seeds[0]) & set(seeds[2]), "a skill is not judged by what it comes from"
    cards = [
        read_protocol(found / "rounds" / "0" / part)["protocol"] for part in ("without", "with")
    ]
    (difference,) = differences(*cards)
    assert difference.startswith("agent.planner.skills:  there, ")
    assert cards[0]["world"]["split"] == "train"


def test_a_skill_that_does_not_help_is_discarded_and_stays_on_file(tmp_path: Path) -> None:
    model = Imitator(lambda task: True, astray=True)
    assert discovered(tmp_path, model, "env.tasks=[clean]") == 0
    library = read_library(tmp_path / "library")
    (skill,) = library
    assert skill.trial == Trial(both=0, only_with=0, only_without=2, neither=0)
    assert skill.verdict is Verdict.DISCARDED
    assert not library.in_use


def test_an_equal_result_is_not_enough_to_be_kept(tmp_path: Path) -> None:
    assert discovered(tmp_path, Imitator(lambda task: True), "env.tasks=[clean]") == 0
    (skill,) = read_library(tmp_path / "library")
    assert skill.trial == Trial(both=2, only_with=0, only_without=0, neither=0)
    assert skill.verdict is Verdict.DISCARDED


def test_where_nothing_is_solved_there_is_nothing_to_try_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Imitator(lambda task: False)
    assert discovered(tmp_path, model, "env.tasks=[clean,place]") == 0
    assert "no task was solved: clean, pick" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "rounds" / "0").iterdir()) == [
        "acquire",
        "library",
    ]
    assert len(model.asked) == 2


@pytest.mark.parametrize("request_number", [1, 2, 4, 5])
def test_stopped_at_any_request_it_goes_on_and_ends_with_the_same_bytes(
    request_number: int, found: Path, tmp_path: Path
) -> None:
    """The five requests: one task to acquire from, two without, two with."""
    stopped = Imitator(first_only, stop_at=request_number)
    assert discovered(tmp_path, stopped, "env.tasks=[clean]") == 130
    assert not (tmp_path / "library").exists()
    going_on = Imitator(first_only)
    assert discovered(tmp_path, going_on, "env.tasks=[clean]") == 0
    assert contents(tmp_path / "library") == contents(found / "library")
    assert len(stopped.asked) + len(going_on.asked) == 6, "only the interrupted episode twice"


def test_stopped_while_the_library_is_written_it_is_written_again(
    found: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(found, folder)
    (folder / "library" / "clean-0.yaml").unlink()
    shutil.rmtree(folder / "rounds" / "0" / "library")
    shutil.rmtree(folder / "rounds" / "0" / "candidates")
    model = Imitator(first_only)
    assert discovered(folder, model, "env.tasks=[clean]") == 0
    assert not model.asked
    assert contents(folder / "library") == contents(found / "library")


def test_a_further_round_begins_with_the_library_and_leaves_what_was_found(
    found: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(found, folder)
    model = Imitator(first_only)
    assert discovered(folder, model, "env.tasks=[clean]", "discover.rounds=2") == 0
    first, second = read_library(folder / "library")
    assert (first.name, first.verdict) == ("clean-0", Verdict.KEPT)
    assert (second.name, second.verdict) == ("clean-1", Verdict.DISCARDED)
    assert second.origin.run == "rounds/1/acquire"
    assert first.example.task in model.asked[0].messages[0].content
    assert second.example.task in model.asked[-1].messages[0].content
    said = capsys.readouterr().out
    assert "1 kept, 1 discarded" in said
    assert discovered(folder, Imitator(first_only), "env.tasks=[clean]") == 0
    assert contents(folder / "library") == contents(found / "library"), "of one round again"


def test_a_discovery_can_begin_with_a_library(found: Path, tmp_path: Path) -> None:
    model = Imitator(lambda task: False)
    skills = f"planner.skills={found / 'library'}"
    assert discovered(tmp_path, model, "env.tasks=[clean]", skills) == 0
    assert [skill.name for skill in read_library(tmp_path / "library")] == ["clean-0", "clean-1"]


def test_one_engine_serves_all_runs_and_none_is_opened_where_nothing_is_left_to_do(
    tmp_path: Path,
) -> None:
    for opened in (1, 0):
        config = config_of(Imitator(first_only), "env.tasks=[clean]")
        assert discover(config, tmp_path) == 0
        assert config.engine.opened == opened


def test_a_run_that_is_not_whole_decides_nothing(tmp_path: Path) -> None:
    class Failing(Imitator):
        """Has no server any more."""

        def __call__(self, request: Request) -> str:
            raise EngineFault("the engine is gone")

    with pytest.raises(NotEvaluated, match="judged by whole runs only") as caught:
        discovered(tmp_path, Failing(first_only), "env.tasks=[clean]")
    assert caught.value.exit_code == 3
    assert not (tmp_path / "library").exists()
    assert discovered(tmp_path, Imitator(first_only), "env.tasks=[clean]") == 0


def test_a_skill_changes_the_prompts_of_like_tasks_and_no_others(
    found: Path, tmp_path: Path
) -> None:
    prompts: list[dict[str, str]] = []
    words = ("env.tasks=[clean,place]", "env.variations=1", "planner.samples=6")
    for number, extra in enumerate(((), (f"planner.skills={found / 'library'}",))):
        model = Imitator(first_only)
        assert played(tmp_path / str(number), model, *words, *extra) == 0
        prompts.append(
            {each.id.partition("/")[0]: each.messages[0].content for each in model.asked}
        )
    without, with_it = prompts
    assert without["place"] == with_it["place"]
    assert "errand of the" not in without["clean"]
    assert "errand of the" in with_it["clean"]


def test_the_card_names_the_skills_by_their_content_and_not_by_their_place(
    found: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(found / "library", moved)
    words = ("env.tasks=[clean]", "env.variations=1")
    for skills in (found / "library", moved):
        assert (
            played(tmp_path / "run", Imitator(first_only), *words, f"planner.skills={skills}") == 0
        )
    said = capsys.readouterr().out
    assert "nothing left to do" in said
    assert "skills: worked examples of like tasks come from a library" in said
    with pytest.raises(RunFolderError, match=r"agent\.planner\.skills: [0-9a-f]{16} there"):
        played(tmp_path / "run", Imitator(first_only), *words)


def test_at_the_level_skeleton_a_skill_is_filled_in_like_a_sample(
    found: Path, tmp_path: Path
) -> None:
    library = read_library(found / "library")
    skeleton = library.in_use["clean"].example.skeleton

    class Filling(Imitator):
        """Takes the first of what can stand in a slot."""

        def __call__(self, request: Request) -> str:
            self.asked.append(request)
            assert request.grammar is not None
            return request.grammar.options[0]

    model = Filling(first_only)
    words = ("env.tasks=[clean]", "env.variations=1", "decoding.plan=skeleton", "planner.samples=6")
    assert played(tmp_path, model, *words, f"planner.skills={found / 'library'}") == 0
    assert len(model.asked) == len(skeleton.slots)
    (row,) = read_rows(tmp_path)
    assert row.rejected_plans == 0
    assert row.scores, "the plan acts"
    assert "errand of the" in model.asked[0].messages[-1].content


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["decoding.plan=skeleton", "planner.samples=6"], "use typed, syntax or free"),
        (["discover.rounds=0"], "discover.rounds=0 must be at least 1"),
        (["discover.acquire=0"], "discover.acquire=0"),
        (["discover.filter=-1"], "discover.filter=-1"),
        (["discover.filters=3"], "did you mean discover.filter?"),
        (["discover.split=test"], "must not be env.split"),
        (["discover.split=nope"], "take train or test"),
        (["env.tasks=[clean/test-0001]"], "name whole kinds"),
        (["env.tasks=[clean/train-0001]"], "kind clean has 1 tasks"),
        (["planner.samples=3"], "must be one of 0, 1, 2, 4, 6"),
        (["planner.skills=/nonexistent"], "/nonexistent is not a folder"),
    ],
)
def test_a_mistake_is_one_line_with_a_way_out(words: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises((RunError, WorldSetupError)) as caught:
        discovered(tmp_path, Imitator(first_only), *words)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_planner_that_writes_no_plans_has_no_skills(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="planner=react .* use agent=adaplanner"):
        discover(composed(["agent=react", "env=household"]), tmp_path)


def test_a_discovery_that_cannot_begin_leaves_no_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(["discover", *WORDS, f"run_dir={folder}", "engine.script=/nonexistent.yaml"]) == 1
    error = capfd.readouterr().err
    assert error.startswith("groundling discover: ")
    assert "/nonexistent.yaml" in error
    assert error.count("\n") == 1
    assert not folder.exists()
