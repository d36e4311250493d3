"""The official package finds the games that we write; test_alfworld_equivalence has it win some."""

from importlib import import_module
from pathlib import Path

import pytest

from envs.alfworld.goals import Kind
from envs.household import GameId, Settings, Split, make_game, write_game_folder


def some_id(kind: Kind, split: Split = Split.TEST, **settings: object) -> GameId:
    return GameId(kind=kind, split=split, number=7, settings=Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.usefixtures("official")
@pytest.mark.parametrize(
    ("split", "part"), [(Split.TRAIN, "train"), (Split.TEST, "eval_out_of_distribution")]
)
def test_the_official_package_finds_every_game_of_a_folder(
    split: Split,
    part: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games = [some_id(kind, split, difficulty="hard", closed=0.25, seed=3) for kind in Kind]
    folders = [write_game_folder(make_game(game), tmp_path, "2.1.2") for game in games]
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    data = "$ALFWORLD_DATA/json_2.1.1"
    config = {
        "env": {
            "goal_desc_human_anns_prob": 0,
            "task_types": [1, 2, 3, 4, 5, 6],
            "domain_randomization": False,
        },
        "dataset": {
            "data_path": f"{data}/train",
            "eval_id_data_path": f"{data}/valid_seen",
            "eval_ood_data_path": f"{data}/valid_unseen",
            "num_train_games": -1,
            "num_eval_games": -1,
        },
    }
    environment = import_module("alfworld.agents.environment.alfred_tw_env").AlfredTWEnv
    found = environment(config, train_eval=part).game_files
    assert sorted(found) == sorted(str(folder / "game.tw-pddl") for folder in folders)
