"""Improvement plans on the wire (an extension)."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from app.jobs.jobs import Caps
from app.jobs.preflight import PreflightReport
from app.jobs.schemas import (
    CreateFineTuningJob,
    DescribedBy,
    Fault,
    Text,
    read_call,
    refuse_unknown,
    unread_in_method,
)
from app.jobs.supervised import MethodType
from app.kit.errors import (
    InvalidRequest,
    NotFound,
    PreflightIssue,
    RequestError,
    missing_parameter,
    refused_value,
)
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, Metadata, first_fault
from app.teaching.plans.knob_readings import Outside, PlanEstimate, plan_estimate
from app.teaching.plans.plans import PARAM, CompiledPlan, KnobName, Knobs, PlanRequest, Setting
from app.teaching.recipes.recipes import PlanRecipe
from app.tools.references import plays_rows

_DATA: Final = ("training_file", "validation_file", "curriculum")
_CALL: Final = (*_DATA, "seed", "suffix", "metadata")
_PARTS: Final = ("grader", "tools", "mcp_servers", "environment")
"""Parts of the reinforcement method that a plan names at its top."""


class PlanKnobs(Knobs):
    """Knob positions of a plan; absent ones are the recipe's, or else the defaults."""


class PlannedJob(ClosedBody):
    """Everything of a plan except its model: the data, the parts of the method, and the knobs."""

    recipe: Text | None = None
    """Id of the recipe to start from; it brings method, grader, knobs, and, without data of your
    own, its sample curriculum."""
    method: MethodType | None = None
    """Training method; absent: the recipe's, or else reinforcement."""
    training_file: Text | None = None
    """Id of a file with training rows."""
    validation_file: Text | None = None
    """Id of a file with held-out rows for validations."""
    curriculum: Text | Json | None = None
    """Registered curriculum or inline rows, as in a job, instead of files."""
    grader: Text | Json | None = None
    """Grader definition or reference, as in a job; absent: the environment's, or else the
    recipe's."""
    tools: list[Json] | None = None
    """Tools that the service calls, as in a job."""
    mcp_servers: list[Json] | None = None
    """Servers of tools, as in a job."""
    environment: Text | Json | None = None
    """Environment of the episodes, as in a job."""
    knobs: Annotated[Json, DescribedBy(PlanKnobs)] | None = None
    """Knob positions; absent ones are the recipe's, or else the middle."""
    seed: Annotated[int, Field(ge=0, le=2147483647, strict=True)] | None = None
    """Seed that the job gets; absent: chosen when it is created."""
    suffix: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Part of the tuned model's name, for the job."""
    metadata: Metadata | None = None

    def request_for(self, model: str, recipe: PlanRecipe | None) -> PlanRequest:
        kind = self.method or (recipe.method if recipe else "reinforcement")
        if recipe is not None and kind != recipe.method:
            reason = f"the recipe '{recipe.id}' is of the method '{recipe.method}'"
            raise refused_value("method", reason)
        sent: dict[str, Any] = {"model": model}
        sent |= {name: value for name in _CALL if (value := getattr(self, name)) is not None}
        makes_tasks = self.environment is not None and not plays_rows(self.environment)
        sample = None if recipe is None else recipe.sample_curriculum
        if sample is not None and not makes_tasks and not any(name in sent for name in _DATA):
            sent["curriculum"] = sample.model_dump(mode="json")
        options = {} if recipe is None else dict(recipe.options)
        if self.environment is not None:
            options.pop("grader", None)  # an environment has a grader of its own
        options |= self._parts(kind, recipe)
        return PlanRequest(kind=kind, knobs=self._knobs(recipe), call=sent, options=options)

    def _parts(self, kind: MethodType, recipe: PlanRecipe | None) -> dict[str, Any]:
        parts = {name: value for name in _PARTS if (value := getattr(self, name)) is not None}
        for name in parts if kind != "reinforcement" else ():
            raise refused_value(name, f"a job of the method '{kind}' has none; leave it out")
        graded = parts.keys() & {"grader", "environment"} or recipe is not None
        if kind == "reinforcement" and not graded:
            raise missing_parameter("grader")
        return parts

    def _knobs(self, recipe: PlanRecipe | None) -> Knobs:
        sent = {name: value for name, value in (self.knobs or {}).items() if value is not None}
        own = {} if recipe is None else recipe.knobs.model_dump(exclude_none=True)
        if "practice_mode" in sent:
            own.pop("n_epochs", None)
        try:
            return Knobs.model_validate({**own, **sent})
        except ValidationError as error:
            raise first_fault(PARAM, error) from error


class CompileImprovementPlan(PlannedJob):
    """A plan to compile: a model, its data, what rates an answer, and the knobs."""

    model: Text
    """Base model, or a tuned one (`ft:…`) to improve further."""

    def to_request(self, recipe: PlanRecipe | None) -> PlanRequest:
        return self.request_for(self.model, recipe)


class ExplainImprovementPlan(ClosedBody):
    """The job to read: the body of a create call, or the id of a job."""

    job: Json | None = None
    """Body of `POST /v1/fine_tuning/jobs`."""
    job_id: Text | None = None
    """Id of one of the project's jobs."""

    def to_call(self) -> tuple[MethodType, Json, Caps] | None:
        if self.job is None:
            if self.job_id is None:
                raise missing_parameter("job")
            return None
        if self.job_id is not None:
            raise refused_value("job_id", "send 'job' or 'job_id', not both")
        try:
            spec = CreateFineTuningJob.model_validate(self.job).to_spec()
            method = spec.method
            refuse_unknown(method)
        except ValidationError as error:
            raise first_fault("job", error) from error
        except InvalidRequest as error:
            param = "job" if error.param is None else f"job.{error.param}"
            raise InvalidRequest(error.message, param=param, code=error.code) from error
        return method.kind, method.model_dump(mode="json", exclude=set(_PARTS)), spec.caps

    def warnings(self) -> list[Fault]:
        """Warns of each key that nothing reads. Raises `InvalidRequest` for other faults."""
        if self.job is None:
            return []
        issues = read_call(self.job)[1]
        for issue in issues:
            if issue.severity == "error":
                param = "job" if issue.param is None else f"job.{issue.param}"
                raise InvalidRequest(issue.message, param=param, code=issue.code)
        return [Fault.of(issue) for issue in [*issues, *unread_in_method(self.job)]]


class KnobExplanation(DescribedModel):
    """The settings of one knob, with their reasons."""

    knob: KnobName
    """Name of the knob."""
    position: str | int | float | None
    """Position of the knob; `null` for a target that is not set."""
    sentence: str
    """Everything that the knob sets, in one sentence."""
    settings: list[Setting]
    """Each hyperparameter that the knob sets."""


class ImprovementPlan(DescribedModel):
    """A compiled plan; nothing is stored and no job is made."""

    object: Literal["improvement_plan"] = "improvement_plan"
    recipe: str | None
    """Id of the recipe that the plan started from; `null` without one."""
    method: MethodType
    """Training method of the job."""
    knobs: Knobs
    """All knob positions, with those that were not sent."""
    job: Json
    """Body for `POST /v1/fine_tuning/jobs`, to read, edit and send."""
    estimate: PlanEstimate | None
    """Cost of the job; `null` if the rows cannot be counted."""
    explanation: list[KnobExplanation]
    """The effect of each knob on the job."""
    warnings: list[Fault]
    """Faults with which the job would run, as `validate` reports them."""

    @classmethod
    def of(
        cls, plan: CompiledPlan, recipe: PlanRecipe | None, report: PreflightReport
    ) -> "ImprovementPlan":
        """Raises the first error of the report, at the plan's own parameter."""
        for issue in report.issues:
            if issue.severity == "error":
                raise _refusal(issue)
        kind: MethodType = plan.job["method"]["type"]
        return cls.read(
            plan,
            recipe=None if recipe is None else recipe.id,
            method=kind,
            estimate=plan_estimate(kind, plan.job, report),
            warnings=[Fault.of(issue) for issue in report.issues],
        )


class ImprovementPlanReading(DescribedModel):
    """A job as the nearest knob positions."""

    object: Literal["improvement_plan.reading"] = "improvement_plan.reading"
    method: MethodType
    """Training method of the job."""
    knobs: Knobs
    """Nearest position of each knob."""
    explanation: list[KnobExplanation]
    """The settings of these positions."""
    exact: bool
    """True if the positions express the whole job."""
    outside: list[Outside]
    """Settings of the job that the positions do not express."""
    warnings: list[Fault]
    """Keys of the sent body that nothing reads."""


def _refusal(issue: PreflightIssue) -> RequestError:
    """Returns an error of the job as one of the plan; an object that is missing is a 404."""
    param, message = issue.param, issue.message.replace("'method.type'", "'method'")
    for part in _PARTS:
        path = f"method.reinforcement.{part}"
        message = message.replace(f"'{path}", f"'{part}")
        if param is not None and (param == path or param.startswith((f"{path}.", f"{path}["))):
            param = param.removeprefix("method.reinforcement.")
    if issue.line is not None and not message.startswith(f"Line {issue.line}"):
        message = f"Line {issue.line}: {message}"
    names_object = param in _DATA or (param is not None and param.endswith(".id"))
    missing = names_object and issue.code.endswith("not_found")
    error = NotFound if missing else InvalidRequest
    return error(message, param=param, code=issue.code)
