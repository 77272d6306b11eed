"""The loop of a supervised or preference run: look at the held-out rows, then learn, save and
commit, step by step; at the end of an epoch all held-out rows again, and the engine serves it.

It holds no state that a resume would miss: the committed step, the seed and the files say it all.
"""

import time
from collections.abc import Sequence
from typing import Final

from app.domain.rollouts import metrics as names
from workers.learning.compute_thread import run_on_compute_thread
from workers.learning.trainer import Trainer
from workers.learning.training_samples import count_trained_tokens
from workers.runs.context import RunContext
from workers.runs.method import CheckStop
from workers.runs.publisher import Publisher
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import StepOutcome
from workers.supervised.held_out import RowValues, keep, means
from workers.supervised.plan import SupervisedPlan
from workers.supervised.samples import Samples

_AT_ONCE: Final = 16
"""Held-out rows between two looks at whether the run was cancelled."""
_OF_SAMPLING: Final = frozenset(
    {
        names.SAMPLER_KL_K3,
        names.SAMPLER_MAX_LOG_RATIO,
        names.CLIPPED_SHARE,
        names.COMPUTED_TOKENS,
        names.MASKED_SHARE,
        names.TRUNCATED_SHARE,
        names.BASE_KL_K1,
    }
)
"""Curves that say nothing of text nobody sampled."""


class SupervisedLoop:
    def __init__(
        self,
        context: RunContext,
        plan: SupervisedPlan,
        *,
        trainer: Trainer,
        samples: Samples,
        publisher: Publisher,
        reporter: Reporter,
    ) -> None:
        self._context = context
        self._plan = plan
        self._trainer = trainer
        self._samples = samples
        self._publisher = publisher
        self._reporter = reporter

    async def baseline(self) -> None:
        """Measure the model that training starts from on the held-out rows, once per job."""
        if not self._plan.valid_rows or await self._reporter.has_baseline():
            return
        outcome = StepOutcome(step=0)
        await self._validate(outcome)
        await self._reporter.commit_baseline(outcome)

    async def validate(self, step: int) -> None:
        """Measure the last committed step, which ends the run before its plan does."""
        if not self._plan.valid_rows or await self._reporter.was_validated(step):
            return
        outcome = StepOutcome(step=step)
        await self._validate(outcome)
        await self._reporter.commit_validation(outcome)

    async def steps(self, *, first: int, check_stop: CheckStop) -> None:
        """Train steps `first` to the last; `check_stop` is called before each."""
        begun = time.perf_counter()
        for step in range(first, self._plan.total_steps + 1):
            check_stop()
            started = time.perf_counter()
            outcome = await self._step(step)
            ended = time.perf_counter()
            outcome.train_values[names.TIME_STEP] = ended - started
            pace_s = (ended - begun) / (step - first + 1)
            await self._reporter.commit_step(
                outcome, total_steps=self._plan.total_steps, pace_s=pace_s
            )
            await self._publisher.retire()

    async def _step(self, step: int) -> StepOutcome:
        outcome = await run_on_compute_thread(self._learned, step)
        if self._plan.ends_epoch(step):
            await self._publisher.publish(outcome)
            if self._plan.valid_rows:
                await self._validate(outcome)
        else:
            await self._publisher.save(outcome)
            if self._plan.looks_at_some(step):
                _note_some(outcome, await self._measured(self._plan.some_held_out(step)))
        return outcome

    def _learned(self, step: int) -> StepOutcome:
        outcome = StepOutcome(step=step)
        samples = [one for row in self._plan.rows(step) for one in self._samples.training(row)]
        started = time.perf_counter()
        stats = self._trainer.update(samples)
        outcome.train_values = self._curves(stats)
        outcome.train_values[names.TIME_TRAINING] = time.perf_counter() - started
        outcome.trained_tokens = count_trained_tokens(samples)
        outcome.train_values[names.TRAINED_TOKENS] = float(outcome.trained_tokens)
        outcome.probe = list(samples[0].tokens)
        return outcome

    def _curves(self, stats: dict[str, float]) -> dict[str, float]:
        left_out = _OF_SAMPLING
        if self._samples.pairs:
            left_out |= {names.TOKEN_ACCURACY}  # rejected answers are not to become likely
        return {name: value for name, value in stats.items() if name not in left_out}

    async def _validate(self, outcome: StepOutcome) -> None:
        started = time.perf_counter()
        rows = await self._measured(range(self._plan.valid_rows))
        await run_on_compute_thread(keep, self._context, outcome.step, rows)
        outcome.valid_values = means(rows)
        if outcome.step:
            _note_some(outcome, [rows[row] for row in self._plan.some_held_out(outcome.step)])
        outcome.train_values[names.TIME_EVAL] = time.perf_counter() - started

    async def _measured(self, rows: Sequence[int]) -> list[RowValues]:
        found: list[RowValues] = []
        for start in range(0, len(rows), _AT_ONCE):
            found += await run_on_compute_thread(
                self._some_measured, rows[start : start + _AT_ONCE]
            )
        return found

    def _some_measured(self, rows: Sequence[int]) -> list[RowValues]:
        found = self._trainer.evaluate([self._samples.held_out(row) for row in rows])
        return [
            RowValues(1.0 if self._samples.pairs else one[names.COMPUTED_TOKENS], self._curves(one))
            for one in found
        ]


def _note_some(outcome: StepOutcome, rows: Sequence[RowValues]) -> None:
    values = means(rows)
    for told, name in (
        (names.BATCH_LOSS, names.LOSS),
        (names.BATCH_TOKEN_ACCURACY, names.TOKEN_ACCURACY),
    ):
        if name in values:
            outcome.valid_values[told] = values[name]
