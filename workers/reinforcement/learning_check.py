"""Ends a reinforcement run in which nothing can be learned, before its first step or soon after.

Owns the reaction to a diagnosis of `workers.reinforcement.learnability`. Promises that a kill
changes nothing: the diagnosis is read from committed rollouts and the committed usage. Must not
know how a diagnosis is made.
"""

from app.domain.errors import NOTHING_TO_LEARN, RunFailed
from app.domain.methods.learning import resolved_learning
from app.domain.methods.nothing_to_learn import NothingToLearnOptions
from app.domain.methods.reinforcement import ReinforcementMethod
from workers.reinforcement.evaluation import collect_held_out
from workers.reinforcement.learnability import Diagnosis, LearnabilityCounts
from workers.reinforcement.plan import Plan
from workers.runs.context import RunContext
from workers.runs.endings.lost_rollouts import nothing_trained
from workers.runs.steps.reporter import Reporter


class LearningCheck:
    def __init__(
        self, context: RunContext, method: ReinforcementMethod, plan: Plan, *, reporter: Reporter
    ) -> None:
        self._context = context
        self._method = method
        self._plan = plan
        self._reporter = reporter
        self._options = method.nothing_to_learn or NothingToLearnOptions()

    async def after_baseline(self) -> None:
        """Reads the committed validation of the base model. Raises `RunFailed`, or warns once."""
        if self._options.action == "off":
            return
        diagnosis = await self._diagnosis()
        if diagnosis is None:
            return
        if self._options.action == "fail" and diagnosis.certain:
            raise RunFailed(diagnosis.message, code=NOTHING_TO_LEARN, param=diagnosis.param)
        warning = f"Perhaps nothing can be learned. {diagnosis.reason}. {diagnosis.cure}."
        await self._reporter.announcer.message_once(warning, level="warn")

    async def before_step(self, step: int) -> None:
        """Raises `RunFailed` if no group of enough steps had rollouts of different reward."""
        used = self._reporter.usage
        if self._options.action != "fail" or used is None or used.trained_tokens:
            return
        groups = self._plan.groups_before(step)
        if groups < self._options.untrained_groups:
            return
        why = await nothing_trained(self._context, self._reporter.report.nothing_trained)
        raise RunFailed(
            f"The first {groups} groups trained nothing: {why}.",
            code=NOTHING_TO_LEARN,
        )

    async def _diagnosis(self) -> Diagnosis | None:
        context, method = self._context, self._method
        evidence = await collect_held_out(context, "valid", step=0, new=LearnabilityCounts)
        effort = method.hyperparameters.reasoning_effort
        return evidence.diagnosis(
            self._options,
            grader=method.grader,
            objective=resolved_learning(method, context.base_model, effort).objective,
            context_length=context.base_model.context_length,
        )
