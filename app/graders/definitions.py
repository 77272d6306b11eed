"""The union of all graders, and its reader."""

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from app.graders.grader_model import AUTO, GraderModel, graders_in, models_of, read_of
from app.graders.json_schemas import CHECK_LIMIT_S, JsonSchemaFault
from app.graders.kinds import SingleGrader
from app.graders.kinds.multi import MultiGrader
from app.graders.templates import DefinitionWork
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import JudgeName, Path, parameter, value_of


class AutoGrader(GraderModel):
    """The grader that fits the rows, chosen before the job exists (an extension)."""

    # A key that nothing reads would be lost with it, so that it is refused.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["auto"]
    name: str | None = Field(default=None, min_length=1, max_length=256)
    """Name of the chosen grader; absent: its type."""
    model: JudgeName | None = None
    """Name of a judge, for rows without a reference."""


def pattern_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the fault of each expression and each JSON Schema at or below the definitions that
    cannot be compiled. For a thread: it asks another process.
    """
    ends = time.monotonic() + CHECK_LIMIT_S
    for root, definition in definitions:
        for path, grader in graders_in(definition):
            field = grader.compiled_field
            if field is None:
                continue
            param = parameter(root, (*path, field))
            if time.monotonic() > ends:
                late = "those before it take too long together; make them simpler"
                yield refused_value(param, late)
                continue
            try:
                grader.check_compiled()
            except JsonSchemaFault as fault:
                yield refused_value(param, str(fault))


AnyGrader = SingleGrader | MultiGrader
_MODELS: Final = models_of(AnyGrader)
_GRADER: Final = "grader"
_PART: Final = len((_GRADER, "graders", "name"))


def _read_any(sent: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return read_grader(sent, work=DefinitionWork.of(info))


def read_grader(sent: Any, *, work: DefinitionWork | None = None) -> AnyGrader:
    """Returns a grader of any kind from JSON or an instance. Raises `ValidationError`."""
    grader: AnyGrader = read_of(_MODELS, sent, work=work)
    return grader


def read_grader_or_auto(sent: Any) -> AnyGrader | AutoGrader:
    """Returns a grader or `auto`, for callers with rows from which to choose. Raises
    `ValidationError`.
    """
    if isinstance(sent, AutoGrader):
        return sent
    if isinstance(sent, dict) and sent.get("type") == AUTO:
        return AutoGrader.model_validate(sent)
    grader: AnyGrader = read_of(_MODELS, sent, beside=(AUTO,))
    return grader


def unused_paths(method: Any) -> frozenset[Path]:
    """Returns the paths, in `method.reinforcement` (an instance or JSON), of the graders that its
    grader contains but does not use, so that they never run. Empty for a grader that cannot be
    read.
    """
    try:
        names = read_grader(value_of(method, _GRADER)).unused_parts
    except ValueError:  # pydantic raises its two kinds
        return frozenset()
    return frozenset((_GRADER, "graders", name) for name in names)


def is_used(path: Path, unused: frozenset[Path]) -> bool:
    """Returns whether a path of a method is outside of the `unused_paths`."""
    return path[:_PART] not in unused


def passing_score(kind: str) -> float | None:
    """Returns the lowest passing score of a grader of this type, if the type determines it."""
    model = _MODELS.get(kind)
    return None if model is None else model.passing_score


Grader = Annotated[AnyGrader, Field(discriminator="type"), WrapValidator(_read_any)]
GRADER_MODELS: Final[tuple[type[BaseModel], ...]] = tuple(_MODELS.values())
