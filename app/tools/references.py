"""References to registered objects in a create call: members of its unions, beside definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.curricula.curricula import CURRICULUM_SPLITS
from app.graders.definitions import AnyGrader, AutoGrader, Grader, read_grader_or_auto
from app.jobs.reinforcement import MAX_TOOLS, ReinforcementMethod
from app.jobs.stop_options import is_unset
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import DescribedModel
from app.tools.environment_options import HTTP
from app.tools.environments import (
    PARAM,
    AnyEnvironment,
    Environment,
    is_built_in_name,
    misspelt_environment,
    read_environment,
)
from app.tools.mcp_servers import MAX_MCP_SERVERS, McpServerSpec
from app.tools.tools import ToolSpec

_KEYS: Final = frozenset({"id", "version"})
_MAX_ID: Final = 128
_MAX_VERSION: Final = 2**31 - 1


class RegisteredReference(DescribedModel):
    """A reference to a registered object, instead of its definition."""

    model_config = ConfigDict(frozen=True)

    id: str
    """Id of the registered object, such as `grader_…` or `tool_…`."""
    version: int | None = None
    """The newest when absent."""

    @model_validator(mode="before")
    @classmethod
    def _has_no_other_key(cls, sent: Any) -> Any:
        for key in sent if isinstance(sent, dict) else ():
            if key not in _KEYS:
                raise _fault("a reference holds 'id' and 'version' only", key)
        return sent

    @field_validator("id", mode="before")
    @classmethod
    def _is_an_id(cls, sent: Any) -> Any:
        if not isinstance(sent, str) or len(sent) > _MAX_ID:
            raise PydanticCustomError("reference_error", "it is not an id")
        return sent

    @field_validator("version", mode="before")
    @classmethod
    def _is_a_version(cls, sent: Any) -> Any:
        number = isinstance(sent, int) and not isinstance(sent, bool)
        if sent is not None and not (number and 1 <= sent <= _MAX_VERSION):
            raise PydanticCustomError("reference_error", "it is not a version")
        return sent


class NamedReference(RegisteredReference):
    """A registered object by its id or its name, as a text alone."""


@dataclass(frozen=True, slots=True)
class InlineCurriculum:
    training: list[dict[str, Any]]
    validation: list[dict[str, Any]]


SentCurriculum = RegisteredReference | InlineCurriculum


def is_reference(sent: Any, definition_key: str) -> bool:
    """Returns whether an object has an id and lacks the key that every definition has."""
    return isinstance(sent, dict) and "id" in sent and definition_key not in sent


def is_registered(part: object) -> bool:
    return isinstance(part, RegisteredReference)


def read_tool(sent: Any) -> ToolSpec | RegisteredReference:
    if isinstance(sent, ToolSpec | RegisteredReference):
        return sent
    return read_tool_reference(sent) or ToolSpec.model_validate(sent)


def read_grader_or_reference(sent: Any) -> AnyGrader | AutoGrader | RegisteredReference:
    if isinstance(sent, RegisteredReference):
        return sent
    return read_grader_reference(sent) or read_grader_or_auto(sent)


def read_tool_reference(sent: Any) -> RegisteredReference | None:
    return RegisteredReference.model_validate(sent) if is_reference(sent, "server_url") else None


def read_grader_reference(sent: Any) -> RegisteredReference | None:
    return RegisteredReference.model_validate(sent) if is_reference(sent, "type") else None


def read_environment_reference(sent: Any) -> RegisteredReference | None:
    if isinstance(sent, str):
        return None if is_built_in_name(sent) else NamedReference.model_validate({"id": sent})
    return RegisteredReference.model_validate(sent) if is_reference(sent, "type") else None


def plays_rows(sent: Any) -> bool:
    if isinstance(sent, str):
        return not is_built_in_name(sent)
    return isinstance(sent, dict) and (sent.get("type") == HTTP or is_reference(sent, "type"))


def unknown_environment(sent: Any) -> InvalidRequest | None:
    meant = misspelt_environment(sent) if isinstance(sent, str) else None
    if meant is None or is_built_in_name(sent):
        return None
    return InvalidRequest(
        f"No such environment: {sent:.80}; {meant} A registered environment plays the rows of "
        "files: send 'training_file' and 'validation_file' with its name.",
        param=PARAM,
        code="environment_not_found",
    )


def read_environment_or_reference(sent: Any) -> AnyEnvironment | RegisteredReference:
    if isinstance(sent, RegisteredReference):
        return sent
    return read_environment_reference(sent) or read_environment(sent)


def read_curriculum(sent: Any) -> SentCurriculum:
    if isinstance(sent, str):
        return RegisteredReference.model_validate({"id": sent})
    if not isinstance(sent, dict):
        raise _fault("it must be an id, an object with an id, or rows")
    if "id" in sent:
        return RegisteredReference.model_validate(sent)
    for key in sent:
        if key not in CURRICULUM_SPLITS:
            raise _fault("it is not a part of a curriculum", key)
    return InlineCurriculum(_rows(sent, "training"), _rows(sent, "validation"))


def _rows(sent: dict[str, Any], split: str) -> list[dict[str, Any]]:
    rows = sent.get(split)
    if split == "validation" and (rows is None or rows == []):
        return []
    if not isinstance(rows, list) or not rows:
        raise _fault("it must be a list of rows, with one at least", split)
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise _fault("a row is an object", split, index)
    return rows


def _fault(message: str, *path: str | int) -> ValidationError:
    error = PydanticCustomError("reference_error", "{fault}", {"fault": message})
    return ValidationError.from_exception_data(
        "Reference", [{"type": error, "loc": path, "input": None}]
    )


# These read a union's members by hand, so that an error's place is the path that a client wrote.
SentTool = Annotated[ToolSpec | RegisteredReference, WrapValidator(lambda sent, _: read_tool(sent))]
SentGrader = Annotated[
    Grader | AutoGrader | RegisteredReference,
    WrapValidator(lambda sent, _: read_grader_or_reference(sent)),
]
SentEnvironment = Annotated[
    Environment | RegisteredReference | str,
    WrapValidator(lambda sent, _: read_environment_or_reference(sent)),
]
TriedGrader = Annotated[
    Grader | AutoGrader, WrapValidator(lambda sent, _: read_grader_or_auto(sent))
]


class ReinforcementBody(ReinforcementMethod):
    """Settings of a reinforcement job: grader, tools and training."""

    environment: SentEnvironment | None = Field(  # type: ignore[assignment]  # wider before it is resolved
        default=None, exclude_if=is_unset
    )
    """An environment (an extension): a built-in source of tasks, instead of the files, or one of
    type `http`, which plays the rows of the files. It is a definition, a registered one as
    `{"id": "env_…"}`, or a text: the name of a built-in one, or else the id or the name of a
    registered one. It has its own grader."""
    grader: SentGrader | None = None  # type: ignore[assignment]  # wider before it is resolved
    """The function that scores each rollout: a definition, a registered grader as `{"id":
    "grader_…"}`, or `auto`, which is replaced by the grader that fits the rows of the training
    file. Required without an `environment`, whose own grader it replaces."""
    tools: tuple[SentTool, ...] = Field(  # type: ignore[assignment]  # wider before it is resolved
        default=(), max_length=MAX_TOOLS
    )
    """Tools that the service calls for the model: definitions, or registered ones as
    `{"id": "tool_…"}`. Without any, the tools of rows are offered and their calls graded, not
    run."""

    @model_validator(mode="after")
    def _has_a_grader(self) -> Self:
        path: tuple[str, ...] | None = None
        if self.grader is None and self.environment is None:
            path = ("grader",)
        elif self.grader is None and not isinstance(
            self.environment, RegisteredReference | str | None
        ):
            needed = self.environment.missing_option
            path = None if needed is None else ("environment", needed)
        if path is not None:
            raise ValidationError.from_exception_data(
                "Reinforcement", [{"type": "missing", "loc": path, "input": None}]
            )
        return self

    def with_definitions(
        self,
        tools: tuple[ToolSpec, ...],
        grader: AnyGrader,
        environment: AnyEnvironment | None,
        *,
        served: Sequence[McpServerSpec] = (),
    ) -> ReinforcementMethod:
        values = {**dict(self), "tools": tools, "grader": grader, "environment": environment}
        values["mcp_servers"] = servers = (*self.mcp_servers, *served)
        if len(servers) > MAX_MCP_SERVERS:
            why = f"its tools and 'mcp_servers' have more than {MAX_MCP_SERVERS} MCP servers"
            raise refused_value("method.reinforcement.tools", why)
        return ReinforcementMethod.model_construct(self.model_fields_set, **values)
