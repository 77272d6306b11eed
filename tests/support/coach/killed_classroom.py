"""A classroom whose Coach and worker are processes that are killed again and again."""

import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from app.across_tenants import ClaimUnitOfWork
from app.database import Database as Store
from app.evals.claims import eval_claims
from app.jobs.claims import job_claims
from app.kit.leases import Lease
from tests.support.api.organization import execute
from tests.support.coach.classroom import SESSIONS, Classroom
from tests.support.patience import until
from tests.support.processes.child_processes import child, killed
from tests.support.processes.counted_turns import turns_of
from tests.support.store.claims import claim_row

_MOST_ATTEMPTS = 1_000


@dataclass(frozen=True, slots=True)
class _Work:
    """Work of a worker: its table, its process, and the count of the samples it has written."""

    table: str
    module: str
    claims: Callable[[Store], ClaimUnitOfWork[Any]]
    samples: str
    most: int
    """Most samples between two kills."""


JOBS = _Work(
    "fine_tuning_jobs",
    "workers.job_child",
    job_claims,
    "SELECT (SELECT count(*) FROM journal WHERE job_id = %s)"
    " + (SELECT count(*) FROM rollouts WHERE job_id = %s)",
    most=1_000,
)
EVAL_RUNS = _Work(
    "eval_runs",
    "workers.evals.child",
    eval_claims,
    "SELECT count(*) FROM eval_output_items WHERE run_id = %s",
    most=3,
)


@dataclass
class Kills:
    """The kills of a session and their instants."""

    chance: random.Random
    turns: int
    """Most turns of the event loop between the instants of two kills in one step."""
    samples: int
    """Most samples that a worker takes before it is killed."""
    workers: frozenset[str] = frozenset()
    """Phases whose workers are killed."""
    counted: Counter[str] = field(default_factory=Counter)
    """Processes that were killed: of the Coach by phase, of workers as `worker of PHASE`."""


@dataclass
class KilledClassroom(Classroom):
    kills: Kills = field(default_factory=lambda: Kills(random.Random(1), turns=100, samples=100))

    @override
    async def take_step(self) -> None:
        """Lets processes take the step, each killed a few turns later than the one before, until
        one comes to its end.
        """
        turn = 0
        while True:
            turn += self.kills.chance.randint(1, self.kills.turns)
            phase = await self._phase()
            self.hurry()
            ended, said = await turns_of(
                "tests.support.coach.killed_step", turn, settings=self.ports.settings
            )
            assert "failed" not in said, said
            if ended:
                return
            self.kills.counted[phase] += 1

    @override
    async def play(self, lease: Lease) -> None:
        run = super().play
        await self._killed(lease, JOBS, run)

    @override
    async def sample(self, lease: Lease) -> None:
        run = super().sample
        await self._killed(lease, EVAL_RUNS, run)

    async def _killed(
        self, lease: Lease, work: _Work, run: Callable[[Lease], Awaitable[None]]
    ) -> None:
        """Lets workers run a claim: the first is killed at its start, each later one once it has
        written some samples, until one comes to its end. In a phase without such kills, the claim
        is run in this process.
        """
        phase = await self._phase()
        if phase not in self.kills.workers:
            await run(lease)
            return
        claimed: Lease | None = lease
        wanted = 0
        while claimed is not None:
            if not await self._is_killed(claimed, work, wanted):
                return
            wanted = self.kills.chance.randint(1, min(self.kills.samples, work.most))
            self.kills.counted[f"worker of {phase}"] += 1
            query = f"UPDATE {work.table} SET lease_until = now() - interval '1 s' RETURNING id"
            execute(self.database, query)
            claimed = await claim_row(
                work.claims(self.ports.database),
                lease.id,
                lease_s=600.0,
                max_attempts=_MOST_ATTEMPTS,
            )

    async def _is_killed(self, lease: Lease, work: _Work, wanted: int) -> bool:
        """Returns False if the worker ended before it had written so many samples."""
        before = self._samples(lease, work)
        with child(
            *("-m", work.module, lease.id, lease.project_id, str(lease.fence)),
            settings=self.ports.settings,
        ) as worker:
            await until(
                lambda: (
                    worker.process.ended.done()
                    or abs(self._samples(lease, work) - before) >= wanted
                ),
                what=f"{wanted} samples of {lease.id}",
            )
            killed(worker.process)
            code = await worker.exit_code()
            assert code in (0, -signal.SIGKILL), worker.errors.read_text()
        return code != 0

    def _samples(self, lease: Lease, work: _Work) -> int:
        [(count,)] = execute(self.database, work.samples, *[lease.id] * work.samples.count("%s"))
        return int(count)

    async def _phase(self) -> str:
        [session] = (await self.get(SESSIONS))["data"]
        return str(session["phase"])
