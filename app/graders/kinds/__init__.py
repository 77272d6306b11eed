"""The kinds of graders that score by themselves, in the order of the published specification."""

from typing import Annotated, Final

from pydantic import Field, WrapValidator

from app.graders.grader_model import models_of, read_of
from app.graders.kinds.ai_judge import AiJudgeGrader
from app.graders.kinds.code_execution import CodeExecutionGrader
from app.graders.kinds.forms import FormatGrader, JsonValidGrader
from app.graders.kinds.judges import LabelModelGrader, LlmJudgeGrader, ScoreModelGrader
from app.graders.kinds.python import PythonGrader
from app.graders.kinds.remote import EndpointGrader, EnvironmentGrader
from app.graders.kinds.text_checks import (
    ContainsGrader,
    ExactMatchGrader,
    LengthBoundsGrader,
    RegexGrader,
    StringCheckGrader,
)
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


ChildGrader = Annotated[
    SingleGrader,
    Field(discriminator="type"),
    WrapValidator(lambda sent, _, info: read_of(SINGLE_MODELS, sent, work=DefinitionWork.of(info))),
]
