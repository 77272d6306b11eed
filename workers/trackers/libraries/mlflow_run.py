"""Writes a job to MLflow with its own client: to a server, or to a store in the job's directory. A
value is there once: the run is found by its tag, and what it has is read before it is written
again. A server is the customer's: every connection is checked, redirects are not followed, and
artifacts go to that server alone, never to another address or path that it names: the client's own
calls for artifacts ask the server for the path anew, so none of them is used.
"""

import json
import re
import resource
from collections.abc import Generator, Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from mlflow import MlflowClient, entities
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException
from mlflow.store.artifact.artifact_repo import ArtifactRepository
from mlflow.store.artifact.local_artifact_repo import LocalArtifactRepository
from mlflow.store.artifact.mlflow_artifacts_repo import MlflowArtifactsRepository
from requests import HTTPError, RequestException
from urllib3 import HTTPResponse

from app.kit.egress import EgressPolicy
from app.kit.errors import EndpointRefused
from workers.trackers.libraries.guarded_sockets import check_url
from workers.trackers.tracker import (
    Assignment,
    TrackerFault,
    TrackerUpdate,
    WriteReport,
    flat,
    numbers_of,
    rollout_text,
)

LONGEST_REPLY: Final = 8 * 1024**2
"""Decoded bytes of one reply; JSON of it may take 30 times as much as objects."""
_CHUNK: Final = 65_536


class ReplyTooLarge(Exception):
    """The decoded body of a reply is larger than `LONGEST_REPLY`."""


def bound_replies() -> None:
    """Also with requests. A larger reply raises `ReplyTooLarge`, and its connection is closed."""
    stream = HTTPResponse.stream

    def bounded(
        response: HTTPResponse, amt: int | None = _CHUNK, decode_content: bool | None = None
    ) -> Generator[bytes, None, None]:
        left = LONGEST_REPLY
        # urllib3 decodes no more than `amt` bytes before it yields them.
        for chunk in stream(response, amt or _CHUNK, decode_content):
            left -= len(chunk)
            if left < 0:
                response.close()
                raise ReplyTooLarge
            yield chunk

    HTTPResponse.stream = bounded  # type: ignore[method-assign, assignment]  # below every library
    HTTPResponse.drain_conn = HTTPResponse.close  # type: ignore[method-assign]  # it would read all


_Value = TypeVar("_Value")
_TAG: Final = "agent_rft.run"
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_\-. /]")
_METRICS: Final = 1000
_PARAMS: Final = 100
_LONGEST_PARAM: Final = 500
_LONGEST_NAME: Final = 250
"""Limits of MLflow for one call, and the smallest length of a param among its versions."""
_MEMORY: Final = 384 * 1024**2
"""Bytes of data of this process, half of which the imported library has: whatever the server makes
it collect, page by page too, is bounded by the rest.
"""
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FAULTS: Final = (MlflowException, RequestException, EndpointRefused, ReplyTooLarge, MemoryError)
_NO_ARTIFACTS: Final = (
    "MLflow gets no rollouts and no report: its server stores artifacts elsewhere, where the "
    "service does not write. Start it with --serve-artifacts"
)


class Run:
    def __init__(self, assignment: Assignment) -> None:
        self._uri: str | None = assignment.options.get("tracking_uri")
        try:
            self._open(assignment)
        except _FAULTS as error:
            raise _fault(error) from None

    def _open(self, assignment: Assignment) -> None:
        if self._uri is None:
            directory = Path(assignment.directory)
            address = f"sqlite:///{directory / 'mlflow.db'}"
            artifacts: str | None = (directory / "artifacts").as_uri()
        else:
            policy = EgressPolicy(
                frozenset(assignment.allow_endpoints), assignment.allow_plain_http
            )
            resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            bound_replies()
            check_url(self._uri, policy)
            address, artifacts = self._uri, None
        self._client = MlflowClient(tracking_uri=address)
        experiment = self._experiment(assignment.options["experiment"], artifacts)
        self._run = self._found(experiment, assignment)
        self._id = _checked_id(self._run.info.run_id)
        self._experiment_id = experiment
        self._params = set(self._run.data.params)
        self._written = {
            (metric.key, metric.step)
            for key in self._run.data.metrics
            for metric in self._client.get_metric_history(self._id, key)
        }
        self._scratch = assignment.scratch
        self._files = set[str]()
        self._artifacts = self._artifacts_of(self._run.info.artifact_uri or "")

    def write(self, update: TrackerUpdate) -> WriteReport:
        try:
            return self._write(update)
        except _FAULTS as error:
            raise _fault(error) from None

    def close(self) -> None:
        """Does nothing: each call has arrived when it returns."""

    def _write(self, update: TrackerUpdate) -> WriteReport:
        self._write_params(update)
        new = list(self._new_metrics(update))
        for some in _chunks(new, _METRICS):
            self._client.log_batch(self._id, metrics=some)
            self._written |= {(metric.key, metric.step) for metric in some}
        if self._artifacts is not None:
            self._write_files(self._artifacts, update)
        if update.outcome is not None:
            self._client.set_terminated(self._id, _status(update.outcome))
        return WriteReport(self._url(), (_NO_ARTIFACTS,) if self._artifacts is None else ())

    def _write_params(self, update: TrackerUpdate) -> None:
        params = {_name(key): str(value)[:_LONGEST_PARAM] for key, value in flat(update.settings)}
        new = [Param(key, value) for key, value in params.items() if key not in self._params]
        for some in _chunks(new, _PARAMS):
            self._client.log_batch(self._id, params=some)
            self._params |= {param.key for param in some}

    def _new_metrics(self, update: TrackerUpdate) -> Iterator[Metric]:
        at = int(update.written_at * 1000)
        rows = list(update.curves_by_step())
        if update.report is not None:
            rows.append((update.step, numbers_of(update.report)))
        for step, values in rows:
            for key, value in values.items():
                if (_name(key), step) not in self._written:
                    yield Metric(_name(key), value, at, step)

    def _write_files(self, artifacts: ArtifactRepository, update: TrackerUpdate) -> None:
        files = {
            f"rollouts/step-{one.step:06}/{one.rank}.md": rollout_text(one)
            for one in update.rollouts
        }
        files["settings.json"] = _json(update.settings)
        if update.report is not None:
            files["report.json"] = _json(update.report)
        for name, text in files.items():
            if name not in self._files:
                self._write_file(artifacts, PurePosixPath(name), text)
                self._files.add(name)

    def _write_file(self, artifacts: ArtifactRepository, path: PurePosixPath, text: str) -> None:
        copy = self._scratch / path.name
        copy.write_text(text, encoding="utf-8", errors="replace")
        try:
            artifacts.log_artifact(str(copy), str(path.parent) if path.parent.name else None)
        finally:
            copy.unlink()

    def _artifacts_of(self, uri: str) -> ArtifactRepository | None:
        if self._uri is None:
            return LocalArtifactRepository(uri)
        stored_at = urlsplit(uri)
        if stored_at.scheme != "mlflow-artifacts" or stored_at.netloc:
            return None
        return MlflowArtifactsRepository(uri, tracking_uri=self._uri)

    def _experiment(self, name: str, artifacts: str | None) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is None:
            return _checked_id(self._client.create_experiment(name, artifact_location=artifacts))
        return _checked_id(found.experiment_id)

    def _found(self, experiment: str, assignment: Assignment) -> entities.Run:
        mine: Sequence[entities.Run] = self._client.search_runs(
            [experiment], filter_string=f"tags.`{_TAG}` = '{assignment.run_id}'", max_results=1
        )
        if mine:
            self._client.update_run(mine[0].info.run_id, status="RUNNING")
            return mine[0]
        sent: dict[str, str] = assignment.options.get("tags") or {}
        tags = {**{_name(key): value for key, value in sent.items()}, _TAG: assignment.run_id}
        return self._client.create_run(experiment, tags=tags, run_name=assignment.name)

    def _url(self) -> str | None:
        if self._uri is None:
            return None
        return f"{self._uri}/#/experiments/{quote(self._experiment_id)}/runs/{quote(self._id)}"


def _chunks(values: Sequence[_Value], size: int) -> Iterator[Sequence[_Value]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def _checked_id(given: object) -> str:
    """Returns an id that the server has made. Raises `TrackerFault` for one that is no id."""
    if not _ID.fullmatch(text := str(given)):
        raise TrackerFault("its server gives a run or an experiment a malformed id")
    return text


def _name(key: str) -> str:
    """A path without empty parts and dots; a changed one ends with a checksum of the key."""
    parts = [part if part.strip(".") else "_" for part in _REFUSED.sub("_", key).split("/")]
    if (name := "/".join(parts)) == key and len(key) <= _LONGEST_NAME:
        return key
    checksum = sha256(key.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - len(checksum) - 1]}-{checksum}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _fault(error: BaseException) -> TrackerFault:
    """Returns the fault without texts of the server, which may repeat a credential."""
    seen: BaseException | None = error
    while seen is not None:
        if (cause := _cause(seen)) is not None:
            return TrackerFault(cause)
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, HTTPError) and error.response is not None:
        return TrackerFault(f"its server answers {error.response.status_code}")
    if isinstance(error, MlflowException):
        return TrackerFault(f"its server answers {error.error_code}")
    return TrackerFault(type(error).__name__)


def _cause(error: BaseException) -> str | None:
    """Returns the text of an error below that of the library, `None` if there is none for it."""
    match error:
        case EndpointRefused():
            return f"its address is not allowed: {error}"
        case ReplyTooLarge():
            return f"its server sends replies over {LONGEST_REPLY // 1024**2} MiB"
        case MemoryError():
            return "its server sends more than fits into the memory of a tracker"
        case ConnectionError() | TimeoutError():
            return "its server cannot be reached"
        case _:
            return None


def _status(ended: str) -> str:
    return {"succeeded": "FINISHED", "failed": "FAILED", "cancelled": "KILLED"}[ended]
