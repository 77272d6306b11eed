"""Writes a job to a local Trackio database: rows have ids, so none is there twice."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from trackio import Trace
from trackio.sqlite_storage import SQLiteStorage

from workers.trackers.tracker import (
    NOTHING_NEW,
    Assignment,
    TracedRollout,
    TrackerUpdate,
    WriteReport,
    numbers_of,
)


class Run:
    def __init__(self, assignment: Assignment) -> None:
        self._project: str = assignment.options["project"]
        self._run_id, self._name = assignment.run_id, assignment.name
        SQLiteStorage.validate_project_name(self._project)
        self._written = {
            (row["step"], name)
            for row in SQLiteStorage.get_logs(self._project, self._name, run_id=self._run_id)
            for name in row
        }

    def write(self, update: TrackerUpdate) -> WriteReport:
        rows: list[tuple[int, dict[str, Any]]] = []
        for step, curves in update.curves_by_step():
            new = {name: one for name, one in curves.items() if (step, name) not in self._written}
            if new:
                rows.append((step, new))
        for step, traced in update.rollouts_by_step():
            rows.append((step, {"rollouts": [self._trace(one) for one in traced]}))
        if update.report is not None:
            rows.append((update.step, numbers_of(update.report)))
        SQLiteStorage.bulk_log(
            self._project,
            self._name,
            metrics_list=[row for _, row in rows],
            steps=[step for step, _ in rows],
            timestamps=[datetime.fromtimestamp(update.written_at, UTC).isoformat()] * len(rows),
            config=update.settings,
            log_ids=[self._id(step, row) for step, row in rows],
            run_id=self._run_id,
        )
        self._written |= {(step, name) for step, row in rows for name in row}
        return NOTHING_NEW

    def close(self) -> None:
        """Does nothing: each write is a transaction."""

    def _trace(self, one: TracedRollout) -> dict[str, Any]:
        about = {"rollout": one.id, "row": one.row, "reward": one.reward, "rank": one.rank}
        trace = Trace(messages=one.messages, metadata=about)
        payload: dict[str, Any] = trace._to_dict(self._project, self._name, one.step)  # noqa: SLF001 - as its own `log` does
        return payload

    def _id(self, step: int, row: Mapping[str, Any]) -> str:
        names = sha256("\n".join(sorted(row)).encode()).hexdigest()[:16]
        return f"{self._run_id}-{step}-{names}"
