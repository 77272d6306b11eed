"""Generated scenarios on the wire (an extension)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from app.api.schemas.common import ClosedBody
from app.domain.data.example_counts import MIN_EXAMPLES
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.methods.reinforcement import MAX_TOOLS
from app.domain.registry.scenarios import ScenarioModel, ScenarioPlan, ScenarioSet

_Words = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]


def _enough_for_a_file(rows: int) -> int:
    if 0 < rows < MIN_EXAMPLES:
        raise PydanticCustomError(
            "too_few_rows",
            "a validation file has {least} rows or more: send at least {least}, or 0 for training "
            "rows alone, which no reinforcement job takes",
            {"least": MIN_EXAMPLES},
        )
    return rows


class GenerateScenarios(ClosedBody):
    """The tools of an agent, and the model that writes tasks for it."""

    tools: Annotated[list[Json], Field(min_length=1, max_length=MAX_TOOLS)]
    """Functions of the agent, as in a row: `{"type": "function", "function": {…}}`."""
    generator: ScenarioModel
    """The model that writes the tasks."""
    training_tasks: Annotated[int, Field(ge=10, le=500, strict=True)] = 24
    """Rows to train on."""
    validation_tasks: Annotated[
        int, Field(ge=0, le=100, strict=True), AfterValidator(_enough_for_a_file)
    ] = 10
    """Held-out rows: 10 and more, or 0 for training rows alone. A reinforcement job needs a
    validation file.
    """
    instructions: _Words | None = None
    """Words about the tasks that are wanted."""
    system_prompt: _Words | None = None
    """System message of each row."""

    def to_plan(self) -> ScenarioPlan:
        return ScenarioPlan(
            writer=self.generator,
            tools=tuple(self.tools),
            training_tasks=self.training_tasks,
            validation_tasks=self.validation_tasks,
            instructions=self.instructions,
            system_prompt=self.system_prompt,
        )


class GeneratedCurriculum(DescribedModel):
    """Rows of a curriculum, as a job's `curriculum` takes them."""

    training: list[Json]
    """Rows to train on; each has a `difficulty` from 0, easiest, to 1, hardest."""
    validation: list[Json]
    """Held-out rows."""


class GeneratedScenarios(DescribedModel):
    """The tasks that a model wrote."""

    object: Literal["scenarios"] = "scenarios"
    curriculum: GeneratedCurriculum
    """The rows; a create call takes them as its `curriculum`."""
    complete: bool
    """True when there are as many rows as were wanted."""
    faults: list[str]
    """Reasons why there are fewer rows."""
    duplicates: int
    """Tasks that were left out because they repeat another one, or almost."""
    unusable: int
    """Entries of the model's answers that were left out because they are no task with a
    difficulty."""
    questions: int
    """Questions that the model was asked."""
    prompt_tokens: int
    """Tokens of the questions."""
    completion_tokens: int
    """Tokens of the answers."""

    @classmethod
    def of(cls, written: ScenarioSet) -> "GeneratedScenarios":
        return cls(
            curriculum=GeneratedCurriculum(
                training=written.training, validation=written.validation
            ),
            complete=not written.faults,
            faults=written.faults,
            duplicates=written.duplicates,
            unusable=written.unusable,
            questions=written.questions,
            prompt_tokens=written.prompt_tokens,
            completion_tokens=written.completion_tokens,
        )
