"""Trackers of experiments to which a job writes: their options, libraries and directories."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.jobs.losses import OneOf
from app.kit.errors import InvalidRequest
from app.kit.fields import CustomerUrl, DescribedModel, Json, SecretString, value_of
from app.kit.texts import TRACKER_PROJECT

INTEGRATIONS: Final = "integrations"
TrackerKind = Literal["tensorboard", "wandb", "mlflow", "trackio"]
_DELETE: Final = 0x7F
DEFAULT_TRACES: Final = 2
MAX_TRACES: Final = 10
DEFAULT_EXPERIMENT: Final = "agent-rft"

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
WandbTag = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Traces = Annotated[int, Field(ge=0, le=MAX_TRACES, strict=True)]


@dataclass(frozen=True, slots=True)
class TrackerLibrary:
    title: str
    messages: tuple[str, ...]


LIBRARIES: Final = MappingProxyType[TrackerKind, TrackerLibrary](
    {
        "tensorboard": TrackerLibrary("TensorBoard", ("rollouts",)),
        "wandb": TrackerLibrary(
            "Weights & Biases",
            (
                *("*/.tmp", "*/.cache", "*/.config", "*/.local"),
                *("*/wandb/*/files/media", "*/wandb/*/tmp"),
            ),
        ),
        "mlflow": TrackerLibrary("MLflow", ("*/.tmp", "*/artifacts/*/artifacts/rollouts")),
        "trackio": TrackerLibrary("Trackio", ("*/.tmp", "*/*_traces.parquet", "*/traces")),
    }
)


def _without_query(url: str) -> str:
    if "?" in url or "#" in url:
        raise PydanticCustomError("url", "the address must have no query and no fragment")
    return url.rstrip("/")


def _without_controls(text: str) -> str:
    if any(ord(each) < ord(" ") or ord(each) == _DELETE for each in text):
        raise PydanticCustomError("controls", "it must have no control characters")
    return text


_Credential = Annotated[SecretString, AfterValidator(_without_controls)]


class _Open(DescribedModel):
    """A body whose unknown keys are refused or reported by the one who reads it."""

    model_config = ConfigDict(extra="allow")


class Tensorboard(_Open):
    """Options of the event files, which always have curves, settings and report."""

    traces_per_step: Traces = DEFAULT_TRACES
    """Rollouts of each training step whose messages are written: those of the highest and of the
    lowest rewards; 0 writes none."""


class TensorboardIntegration(_Open):
    """Event files for TensorBoard, in the installation's directory of trackers (an extension)."""

    type: Literal["tensorboard"]
    """TensorBoard."""
    tensorboard: Tensorboard = Field(default_factory=Tensorboard)
    """Options of the event files."""


class Wandb(_Open):
    """Project and run in Weights & Biases for the curves."""

    project: Name
    """Name of the project there."""
    name: Name | None = None
    """Name of the run; absent: the suffix of the job, or its id."""
    entity: Name | None = None
    """Team or user that owns the project; absent: that of the key."""
    tags: Annotated[list[WandbTag], Field(max_length=50)] | None = None
    """Tags of the run, at most 50 of at most 64 characters."""
    api_key: _Credential | None = None
    """Key of your account (an extension); stored sealed and never shown. Absent: the operator's
    key; without any key the run is written offline, for `wandb sync`."""
    traces_per_step: Traces = DEFAULT_TRACES
    """Rollouts of each training step in the table `rollouts` (an extension): those of the highest
    and of the lowest rewards; 0 writes none."""


class WandbIntegration(_Open):
    """A run in Weights & Biases. Unknown keys are left out."""

    type: Literal["wandb"]
    """Weights & Biases."""
    wandb: Wandb
    """Project and run for the curves."""


class Mlflow(_Open):
    """Server, experiment and run for the curves."""

    tracking_uri: Annotated[CustomerUrl, AfterValidator(_without_query)] | None = None
    """Address of your MLflow server; absent: a store in the installation's directory of
    trackers."""
    experiment: Name = DEFAULT_EXPERIMENT
    """Name of the experiment; it is made if the server has none of the name."""
    run_name: Name | None = None
    """Name of the run; absent: the suffix of the job, or its id."""
    tags: (
        Annotated[
            dict[
                Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.\-/ ]{1,250}$")],
                Annotated[str, StringConstraints(max_length=5000)],
            ],
            Field(max_length=50),
        ]
        | None
    ) = None
    """Tags of the run."""
    token: _Credential | None = None
    """Token that the server wants as `Authorization: Bearer …`; stored sealed and never shown."""
    username: Annotated[Name, AfterValidator(_without_controls)] | None = None
    """User of the server, instead of a token."""
    password: _Credential | None = None
    """Password of the user; stored sealed and never shown."""
    traces_per_step: Traces = DEFAULT_TRACES
    """Rollouts of each training step that become artifacts below `rollouts`: those of the highest
    and of the lowest rewards; 0 writes none."""

    @model_validator(mode="after")
    def _credentials_fit(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise PydanticCustomError("credentials", "'username' and 'password' belong together")
        if self.token is not None and self.username is not None:
            raise PydanticCustomError("credentials", "send 'token', or 'username' and 'password'")
        if self.tracking_uri is None and (self.token or self.username) is not None:
            raise PydanticCustomError(
                "credentials", "credentials without 'tracking_uri' are not used"
            )
        return self


class MlflowIntegration(_Open):
    """A run in MLflow, of your server or in the installation's own directory (an extension)."""

    type: Literal["mlflow"]
    """MLflow."""
    mlflow: Mlflow = Field(default_factory=Mlflow)
    """Server, experiment and run for the curves."""


class Trackio(_Open):
    """Project and run for the curves."""

    project: Annotated[str, StringConstraints(pattern=TRACKER_PROJECT)] = "agent-rft"
    """Name of the project: letters, digits, spaces, `_`, `-` and dots."""
    name: Name | None = None
    """Name of the run; absent: the suffix of the job, or its id."""
    traces_per_step: Traces = DEFAULT_TRACES
    """Rollouts of each training step that become traces: those of the highest and of the lowest
    rewards; 0 writes none."""


class TrackioIntegration(_Open):
    """A local database of Trackio in the installation's directory of trackers (an extension)."""

    type: Literal["trackio"]
    """Trackio."""
    trackio: Trackio = Field(default_factory=Trackio)
    """Project and run for the curves."""


AnyIntegration = WandbIntegration | TensorboardIntegration | MlflowIntegration | TrackioIntegration
INTEGRATION_MODELS: Final = get_args(AnyIntegration)
Integration = Annotated[AnyIntegration, Field(discriminator="type"), OneOf("integration")]
_READ: Final = TypeAdapter[AnyIntegration](Integration)


def stored_document(integration: AnyIntegration) -> Json:
    """Returns the known keys, those of W&B as sent and others with their defaults: unknown keys may
    contain a secret, and nothing reads them.
    """
    kind, as_sent = integration.type, integration.type == "wandb"
    options: BaseModel = getattr(integration, kind)
    known = set(type(options).model_fields)
    shown = options.model_dump(include=known, exclude_unset=as_sent, exclude_none=not as_sent)
    return {"type": kind, kind: shown}


def read_integration(stored: Json) -> AnyIntegration:
    return _READ.validate_python(stored)


def trackers_of(integrations: list[dict[str, Any]]) -> list[tuple[int, TrackerKind]]:
    return [
        (position, kind)
        for position, one in enumerate(integrations)
        for kind in LIBRARIES
        if one["type"] == kind
    ]


def is_local(integration: Json) -> bool:
    kind: TrackerKind = integration["type"]
    of_server = kind == "mlflow" and "tracking_uri" in integration["mlflow"]
    return kind != "wandb" and not of_server


def local_directory(kind: TrackerKind, position: int, *, project_id: str, job_id: str) -> str:
    """Returns the job's directory below that of trackers; its tracker alone writes to it."""
    of_job = f"{kind}/{project_id}/{job_id}"
    return of_job if kind == "tensorboard" else f"{of_job}/{position}"


def is_installed(kind: TrackerKind) -> bool:
    return find_spec(kind) is not None


_WANDB_PROJECT: Final = re.compile(r"[^/\\#?%:\x00-\x1f\x7f]{1,128}")
_REFUSED_THERE: Final = "'/', '\\', '#', '?', '%' or ':'"


def sent_integrations(body: Mapping[str, Any]) -> list[Any]:
    sent = body.get(INTEGRATIONS)
    return sent if isinstance(sent, list) else []


def integration_faults(integrations: Sequence[Any]) -> Iterator[InvalidRequest]:
    """Yields an error for each integration that an earlier one excludes, since a job has one
    directory of event files, and for each project that W&B would refuse while the job runs. Accepts
    integrations that are invalid. A stored job is not checked: it stays readable.
    """
    named = [value_of(one, "type") for one in integrations]
    for position, kind in enumerate(named):
        at = f"{INTEGRATIONS}[{position}]"
        if kind == "tensorboard" and kind in named[:position]:
            yield InvalidRequest(
                f"'{kind}' is named twice in '{INTEGRATIONS}'. Send it once.",
                param=f"{at}.type",
                code="invalid_value",
            )
        project = value_of(value_of(integrations[position], "wandb"), "project")
        if kind == "wandb" and isinstance(project, str) and not _WANDB_PROJECT.fullmatch(project):
            yield InvalidRequest(
                f"'{at}.wandb.project' must be 1 to 128 characters without control characters and "
                f"{_REFUSED_THERE}, as Weights & Biases wants it.",
                param=f"{at}.wandb.project",
                code="invalid_value",
            )
