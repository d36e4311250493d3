"""Pictures that a world took, as PNG files beside the trajectory whose steps name them."""

import re
from collections.abc import Iterator
from pathlib import Path

from agents.evaluation.episode import EpisodeKey

_NAME = re.compile(r"(.+)\.\d+\.png")


def picture_name(key: EpisodeKey, number: int) -> str:
    """Of the picture after a step, counted from 1, or of the beginning (0); relative to the run
    folder.
    """
    return f"trajectories/{Path(key.file_name).stem}.{number}.png"


def trajectory_of(picture: Path) -> Path | None:
    """The file whose steps name the picture; None if it is no name of ours."""
    found = _NAME.fullmatch(picture.name)
    return picture.with_name(f"{found[1]}.json") if found else None


def pictures_of(trajectory: Path) -> Iterator[Path]:
    """Those that lie beside a trajectory."""
    for picture in trajectory.parent.glob(f"{trajectory.stem}.*.png"):
        if trajectory_of(picture) == trajectory:
            yield picture
