"""Weights & Biases: by default offline, into files below `wandb` that `wandb sync` can send."""

import os
from dataclasses import dataclass
from typing import Any

from agents.trackers.tracked import REPORT, Tracked
from agents.trackers.tracker import need

ENVIRONMENT = {"WANDB_ERROR_REPORTING": "false"}
"""What holds unless the user's environment says otherwise."""


@dataclass(kw_only=True)
class WandbTracker:
    """Configuration, summary and artifacts of one W&B run."""

    name: str = "wandb"
    project: str = "groundling"
    mode: str = "offline"
    """`offline`, or `online` for who has a server and a key."""
    dir: str = "."
    """The folder in which `wandb` is made."""

    def check(self) -> None:
        """See `Tracker.check`."""
        need("wandb", self.name)

    def log(self, run: Tracked) -> str:
        """See `Tracker.log`."""
        for key, value in ENVIRONMENT.items():
            os.environ.setdefault(key, value)
        import wandb

        settings = wandb.Settings(
            silent=True, console="off", disable_git=True, disable_code=True, x_disable_stats=True
        )
        logged: Any = wandb.init(
            project=self.project,
            dir=self.dir,
            mode=self.mode,
            id=run.id,
            resume="allow" if self.mode == "online" else None,
            name=run.name,
            notes=run.title,
            config={**run.config, "protocol": run.protocol},
            settings=settings,
        )
        try:
            logged.summary.update(dict(run.metrics))
            artifact = wandb.Artifact(f"run-{run.id}", type="groundling")
            for path in run.files:
                artifact.add_file(str(path))
            if run.report:
                artifact.add_dir(str(run.report), name=REPORT)
            logged.log_artifact(artifact)
            folder = logged.settings.sync_dir
        finally:
            logged.finish()
            wandb.teardown()
        sent = "" if self.mode == "online" else f"; wandb sync {folder} sends it"
        return f"tracked by wandb: run {run.id} of project {self.project} in {folder}{sent}"
