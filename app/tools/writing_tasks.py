"""Original open questions for a judge: a topic, a reader and a form, put together."""

from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.judge_prompts import JudgeBaseUrl, JudgeSampling, check_headers
from app.graders.kinds.llm_judge import LLM_JUDGE_DEFAULT_RUBRIC as DEFAULT_RUBRIC
from app.graders.kinds.llm_judge import Rubric
from app.kit.fields import JudgeName, SecretHeaders
from app.tools.environment_options import EnvironmentOptions, task_digits

_TOPICS: Final = (
    "why the sky is blue",
    "how a bicycle stays upright",
    "what a database index is for",
    "how yeast makes dough rise",
    "why ships made of steel float",
    "how a vaccine works",
    "what inflation means for savings",
    "why leaves change colour in autumn",
    "how a refrigerator cools",
    "what a hash function does",
    "why tides come twice a day",
    "how noise-cancelling headphones work",
    "what makes a password strong",
    "how a lock on a canal lifts a boat",
    "why bread goes stale",
    "how glasses correct short sight",
    "what a leap year is for",
    "how a search engine ranks pages",
    "why mountains are cold at the top",
    "how compound interest grows",
    "what a version control system keeps",
    "why salt melts ice on roads",
    "how bees find their way home",
    "what an opinion poll can and cannot say",
    "how a thermos keeps tea hot",
    "why echoes happen in valleys",
    "what a prime number is",
    "how a rainbow forms",
    "why old films flicker",
    "how a heat pump warms a house",
)
_READERS: Final = (
    "a child of ten",
    "a new colleague",
    "somebody who reads it on a phone",
    "a sceptical neighbour",
    "a student before an exam",
    "a visitor who speaks little English",
)
_FORMS: Final = (
    "in one paragraph",
    "in three short sentences",
    "with one everyday example",
    "as a list of four points",
    "and name one common mistake about it",
)
_SIZES: Final = (len(_TOPICS), len(_READERS), len(_FORMS))
TASKS: Final = len(_TOPICS) * len(_READERS) * len(_FORMS)


def writing_task(number: int) -> str:
    topic, reader, form = task_digits(number, _SIZES)
    return f"Explain {_TOPICS[topic]} to {_READERS[reader]}, {_FORMS[form]}."


MAX_PROMPTS: Final = 1_000


def _not_blank(prompt: str) -> str:
    if not prompt.strip():
        raise PydanticCustomError(
            "environment_error", "the prompt is blank: send a question, or leave it out"
        )
    return prompt


PromptText = Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_not_blank)]


def _absent(value: Any) -> bool:
    return value is None


class LlmJudgeEnvironment(EnvironmentOptions):
    """Open questions; a judge scores each answer by a rubric, 0 to 1."""

    grader_options: ClassVar[frozenset[str]] = frozenset(
        {"model", "base_url", "headers", "sampling_params", "rubric"}
    )

    type: Literal["llm_judge"]
    model: JudgeName | None = Field(default=None, exclude_if=_absent)
    """Name of the judge: a model of this service, or of the server at `base_url`. Required where
    the job has no other `grader`."""
    base_url: JudgeBaseUrl | None = Field(default=None, exclude_if=_absent)
    """The customer's own OpenAI-compatible server, e.g. `https://api.example/v1`."""
    headers: SecretHeaders | None = Field(default=None, exclude_if=_absent)
    """Headers for `base_url` alone."""
    sampling_params: JudgeSampling | None = Field(default=None, exclude_if=_absent)
    """Sampling of the judge."""
    rubric: Rubric = DEFAULT_RUBRIC
    """The criteria of the judge and their weights."""
    prompts: tuple[PromptText, ...] | None = Field(
        default=None, min_length=20, max_length=MAX_PROMPTS, exclude_if=_absent
    )
    """The questions to draw from, all different; absent: questions of this service."""

    @field_validator("prompts")
    @classmethod
    def _differ(cls, prompts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if prompts is not None and len({prompt.strip() for prompt in prompts}) < len(prompts):
            raise PydanticCustomError(
                "environment_error",
                "a prompt occurs twice, so a held-out task could be a training task",
            )
        return prompts

    @model_validator(mode="after")
    def _headers_have_an_address(self) -> Self:
        check_headers(self.headers, self.base_url)
        return self

    @property
    @override
    def missing_option(self) -> str | None:
        return "model" if self.model is None else None

    @property
    def problems(self) -> int:
        return TASKS if self.prompts is None else len(self.prompts)

    def row(self, number: int) -> dict[str, Any]:
        """Returns the row of a question, by its number."""
        question = writing_task(number) if self.prompts is None else self.prompts[number]
        return {"messages": [{"role": "user", "content": question}], "question": question}

    def grader(self) -> dict[str, Any]:
        judge = {
            "type": "llm_judge",
            "model": self.model,
            "question": "{{item.question}}",
            "rubric": [criterion.model_dump(mode="json") for criterion in self.rubric],
            "base_url": self.base_url,
            "headers": self.headers,
            "sampling_params": None
            if self.sampling_params is None
            else self.sampling_params.model_dump(mode="json", exclude_none=True),
        }
        return {key: value for key, value in judge.items() if value is not None}
