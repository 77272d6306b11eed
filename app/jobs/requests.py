"""A create call as a domain value, before its references are resolved."""

from dataclasses import dataclass, fields, replace
from typing import Any, Final, assert_never

from app.graders.choice import GraderChoice
from app.jobs.jobs import JobOptions, NewJob, TuningMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.errors import InvalidRequest, missing_parameter
from app.tools.environments import PARAM, BuiltIn, built_in
from app.tools.references import (
    InlineCurriculum,
    RegisteredReference,
    ReinforcementBody,
    SentCurriculum,
)

CURRICULUM: Final = "curriculum"
RequestedMethod = SupervisedMethod | DpoMethod | ReinforcementBody


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest(JobOptions):
    training_file: str | None
    validation_file: str | None
    curriculum: SentCurriculum | None = None
    """The rows, instead of files."""
    method: RequestedMethod

    def check_files(self) -> None:
        """Raises `InvalidRequest` when none of files, curriculum and environment is sent, or more
        than one.
        """
        if self.environment is not None:
            self._check_environment_alone()
            return
        match self.curriculum:
            case None:
                self.required_files(self.training_file, self.validation_file)
                return
            case InlineCurriculum(validation=rows):
                validation = CURRICULUM if rows else None
            case RegisteredReference():
                validation = CURRICULUM  # its files are known once it is resolved
            case _:
                assert_never(self.curriculum)
        for name in ("training_file", "validation_file"):
            if getattr(self, name) is not None:
                raise InvalidRequest(
                    f"Send 'curriculum' or '{name}', not both.",
                    param=CURRICULUM,
                    code="invalid_value",
                )
        self.required_files(CURRICULUM, validation)

    def required_files(self, training: str | None, validation: str | None) -> str:
        """Returns the training file. Raises `InvalidRequest` for the first required file that is
        missing, at the curriculum if the rows come from one.
        """
        try:
            return required_files(self.method, training, validation)
        except InvalidRequest as fault:
            if self.curriculum is None:
                raise
            raise self._curriculum_lacks(str(fault.param).removesuffix("_file")) from None

    def _curriculum_lacks(self, split: str) -> InvalidRequest:
        match self.curriculum:
            case InlineCurriculum():
                param, cure = f"{CURRICULUM}.{split}", f"send '{CURRICULUM}.{split}'"
            case RegisteredReference() | None:
                param, cure = CURRICULUM, "send one that has them"
            case _:
                assert_never(self.curriculum)
        return InvalidRequest(
            f"The curriculum has no {split} rows, which the job needs: {cure}.",
            param=param,
            code="missing_required_parameter",
        )

    @property
    def environment(self) -> BuiltIn | None:
        """The built-in environment that provides the tasks."""
        method = self.method
        match method:
            case ReinforcementBody():
                return built_in(method.environment)
            case SupervisedMethod() | DpoMethod():
                return None
            case _:
                assert_never(method)

    def _check_environment_alone(self) -> None:
        for name in ("training_file", "validation_file", CURRICULUM):
            if getattr(self, name) is not None:
                raise InvalidRequest(
                    f"The tasks come from '{PARAM}': send '{name}' or an environment, not both.",
                    param=name,
                    code="invalid_value",
                )

    def with_files(self, body: dict[str, Any]) -> "JobRequest":
        """Returns the call with the files named in its resolved JSON, instead of a curriculum or an
        environment's tasks.
        """
        if self.curriculum is None and self.environment is None:
            return self
        return replace(
            self,
            curriculum=None,
            training_file=body.get("training_file"),
            validation_file=body.get("validation_file"),
        )

    def with_grader(self, choice: GraderChoice | None) -> "JobRequest":
        """Returns the call with the chosen grader instead of `auto`."""
        if choice is None:
            return self
        method = self.method
        match method:
            case ReinforcementBody():
                update = {"grader": choice.read()}
                return replace(self, method=method.model_copy(update=update))
            case SupervisedMethod() | DpoMethod():
                return self
            case _:
                assert_never(method)

    def resolved(
        self,
        method: TuningMethod,
        files: tuple[str | None, str | None],
        grader_choice: GraderChoice | None,
    ) -> NewJob:
        """Returns the job to create; `files` are those of training and validation. Raises
        `InvalidRequest` when a file that the method needs is missing.
        """
        training, validation = files
        return NewJob(
            **{each.name: getattr(self, each.name) for each in fields(JobOptions)},
            training_file=self.required_files(training, validation),
            validation_file=validation,
            method=method,
            grader_choice=grader_choice,
        )


def required_files(method: RequestedMethod, training: str | None, validation: str | None) -> str:
    """Returns the training file. Raises `InvalidRequest` for the first required file that is
    missing.
    """
    if training is None:
        raise missing_parameter("training_file")
    match method:
        case ReinforcementMethod():
            if validation is None:
                raise InvalidRequest(
                    "A validation file is required for reinforcement fine-tuning.",
                    param="validation_file",
                    code="missing_required_parameter",
                )
        case SupervisedMethod() | DpoMethod():
            pass
        case _:
            assert_never(method)
    return training
