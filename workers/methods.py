"""Picks the training method of a job: the only module that names all of them."""

from typing import assert_never

from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from workers.reinforcement.method import ReinforcementTraining
from workers.runs.context import RunContext
from workers.runs.job import JobRun
from workers.runs.method import Method
from workers.supervised.method import SupervisedTraining


def build_method(context: RunContext) -> Method:
    match context.method:
        case ReinforcementMethod() as method:
            return ReinforcementTraining(context, method)
        case SupervisedMethod() | DpoMethod() as method:
            return SupervisedTraining(context, method)
        case method:
            assert_never(method)


def job_run(context: RunContext) -> JobRun:
    """Builds the run of a claimed job."""
    return JobRun(context, build_method(context))
