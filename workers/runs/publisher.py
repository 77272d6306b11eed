"""From trained weights to a policy that samples: save, load into the engine, probe.

A name is never used twice: an engine's prefix cache is keyed by it.
"""

import asyncio
import hashlib
import time

from app.domain import metrics as names
from app.domain.errors import RunFailed
from workers.engines.policy import EnginePolicy
from workers.learning.trainer import Trainer
from workers.modes.outcome import StepOutcome
from workers.runs.context import RunContext

PROBE_TOLERANCE = 1e-2
"""Largest |Δ log-prob| between engine and trainer; fp32 engines differ by 1e-5, bf16 by up to 6e-2
in single tokens, so the mean is what is compared."""
PROBE_TOKENS = 256
KEPT_VERSIONS = 2


class Publisher:
    def __init__(self, context: RunContext, trainer: Trainer, policy: EnginePolicy) -> None:
        self._context = context
        self._trainer = trainer
        self._policy = policy

    async def publish(self, outcome: StepOutcome) -> None:
        """Save the step's adapter and state, and make the adapter the policy's newest version."""
        started = time.perf_counter()
        key = self._context.step_key(outcome.step)
        path = self._context.step_path(outcome.step)
        await asyncio.to_thread(self._save, outcome.step)
        outcome.adapter_key, outcome.state_key = f"{key}/adapter", f"{key}/state"
        outcome.engine_name = self.engine_name(outcome.step)
        await self._policy.publish(outcome.step, path / "adapter", outcome.engine_name)
        await self._probe(outcome)
        outcome.train_values[names.TIME_PUBLISH] = time.perf_counter() - started

    async def republish(self, step: int, adapter_key: str) -> None:
        """After a resume: load the last committed adapter under a name of this claim."""
        path = self._context.objects.local_path(adapter_key)
        await self._policy.publish(step, path, self.engine_name(step))

    async def retire(self, step: int) -> None:
        """Unload what nobody samples from any more."""
        if step > KEPT_VERSIONS:
            await self._policy.retire(step - KEPT_VERSIONS)

    async def close(self, last_step: int) -> None:
        """Unload what this run has in the engine; tuned models are loaded anew when called."""
        self._policy.use_base()
        for step in range(max(1, last_step - KEPT_VERSIONS), last_step + 1):
            await self._policy.retire(step)

    def engine_name(self, step: int) -> str:
        """Unguessable, and new for every claim and step."""
        salt = f"{self._context.job.project_id}/{self._context.job.id}/{self._context.fence}/{step}"
        digest = hashlib.sha256(salt.encode()).hexdigest()[:24]
        return f"adapter-{digest}-s{step}"

    def _save(self, step: int) -> None:
        path = self._context.step_path(step)
        path.mkdir(parents=True, exist_ok=True)
        self._trainer.save_adapter(path / "adapter")
        self._trainer.save_state(path / "state")

    async def _probe(self, outcome: StepOutcome) -> None:
        """The engine must now say what the trainer says. Raises `RunFailed` when it does not."""
        probe = next((r.trajectory.tokens for r in outcome.train_rollouts), [])[:PROBE_TOKENS]
        if len(probe) < 2:  # noqa: PLR2004 - a log-prob needs a token before it
            return
        trainer, engine = await asyncio.gather(
            asyncio.to_thread(self._trainer.logprobs, probe), self._policy.probe(probe)
        )
        differences = [abs(a - b) for a, b in zip(trainer, engine, strict=True)]
        outcome.train_values[names.PROBE_MAX_DIFF] = max(differences)
        if sum(differences) / len(differences) > PROBE_TOLERANCE:
            raise RunFailed(
                f"The engine does not serve the adapter that was trained at step {outcome.step} "
                f"(mean log-prob difference {sum(differences) / len(differences):.3g}).",
                code="publish_mismatch",
            )
