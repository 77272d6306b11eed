"""Stores over two tenants, and builders of the rows that the store's tests insert."""

from dataclasses import dataclass, replace

from app.accounts.usage import Amounts, UsageRecord
from app.database import Database
from app.jobs.jobs import Job, JobStatus
from app.jobs.methods import stored_method
from app.kit.callers import Tenant
from app.kit.ids import new_id
from app.rollouts.rollouts import RolloutRow
from tests.support.store.new_jobs import insert_job


@dataclass(frozen=True, slots=True)
class Rows:
    app: Database
    worker: Database
    first: Tenant
    second: Tenant

    async def job(self, tenant: Tenant | None = None, *, priority: int = 0) -> Job:
        tenant = tenant or self.first
        job = replace(a_job(tenant), priority=priority)
        await insert_job(self.app, tenant, job)
        return job


def a_job(tenant: Tenant) -> Job:
    return Job(
        id=new_id("ftjob-"),
        organization_id=tenant.organization_id,
        project_id=tenant.project_id,
        model="tiny",
        status=JobStatus.VALIDATING_FILES,
        training_file="file-a",
        validation_file="file-b",
        seed=2**31 - 1,
        method=stored_method({"type": "reinforcement", "reinforcement": {}}),
        created_at=0,
        key_id="key_x",
    )


def a_rollout(job_id: str, sample: int, text: str = "hello") -> RolloutRow:
    return RolloutRow(
        id=new_id("rollout_"),
        project_id="",
        job_id=job_id,
        split="train",
        step=1,
        prompt_index=0,
        sample_index=sample,
        attempt=0,
        trace_id=f"trace_{sample}",
        reward=0.5,
        failure_class=None,
        failure_message=None,
        stop_reason="final_answer",
        policy_version=0,
        prompt_tokens=1,
        completion_tokens=2,
        reasoning_tokens=0,
        tool_calls=0,
        components={"correct": 1.0},
        trace={"messages": [{"role": "user", "content": text}]},
        started_at=1.5,
        finished_at=2.5,
    )


def a_usage() -> UsageRecord:
    return UsageRecord("usage_1", "completions", "key_1", "m", 0, Amounts(requests=1))


def owner_of(tenant: Tenant) -> dict[str, str]:
    """Returns the columns that name the owner of a record of usage."""
    return {"organization_id": tenant.organization_id, "project_id": tenant.project_id}
