"""`ai_judge`: one question to a judge compares all rollouts of a group (RULER). The idea is that of
OpenPipe's ART; the prompt and its checks are this project's.
"""

from typing import ClassVar, Final, Literal

from pydantic import Field
from typing_extensions import override

from app.domain.graders.judge_grader import JudgedGrader
from app.domain.graders.templates.plain_texts import StandardsText

DEFAULT_RUBRIC: Final = """\
- A rollout that reaches the goal scores clearly higher than one that does not.
- Among rollouts that reach it, the more direct one scores higher: fewer wasted steps and calls.
- A difference of scores is as large as the difference of quality: nearly equal rollouts score \
nearly the same.
- A rollout that makes real progress without reaching the goal scores more than one without any."""


class AiJudgeGrader(JudgedGrader):
    """A judge that scores the rollouts of a group against each other, 0…1, also as a part of a
    `multi` grader of a job. In an eval or a trial run it scores a single rollout.
    """

    compares_rollouts: ClassVar[bool] = True

    type: Literal["ai_judge"]
    name: str = Field(default="ai_judge", min_length=1, max_length=256)
    rubric: StandardsText = Field(default=DEFAULT_RUBRIC, min_length=1, max_length=20_000)
    """Criteria of the judge. Not a template."""
    repeats: int = Field(default=1, ge=1, le=8, strict=True)
    """Number of calls for each group, each with the rollouts in another order; the score is the
    mean.
    """
    shuffle_seed: int = Field(default=0, ge=0, lt=2**63, strict=True)
    """Seed of these orders."""

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True

    @property
    @override
    def parts_read_by_nature(self) -> tuple[str, ...]:
        return ("choices",)
