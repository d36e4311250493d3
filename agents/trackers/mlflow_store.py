"""MLflow: by default its file store, `mlruns` in the current folder, for `mlflow ui`."""

import os
from dataclasses import dataclass
from pathlib import Path

from agents.trackers.tracked import REPORT, Tracked
from agents.trackers.tracker import need

ENVIRONMENT = {
    "MLFLOW_ALLOW_FILE_STORE": "true",  # MLflow 3 refuses its own file store without it
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
}
"""What holds unless the user's environment says otherwise: no word to anybody that was not asked
for, and no minutes of waiting for a server that is away.
"""

LONGEST = 500
"""Characters of a parameter; the protocol card is whole in any case."""

AT_ONCE = 100
"""So many parameters are taken by one request."""

TAG = "groundling.id"


@dataclass(kw_only=True)
class MlflowTracker:
    """Parameters, metrics and artifacts of one MLflow run."""

    name: str = "mlflow"
    uri: str = "mlruns"
    """A folder, or a tracking URI such as `sqlite:///mlflow.db` or `http://127.0.0.1:5000`."""
    experiment: str = "groundling"

    def check(self) -> None:
        """See `Tracker.check`."""
        need("mlflow", self.name)

    def log(self, run: Tracked) -> str:
        """See `Tracker.log`."""
        for key, value in ENVIRONMENT.items():
            os.environ.setdefault(key, value)
        from mlflow import MlflowClient
        from mlflow.entities import Param, RunStatus

        uri = self.uri if ":" in self.uri else Path(self.uri).absolute().as_uri()
        client = MlflowClient(tracking_uri=uri)
        known = client.get_experiment_by_name(self.experiment)
        experiment = known.experiment_id if known else client.create_experiment(self.experiment)
        before = client.search_runs([experiment], f"tags.`{TAG}` = '{run.id}'", max_results=1)
        tags = {TAG: run.id, "groundling.folder": str(run.folder), "mlflow.note.content": run.title}
        made = before[0] if before else client.create_run(experiment, tags=tags, run_name=run.name)
        identifier = made.info.run_id
        client.update_run(identifier, status=RunStatus.to_string(RunStatus.RUNNING))
        if not before:  # parameters never change, and those of a resumed run may
            params = [Param(key, value[:LONGEST]) for key, value in run.config.items()]
            for begin in range(0, len(params), AT_ONCE):
                client.log_batch(identifier, params=params[begin : begin + AT_ONCE])
        for key, number in run.metrics.items():
            client.log_metric(identifier, key, number)
        for path in run.files:
            client.log_artifact(identifier, str(path))
        if run.report:
            client.log_artifacts(identifier, str(run.report), REPORT)
        client.set_terminated(identifier)
        return f"tracked by mlflow: run {identifier} of experiment {self.experiment} in {uri}"
