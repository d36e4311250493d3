"""The papers' comparisons, each in three sizes: one command, one run for each agent."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from omegaconf import DictConfig

from agents.cli import main
from agents.commands.configure import ConfigError, composed
from agents.evaluation.rounds import rounds_of
from agents.evaluation.run_folder import read_protocol
from conf.schema import Size, register

COMPARISONS = ("sweet_sour_table1", "adaplanner_table2", "adaplanner_table3", "small_models")


def with_hydra(*words: str) -> DictConfig:
    register()
    with initialize_config_module(config_module="conf", version_base=None):
        return compose(config_name="config", overrides=list(words), return_hydra_config=True)


@pytest.mark.parametrize("size", Size)
@pytest.mark.parametrize("name", COMPARISONS)
def test_every_run_of_a_comparison_is_a_valid_one_in_every_size(name: str, size: Size) -> None:
    config = with_hydra(f"experiment={name}", f"size={size}")
    assert config.hydra.mode.name == "MULTIRUN"
    agents = config.hydra.sweeper.params.agent.split(",")
    assert len(agents) > 1
    for agent in agents:
        run = composed([f"experiment={name}", f"size={size}", f"agent={agent}"])
        assert (run.agent, run.size, run.experiment) == (agent, size, name)
        assert run.env.max_steps <= (20 if size is Size.smoke else 150)


def test_the_full_size_is_what_the_papers_did() -> None:
    full = composed(["experiment=sweet_sour_table1", "agent=sweet_sour"])
    env = full.env
    assert (env.tasks, env.variations, env.max_steps, full.rounds) == ([], 10, 150, 4)
    assert composed(["experiment=sweet_sour_table1", "agent=react"]).rounds == 1
    table2 = composed(["experiment=adaplanner_table2", "agent=adaplanner"]).env
    assert (table2.split, table2.variations, table2.max_steps) == ("valid_unseen", 0, 50)
    table3 = composed(["experiment=adaplanner_table3", "agent=rci"]).env
    assert len(table3.select()) == 53 * 10


def test_below_the_full_size_presets_try_once_more_and_the_command_line_still_wins() -> None:
    words = ["experiment=sweet_sour_table1", "size=small", "agent=reflexion"]
    assert composed(words).rounds == 2
    assert composed([*words, "rounds=3", "env.max_steps=7"]).rounds == 3
    assert composed([*words, "env.max_steps=7"]).env.max_steps == 7


def test_a_size_that_is_none_is_answered_with_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"size=huge.*\[smoke, small, full\]"):
        composed(["size=huge"])


def test_one_command_makes_all_runs_and_says_how_to_see_them_together(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["experiment=small_models", "size=smoke", "agent=act,reflexion", "engine=random"]
    small = ["env.limit=1", "env.max_steps=2", f"run_dir={tmp_path}"]
    assert main(["run", *words, *small]) == 0
    said = capfd.readouterr().out
    assert f"all of them together: groundling report {tmp_path}/*/" in said
    cards = [read_protocol(tmp_path / number)["protocol"] for number in "01"]
    assert [rounds_of(card) for card in cards] == [1, 2]
    assert main(["run", *words, *small]) == 0
    assert capfd.readouterr().out.count("nothing left to do") == 2
    assert main(["report", str(tmp_path / "0"), str(tmp_path / "1")]) == 0
    together = capfd.readouterr().out.partition("by round")[2]
    assert "A: act" in together
    assert "B: reflexion" in together
