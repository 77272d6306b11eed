"""Graders that score one rollout by themselves: the union of their types, and its parser.

Must not know `multi`, which combines them.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final, get_args

from pydantic import (
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from app.domain.faults.values import GRADER_NOT_AVAILABLE
from app.domain.graders.auto import AUTO, NEEDS_ROWS
from app.domain.graders.definition_work import DefinitionWork
from app.domain.graders.grader_model import GraderModel, fault_at
from app.domain.graders.kinds.ai_judge import AiJudgeGrader
from app.domain.graders.kinds.code_execution import CodeExecutionGrader
from app.domain.graders.kinds.contains import ContainsGrader
from app.domain.graders.kinds.endpoint import EndpointGrader
from app.domain.graders.kinds.environment import EnvironmentGrader
from app.domain.graders.kinds.exact_match import ExactMatchGrader
from app.domain.graders.kinds.format import FormatGrader
from app.domain.graders.kinds.json_valid import JsonValidGrader
from app.domain.graders.kinds.label_model import LabelModelGrader
from app.domain.graders.kinds.length_bounds import LengthBoundsGrader
from app.domain.graders.kinds.llm_judge import LlmJudgeGrader
from app.domain.graders.kinds.python import PythonGrader
from app.domain.graders.kinds.regex import RegexGrader
from app.domain.graders.kinds.score_model import ScoreModelGrader
from app.domain.graders.kinds.string_check import StringCheckGrader
from app.domain.graders.kinds.text_similarity import TextSimilarityGrader
from app.domain.graders.kinds.tool_call import ToolCallGrader

Models = MappingProxyType[str, type[GraderModel]]
LocalGrader = (
    StringCheckGrader
    | TextSimilarityGrader
    | ExactMatchGrader
    | ContainsGrader
    | JsonValidGrader
    | RegexGrader
    | FormatGrader
    | LengthBoundsGrader
    | ToolCallGrader
)
"""Graders without external calls, except `text_similarity` with `cosine`."""
SandboxedGrader = PythonGrader | CodeExecutionGrader
"""Graders that run code in the sandbox."""
JudgingGrader = ScoreModelGrader | LabelModelGrader | LlmJudgeGrader
"""Graders that call a judge about one rollout."""
RolloutGrader = LocalGrader | SandboxedGrader | JudgingGrader | EndpointGrader | EnvironmentGrader
"""Graders that score each rollout without its siblings."""
SingleGrader = (
    LocalGrader
    | SandboxedGrader
    | ScoreModelGrader
    | LabelModelGrader
    | LlmJudgeGrader
    | AiJudgeGrader
    | EndpointGrader
    | EnvironmentGrader
)


def models_of(union: object) -> Models:
    """Returns the models of a union of graders by their `type`."""
    return MappingProxyType({_type_of(model): model for model in get_args(union)})


def _type_of(model: type[GraderModel]) -> str:
    (name,) = get_args(model.model_fields["type"].annotation)
    return str(name)


SINGLE_MODELS: Final = models_of(SingleGrader)


def read_of(
    models: Models, sent: Any, *, work: DefinitionWork | None = None, beside: Sequence[str] = ()
) -> Any:
    """Reads a grader of one of `models` from JSON or an instance, as a part of a definition if its
    `work` is passed. Raises `ValidationError`, which also lists the types in `beside`.

    Parses by hand, so that an error has the path in the client's body, without a union's tags.
    """
    if isinstance(sent, GraderModel):
        return sent
    if not isinstance(sent, dict):
        raise PydanticCustomError("grader_type", "a grader must be an object")
    kind = sent.get("type")
    model = models.get(kind) if isinstance(kind, str) else None
    if model is not None:
        return model.model_validate(sent, context=work or DefinitionWork())
    if kind == "multi":
        raise fault_at("type", "a multi grader cannot hold another one")
    if kind == AUTO:
        raise fault_at("type", NEEDS_ROWS)
    if kind is None:
        raise ValidationError.from_exception_data(
            "Grader", [{"type": "missing", "loc": ("type",), "input": sent}]
        )
    known = f"there is no grader type {kind!r:.80}; there are {', '.join([*models, *beside])}"
    raise fault_at("type", known, kind=GRADER_NOT_AVAILABLE)


def _read_child(sent: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return read_of(SINGLE_MODELS, sent, work=DefinitionWork.of(info))


ChildGrader = Annotated[SingleGrader, Field(discriminator="type"), WrapValidator(_read_child)]
