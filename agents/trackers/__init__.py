"""Experiment trackers: where else a run's numbers go when it has ended. The run folder is and stays
the record; a tracker gets what the report says of it.
"""

from agents.trackers.mlflow_store import MlflowTracker
from agents.trackers.tracked import Tracked
from agents.trackers.tracker import NoTracker, Tracker, TrackerMissing
from agents.trackers.wandb_files import WandbTracker

__all__ = ["MlflowTracker", "NoTracker", "Tracked", "Tracker", "TrackerMissing", "WandbTracker"]
