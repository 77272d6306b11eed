"""A fine-tuning job that a student learns from."""

import time
from collections.abc import Mapping
from typing import Any, Self

from typing_extensions import override

from agent_rft.asynchronous.client import FINAL, AsyncAgentRFT
from agent_rft.defaults import default_async_client
from agent_rft.errors import TrainingEnded
from agent_rft.plots import drawn
from agent_rft.presentation import Presentation
from agent_rft.progress import Progress
from agent_rft_client.api.fine_tuning import (
    cancel_fine_tuning_job,
    list_fine_tuning_job_metrics,
    retrieve_fine_tuning_job,
    retrieve_fine_tuning_job_report,
)
from agent_rft_client.models.fine_tuning_job import FineTuningJob
from agent_rft_client.models.page_curve import PageCurve
from agent_rft_client.models.report import Report


class AsyncTrainingJob(Presentation):
    """Shows a job: its state as of the last call, its curves and its report.

    `body` is the job as the service describes it.
    """

    def __init__(self, client: AsyncAgentRFT, body: FineTuningJob) -> None:
        self._client, self.body = client, body

    @classmethod
    async def get(cls, job_id: str, *, client: AsyncAgentRFT | None = None) -> Self:
        client = client or default_async_client()
        return cls(
            client, await client.call(retrieve_fine_tuning_job.asyncio, FineTuningJob, job_id)
        )

    @property
    def id(self) -> str:
        return self.body.id

    @property
    def status(self) -> str:
        return self.body.status

    @property
    def model(self) -> str | None:
        """Name of the tuned model, once there is one."""
        return self.body.fine_tuned_model

    async def refresh(self) -> Self:
        call = retrieve_fine_tuning_job.asyncio
        self.body = await self._client.call(call, FineTuningJob, self.id)
        return self

    async def wait(
        self,
        *,
        progress: bool | None = None,
        timeout_s: float | None = None,
        poll_s: float = 2.0,
    ) -> Self:
        """Returns once the job has succeeded or was paused. `progress` is described at `Progress`.

        Raises `TrainingEnded` when it failed or was cancelled, `TimeoutError` after `timeout_s`.
        """
        give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
        with Progress(progress) as bar:
            while True:
                await self.refresh()
                bar.show(self.status, self.body.step, self.body.total_steps)
                if self.status in FINAL or self.status == "paused":
                    break
                if give_up_at is not None and time.monotonic() > give_up_at:
                    raise TimeoutError(f"{self.id} is still {self.status}")
                await self._client.pause(poll_s)
        if self.status in {"failed", "cancelled"}:
            raise TrainingEnded(self.id, self.status, getattr(self.body.error, "message", None))
        return self

    async def report(self) -> Report:
        """Returns the comparison of the tuned model with the one that it began from."""
        call = retrieve_fine_tuning_job_report.asyncio
        return await self._client.call(call, Report, self.id)

    async def curves(self, *names: str) -> dict[str, list[tuple[int, float]]]:
        """Returns the points (step, value) of the curves named, or of all, by `split/name`."""
        given: dict[str, Any] = {"names": list(names)} if names else {}
        call = list_fine_tuning_job_metrics.asyncio
        page = await self._client.call(call, PageCurve, self.id, **given)
        return {
            f"{curve.split}/{curve.name}": [(point.step, point.value) for point in curve.points]
            for curve in page.data
        }

    async def plot(self, *names: str) -> Any:
        """Returns a matplotlib `Figure` of the curves named; without names, of the
        mean reward, or of the loss of a job without rewards.

        Raises `ImportError` without matplotlib, `ValueError` when there is no point yet.
        """
        return drawn(self.id, await self.curves(*(names or (self._watched(),))))

    def _watched(self) -> str:
        return (
            "reward/mean" if self.body.method.to_dict()["type"] == "reinforcement" else "train/loss"
        )

    async def cancel(self) -> Self:
        call = cancel_fine_tuning_job.asyncio
        self.body = await self._client.call(call, FineTuningJob, self.id)
        return self

    @override
    def facts(self) -> Mapping[str, object]:
        return {
            "id": self.id,
            "status": self.status,
            "step": f"{self.body.step} of {self.body.total_steps or '?'}",
            "model": self.model,
        }
