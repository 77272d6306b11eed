"""The kinds of graders that score by themselves. A new one is a file here and its name below.

The order is that of the published specification.
"""

from typing import Annotated, Any, Final

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator

from app.graders.grader_model import models_of, read_of
from app.graders.kinds.ai_judge import AiJudgeGrader
from app.graders.kinds.code_execution import CodeExecutionGrader
from app.graders.kinds.contains import ContainsGrader
from app.graders.kinds.endpoint import EndpointGrader
from app.graders.kinds.environment import EnvironmentGrader
from app.graders.kinds.exact_match import ExactMatchGrader
from app.graders.kinds.format import FormatGrader
from app.graders.kinds.json_valid import JsonValidGrader
from app.graders.kinds.label_model import LabelModelGrader
from app.graders.kinds.length_bounds import LengthBoundsGrader
from app.graders.kinds.llm_judge import LlmJudgeGrader
from app.graders.kinds.python import PythonGrader
from app.graders.kinds.regex import RegexGrader
from app.graders.kinds.score_model import ScoreModelGrader
from app.graders.kinds.string_check import StringCheckGrader
from app.graders.kinds.text_similarity import TextSimilarityGrader
from app.graders.kinds.tool_call import ToolCallGrader
from app.graders.templates import DefinitionWork

SingleGrader = (
    StringCheckGrader
    | TextSimilarityGrader
    | ExactMatchGrader
    | ContainsGrader
    | JsonValidGrader
    | RegexGrader
    | FormatGrader
    | LengthBoundsGrader
    | ToolCallGrader
    | PythonGrader
    | CodeExecutionGrader
    | ScoreModelGrader
    | LabelModelGrader
    | LlmJudgeGrader
    | AiJudgeGrader
    | EndpointGrader
    | EnvironmentGrader
)
SINGLE_MODELS: Final = models_of(SingleGrader)


def _read_child(sent: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return read_of(SINGLE_MODELS, sent, work=DefinitionWork.of(info))


ChildGrader = Annotated[SingleGrader, Field(discriminator="type"), WrapValidator(_read_child)]
