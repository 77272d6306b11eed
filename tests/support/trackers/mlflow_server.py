"""A tracking server of MLflow on a real socket: the calls of its client that a job needs."""

import posixpath
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.support.endpoints import ReceivedRequest, Reply

_API: Final = "/api/2.0/mlflow/"
_ARTIFACTS: Final = "/api/2.0/mlflow-artifacts/artifacts/"
_MISSING: Final = Reply(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "none"})


@dataclass(slots=True)
class MlflowServer:
    token: str
    artifacts: str = "mlflow-artifacts:/7/r/artifacts"
    artifacts_later: str | None = None
    """Address of the store of artifacts in later answers about the run."""
    run_id: str = "r"
    experiment: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    params: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    status: str | None = None
    """`None` without a run."""

    def answer(self, received: ReceivedRequest) -> Reply:
        if received.headers.get("authorization") != f"Bearer {self.token}":
            return Reply(401, {"error_code": "UNAUTHENTICATED", "message": self.token})
        url = urlsplit(received.path)
        if url.path.startswith(_ARTIFACTS):
            self.files[url.path.removeprefix(_ARTIFACTS)] = received.body.decode()
            return Reply(json={})
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        return self._called(url.path.removeprefix(_API), query, received)

    def _called(self, verb: str, query: dict[str, str], received: ReceivedRequest) -> Reply:
        found: dict[str, Any] = {}
        match verb:
            case "experiments/get-by-name" if self.experiment is not None:
                found = {"experiment": {"experiment_id": "7", "name": self.experiment}}
            case "experiments/create":
                self.experiment = received.json["name"]
                found = {"experiment_id": "7"}
            case "runs/search":
                found = {"runs": [] if self.status is None else [self._run]}
            case "runs/create":
                self.tags = {tag["key"]: tag["value"] for tag in received.json["tags"]}
                self.status = "RUNNING"
                found = {"run": self._run}
            case "runs/get":
                self.artifacts = self.artifacts_later or self.artifacts
                found = {"run": self._run}
            case "runs/log-batch" if any(_is_refused(one["key"]) for one in _values(received)):
                return Reply(400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "key"})
            case "runs/log-batch":
                self.metrics += received.json.get("metrics", [])
                self.params |= {one["key"]: one["value"] for one in received.json.get("params", [])}
            case "runs/update":
                self.status = received.json.get("status", self.status)
                found = {"run_info": self._run["info"]}
            case "metrics/get-history":
                wanted = query["metric_key"]
                found = {"metrics": [one for one in self.metrics if one["key"] == wanted]}
            case _:
                return _MISSING
        return Reply(json=found)

    @property
    def _run(self) -> dict[str, Any]:
        info = {
            "run_id": self.run_id,
            "run_uuid": self.run_id,
            "experiment_id": "7",
            "status": self.status,
            "artifact_uri": self.artifacts,
            "lifecycle_stage": "active",
            "user_id": "",
            "start_time": 1,
        }
        data = {
            "metrics": list({one["key"]: one for one in self.metrics}.values()),
            "params": [{"key": key, "value": value} for key, value in self.params.items()],
            "tags": [{"key": key, "value": value} for key, value in self.tags.items()],
        }
        return {"info": info, "data": data}


def _values(received: ReceivedRequest) -> list[dict[str, Any]]:
    return [*received.json.get("metrics", []), *received.json.get("params", [])]


def _is_refused(key: str) -> bool:
    return posixpath.normpath(key) != key or key.startswith(("..", "/"))
