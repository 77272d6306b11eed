"""Grader configurations, a closed union that grows by one file in `kinds` per type.

Owns the list of all types: a wrong formula, template or range is refused with its path when the
grader is created, never when the first sample is scored. Must not know how samples are scored.
Source: the hosted graders guide and SDK types, and this project's catalogue (`docs/graders.md`).
"""

from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from app.domain.documents.pointers import Path
from app.domain.documents.walk import value_of
from app.domain.graders.auto import AUTO, AutoGrader
from app.domain.graders.definition_work import DefinitionWork
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.single import SingleGrader, models_of, read_of

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
