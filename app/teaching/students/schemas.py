"""Students and skills on the wire (an extension)."""

from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, SkipValidation, StringConstraints

from app.jobs.reply_schemas import FineTuningJob
from app.kit.errors import refused_value
from app.kit.fields import DescribedModel
from app.kit.schemas import ClosedBody
from app.kit.texts import TOOL_NAME
from app.models.chat_schemas import ChatCompletionRequest
from app.models.models import STUDENT_PREFIX
from app.teaching.coach.schemas import CoachChoices, CoachSessionObject
from app.teaching.plans.schemas import ImprovementPlan, PlannedJob
from app.teaching.students.students import (
    MAX_REGRESSION_EVALS,
    GateRuns,
    RegressionRows,
    SkillStatus,
    Student,
    StudentChanges,
)

Text = Annotated[str, StringConstraints(min_length=1, max_length=256)]
MAX_INSTRUCTIONS: Final = 100_000
EvalIds = Annotated[tuple[Text, ...], Field(max_length=MAX_REGRESSION_EVALS)]


class CreateStudent(ClosedBody):
    """A new student: a name for a base model that is to improve."""

    name: Annotated[str, Field(pattern=TOOL_NAME)]
    """Name of the student, unique in the project."""
    base_model: Text
    """Name of the base model that the student begins with."""
    regression_evals: EvalIds = ()
    """Ids of evals in which a new skill must lose nothing. The rows are those of the run of each
    eval that is the newest one now and samples a model. Without any, the gate holds every skill.
    """


class UpdateStudent(ClosedBody):
    """Changes of a student; absent fields do not change."""

    regression_evals: EvalIds = ()
    """Ids of the evals that replace the present ones; the rows are chosen as at the creation."""
    instructions: Annotated[str, StringConstraints(max_length=MAX_INSTRUCTIONS)] | None = None
    """Instructions of the version that answers now, from the next question on. Other versions keep
    theirs. An empty text is none; `null` brings back those of the version's examples.
    """

    def changes(self) -> StudentChanges:
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        return cast("StudentChanges", sent)


class ProposeSkill(ClosedBody):
    """A skill to try at the gate."""

    job: Text
    """Id of the succeeded job whose model is proposed."""


class ImproveStudent(PlannedJob):
    """The improvement plan of a job that trains a student further, from the model that answers for
    it now, or of the jobs of a Coach session.
    """

    coach: CoachChoices | None = None
    """Options of a Coach session that makes the jobs, as in `POST /v1/coach_sessions`; `{}` has
    their defaults. Absent: one job.
    """


class StudentImprovement(DescribedModel):
    """A job or a Coach session that was started for a student, with the plan that its jobs are
    compiled from.
    """

    object: Literal["student.improvement"] = "student.improvement"
    student: str
    """Name of the student. Propose the job as its skill when it has succeeded."""
    job: FineTuningJob | None
    """The job; its `model` is the one that answered when it was created. `null` with `coach`."""
    coach_session: CoachSessionObject | None
    """The session, which proposes skills itself; `null` without `coach`."""
    plan: ImprovementPlan
    """The compiled plan with cost and explanation."""


class StudentChat(ChatCompletionRequest):
    """A chat completion of a student: a call of a model without the model's name."""

    model: SkipValidation[Text | None] = None  # type: ignore[assignment] # the path names it
    """May be left out; if sent, it must be `student:NAME` with the name in the path."""

    def sent_to(self, name: str) -> dict[str, Any]:
        """Returns the body of a chat completion. Raises `InvalidRequest` for another model."""
        sent, model = self.sent(), f"{STUDENT_PREFIX}{name}"
        if sent.get("model") not in (None, model):
            raise refused_value(
                "model", f"the path names the student: leave it out, or send '{model}'"
            )
        return {**sent, "model": model}


class PromoteSkill(ClosedBody):
    """A skill that is to answer for its student."""

    skill: Text
    """Id of a skill that passed the gate."""


class RollBackSkill(ClosedBody):
    """An earlier skill that is to answer again."""

    skill: Text | None
    """Id of a skill that was current before; `null` for the base model."""


class StudentObject(DescribedModel):
    """A student: a base model and the skills that it learned."""

    id: str
    """The name, for `after`."""
    object: Literal["student"] = "student"
    name: str
    base_model: str
    """Name of the base model, which answers while there is no current skill."""
    regression_sets: list[RegressionRows]
    """Rows in which a new skill must lose nothing."""
    current_skill: str | None
    """Id of the skill that answers for `student:NAME`; `null` while the base model does."""
    instructions: str | None
    """System message of a conversation with `student:NAME` that has none of its own."""
    created_at: int

    @classmethod
    def of(cls, row: Student) -> "StudentObject":
        return cls.read(row, id=row.name)


class SkillComparison(DescribedModel):
    """A paired comparison of the skill's model with the one that it would replace."""

    subject: str
    """`target` for the held-out rows of the skill's job, or the id of an eval."""
    difference: float | None
    """Mean over rows of the new score less the old one; `null` if they cannot be compared."""
    interval: list[float] | None
    """95 % interval of the paired difference; `null` for fewer than 6 rows."""
    rows: int
    """Rows that both models answered."""
    fault: str | None
    """The reason for which the models cannot be compared; `null` if they can."""


class SkillObject(DescribedModel):
    """A skill: the model of a job that was proposed to a student, and the gate's decision."""

    id: str
    object: Literal["student.skill"] = "student.skill"
    student: str
    """Name of the student that it was proposed to."""
    job_id: str
    """The job that trained it."""
    model: str
    """Name of the tuned model, which can be called by this name as well."""
    baseline: str
    """Name of the model that answered for the student when the skill was proposed."""
    instructions: str | None
    """The system message with which most of the job's training rows begin; `null` if there is none.
    """
    status: SkillStatus
    """State at the gate; `passed` and `held` are final."""
    reason: str | None
    """The gate's decision in sentences with numbers; `null` while it runs."""
    runs: list[GateRuns]
    """Eval runs of the gate, one pair for each regression eval."""
    comparisons: list[SkillComparison]
    """Results of the gate: the target, then each regression eval; empty while it runs."""
    promoted_at: int | None
    """Time at which it last became current; `null` if it never was."""
    created_at: int


class StudentDeleted(DescribedModel):
    """The confirmation that a student and its history are deleted."""

    name: str
    object: Literal["student.deleted"] = "student.deleted"
    deleted: bool = True
