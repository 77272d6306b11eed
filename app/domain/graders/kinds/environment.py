"""`environment`: the rewards that an HTTP environment gave in the steps of a rollout."""

from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from app.domain.graders.grader_model import GraderModel


class EnvironmentGrader(GraderModel):
    """The sum of the rewards that the job's HTTP environment gave in a rollout's steps."""

    needs_environment: ClassVar[bool] = True

    type: Literal["environment"]
    name: str = Field(default="environment", min_length=1, max_length=256)

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True
