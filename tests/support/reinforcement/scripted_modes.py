"""Runs a mode over a policy whose samples are a pure function of their seed, for every version.

All modes then see the same rollouts and differ only in their order.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from app.files.datasets import DatasetRow
from app.kit.egress import EgressReply
from app.kit.ids import SampleKey
from app.rollouts.renderer import Renderer
from app.rollouts.trajectory import Grade, ScoredRollout, Trajectory
from tests.support.rollout.policies import shipped_renderer
from tests.support.rollout.rollouts import caller, pool
from tests.support.twins import InMemoryEgress
from workers.environments.tool_environment import ToolEnvironment
from workers.grading.job_grader import GroupScorer, PerSampleScorer
from workers.journal import InMemoryJournal, Journal
from workers.learning.advantages import ShapingConfig
from workers.learning.trainer import TrainingSample
from workers.methods.reinforcement.step_summary import SampledStep
from workers.methods.schedulers.mode import GroupConfig, Mode, PromptSchedule, SchedulerContext
from workers.rollout.environment import EpisodeLimits, SampledTurn, SamplingParams
from workers.rollout.episode import RolloutSetup, RolloutSlots

JOB_SEED = 11
Gate = Callable[[SampleKey], Awaitable[None]]


async def at_once(_key: SampleKey) -> None:
    """Delays no rollout."""


class SeededPolicy:
    """Samples two to nine tokens that the seed determines, then the end of the turn."""

    def __init__(self, renderer: Renderer) -> None:
        self._end = renderer.stop_token_ids[0]
        self.version = 0
        self.asked: list[tuple[int, int]] = []
        """Version and seed of each request."""

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        return await self.sample_at(self.version, prompt_token_ids, params)

    async def sample_at(
        self,
        version: int,
        prompt_token_ids: list[int],  # noqa: ARG002 - the seed alone decides
        params: SamplingParams,
    ) -> SampledTurn:
        assert version <= self.version, "a version that was not published"
        self.asked.append((version, params.seed))
        random = Random(params.seed)
        ids = [random.randint(100, 300) for _ in range(random.randint(2, 9))]
        return SampledTurn(
            token_ids=(*ids, self._end),
            logprobs=tuple(-4.0 - random.random() for _ in range(len(ids) + 1)),
            finish_reason="stop",
            policy_version=version,
        )


@dataclass
class GatedGrader:
    """Scores by the first sampled token, after its gate."""

    gate: Gate = at_once
    equal: bool = False
    graded: list[SampleKey] = field(default_factory=list)

    async def grade(
        self,
        trajectory: Trajectory,
        row: DatasetRow,  # noqa: ARG002 - the answer alone counts
        key: SampleKey,
        *,
        journal: Journal,  # noqa: ARG002 - a score is not a reply of the world outside
    ) -> Grade:
        await self.gate(key)
        self.graded.append(key)
        sampled = trajectory.turns[0].token_ids[0]
        return Grade(0.5 if self.equal else (sampled % 7) / 7)


class CountingTrainer:
    """Records its calls; `hold` runs inside every call, in the trainer's thread."""

    def __init__(self, hold: Callable[[], object] = lambda: None) -> None:
        self._hold = hold
        self.calls: list[tuple[str, int]] = []
        self.samples: list[TrainingSample] = []
        self._unread: list[TrainingSample] = []
        """Samples of the last step, until their log-probs are taken."""

    def update(self, samples: Sequence[TrainingSample]) -> dict[str, float]:
        self._note("update", samples)
        return {}

    def accumulate(self, samples: Sequence[TrainingSample]) -> None:
        self._note("accumulate", samples)

    def step(self, denominator: int | None = None) -> dict[str, float]:
        assert denominator is None
        self.calls.append(("step", 0))
        return {}

    def trained_logprobs(self) -> list[list[float] | None]:
        taken, self._unread = self._unread, []
        return [logprobs_of(sample) for sample in taken]

    def _note(self, call: str, samples: Sequence[TrainingSample]) -> None:
        self._hold()
        self.calls.append((call, len(samples)))
        self.samples += samples
        self._unread += samples


def logprobs_of(sample: TrainingSample) -> list[float]:
    """Returns the log-probs of the counting trainer: the sampler's, less a digest of the tokens."""
    distance = zlib.crc32(repr(list(sample.tokens)).encode()) / 2**32
    pairs = zip(sample.logprobs, sample.mask, strict=True)
    return [logprob - distance for logprob, trained in pairs if trained]


@dataclass
class Stage:
    """Runs a mode and records what it did."""

    trainer: Any
    prompts: int = 4
    group: int = 4
    steps: int = 3
    max_concurrent: int = 128
    grader: GatedGrader = field(default_factory=GatedGrader)
    scorer: GroupScorer | None = None
    """Scores groups in place of `grader`."""
    journals: dict[int, InMemoryJournal] = field(default_factory=dict)
    """Each journal by the step until whose commit it is kept."""
    checked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        renderer = shipped_renderer()
        self.policy = SeededPolicy(renderer)
        egress = InMemoryEgress(lambda _: EgressReply(200, {}, b"{}", 0.0))
        self.setup = RolloutSetup(
            renderer=renderer,
            new_environment=partial(ToolEnvironment, caller(pool(egress), {})),
            scorer=self.scorer or PerSampleScorer(self.grader),
            limits=EpisodeLimits(max_episode_steps=4, context_length=256, max_turn_tokens=32),
            job_seed=JOB_SEED,
            temperature=1.0,
            slots=RolloutSlots(self.max_concurrent),
        )
        group_config = GroupConfig(min_group_share=0.75, shaping=ShapingConfig(token_penalty=0.0))
        self.context = SchedulerContext(self.setup, self.trainer, self.policy, group_config)

    def schedule(
        self, *, committed: int = 0, scheduler_state: dict[str, Any] | None = None
    ) -> PromptSchedule:
        async def journal(step: int) -> Journal:
            return self.journals.setdefault(step, InMemoryJournal())

        return PromptSchedule(
            job_id="ftjob-1",
            group_size=self.group,
            total_steps=self.steps,
            rows=self._rows,
            size=lambda _step: self.prompts,
            journal=journal,
            check=lambda rollouts: self.checked.append(len(rollouts)),
            committed_step=committed,
            scheduler_state=scheduler_state,
        )

    def _rows(self, step: int) -> list[DatasetRow]:
        first = (step - 1) * self.prompts
        return [
            DatasetRow(n, [{"role": "user", "content": f"Part {n}?"}], [], {})
            for n in range(first, first + self.prompts)
        ]

    async def commit(self, mode: Mode, step: int) -> None:
        """Drops the journal of the step, as the reporter does, and notifies the mode."""
        self.policy.version = step
        for past in [earlier for earlier in self.journals if earlier <= step]:
            del self.journals[past]
        await mode.on_step_committed(step)

    async def run(self, mode: Mode) -> list[SampledStep]:
        """Runs every step and commits it, as the loop does."""
        outcomes = []
        await mode.start(self.schedule())
        try:
            for step in range(1, self.steps + 1):
                outcomes.append(await mode.step(step))
                await self.commit(mode, step)
        finally:
            await mode.close()
        return outcomes


def keys_of(rollouts: Sequence[ScoredRollout]) -> list[tuple[int, int, int]]:
    return [(r.key.step, r.key.prompt_index, r.key.sample_index) for r in rollouts]


async def turns_of_the_loop(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
