"""Writes a job to Weights & Biases. A run that another process wrote offline is written anew."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import wandb
from wandb.errors import AuthenticationError, CommError, UsageError

from workers.trackers.tracker import (
    NOTHING_NEW,
    Assignment,
    TracedRollout,
    TrackerFault,
    TrackerUpdate,
    WriteReport,
    numbers_of,
)

_OPENING_S: Final = 20.0
_REFERENCES: Final = ("wandb-artifact:", "wandb-client-artifact:")
_COLUMNS: Final = ("rank", "rollout", "row", "reward", "messages")


class Run:
    def __init__(self, assignment: Assignment) -> None:
        options, account = assignment.options, assignment.wandb
        if account is None:
            raise ValueError("the assignment has no account")
        key = options.get("api_key") or account.api_key
        self._offline = account.offline or not key
        self._directory = Path(assignment.directory)
        self._ended = False
        if self._offline:
            for left in self._directory.glob("*wandb/offline-run-*"):
                shutil.rmtree(left)
        try:
            self._run = wandb.init(
                project=options["project"],
                entity=options.get("entity"),
                name=assignment.name,
                tags=options.get("tags"),
                id=assignment.run_id,
                resume=None if self._offline else "allow",
                dir=assignment.directory,
                mode="offline" if self._offline else "online",
                settings=_settings(account.base_url, key),
            )
        except AuthenticationError:
            raise TrackerFault("its server refuses the key") from None
        except CommError:
            raise TrackerFault(
                "its server cannot be reached, or refuses the key or the project"
            ) from None
        except UsageError:
            raise TrackerFault("it refuses the key, or the name of project or entity") from None

    def write(self, update: TrackerUpdate) -> WriteReport:
        self._run.config.update(plain_settings(update.settings), allow_val_change=True)
        values: dict[int, dict[str, Any]] = {
            step: dict(curves) for step, curves in update.curves_by_step()
        }
        for step, traced in update.rollouts_by_step():
            values.setdefault(step, {})["rollouts"] = _table(traced)
        for step, row in sorted(values.items()):
            self._run.log(row, step=step)
        if update.report is not None:
            self._run.summary.update(numbers_of(update.report))
            file = Path(self._run.dir) / "report.json"
            file.write_text(json.dumps(update.report, indent=2, default=str))
            self._run.save(str(file), base_path=self._run.dir, policy="now")
        if update.outcome is not None:
            self._finish(0 if update.outcome == "succeeded" else 1)
        if self._offline:
            return NOTHING_NEW
        return WriteReport(url=self._run.url)

    def close(self) -> None:
        self._finish(0)

    def _finish(self, exit_code: int) -> None:
        if not self._ended:
            self._ended = True
            self._run.finish(exit_code=exit_code)


def _settings(base_url: str, key: str) -> wandb.Settings:
    """Returns settings with which nothing of this machine is sent."""
    return wandb.Settings(
        api_key=key or None,
        base_url=base_url,
        console="off",
        disable_code=True,
        disable_git=True,
        disable_job_creation=True,
        init_timeout=_OPENING_S,
        silent=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_save_requirements=False,
    )


def plain_settings(value: Any) -> Any:
    """Returns settings in which no value is a reference for W&B. Its library looks up a text
    `wandb-artifact://…`, and an object with the key `_type`, by the key of the session, which may
    be the operator's; both can be in a job's own metadata.
    """
    if isinstance(value, dict):
        return {
            f"_{key}" if key.lstrip("_") == "type" and key != "type" else key: plain_settings(below)
            for key, below in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain_settings(below) for below in value]
    if isinstance(value, str) and value.strip().startswith(_REFERENCES):
        return f"text: {value}"
    return value


def _table(rollouts: list[TracedRollout]) -> wandb.Table:
    rows = [
        [one.rank, one.id, one.row, one.reward, json.dumps(one.messages, ensure_ascii=False)]
        for one in rollouts
    ]
    return wandb.Table(columns=list(_COLUMNS), data=rows)
