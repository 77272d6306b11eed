"""A trainer that computes in another process: calls and answers cross a socket as lines of JSON.

Proves that `workers.learning.trainer.Trainer` needs no shared memory. `python -m
tests.support.learning.process_trainer SETTINGS` is the process that computes, with a `LoraTrainer`.
"""

import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from app.kit.directories import ManifestMismatch
from app.kit.errors import AgentRftError
from tests.support.processes.child_processes import FORKS, killed
from workers.learning.trainer import StateMismatch, TrainerSettings, TrainingSample, UpdateStats

ROOT: Final = Path(__file__).parents[3]
_MAIN: Final = f"""
import runpy, sys
sys.path.append({str(ROOT)!r})
runpy.run_module({__name__!r}, run_name="__main__")
"""
"""The program of the process: no child has the working directory on the path of its imports."""
_ERRORS: Final[dict[str, type[Exception]]] = {
    error.__name__: error for error in (ManifestMismatch, StateMismatch, FileExistsError)
}


class ProcessTrainer:
    """Implements `Trainer`; `settings` are the arguments of `LoraTrainer`, as JSON."""

    def __init__(self, settings: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self._process = FORKS.start(["-c", _MAIN, json.dumps(settings)], stdin=theirs.fileno())
            self._line = ours.makefile("rw")

    @property
    def settings(self) -> TrainerSettings:
        return TrainerSettings(**self._call("settings"))

    @property
    def steps(self) -> int:
        return int(self._call("steps"))

    @property
    def accelerators(self) -> int:
        return int(self._call("accelerators"))

    def update(self, samples: Sequence[TrainingSample], further_tokens: int = 0) -> UpdateStats:
        stats: UpdateStats = self._call("update", _plain(samples), further_tokens)
        return stats

    def accumulate(self, samples: Sequence[TrainingSample]) -> None:
        self._call("accumulate", _plain(samples))

    def step(self, further_tokens: int = 0) -> UpdateStats:
        stats: UpdateStats = self._call("step", further_tokens)
        return stats

    def trained_logprobs(self) -> list[list[float] | None]:
        rows: list[list[float] | None] = self._call("trained_logprobs")
        return rows

    def evaluate(
        self, sets: Sequence[Sequence[TrainingSample]], *, adapter: bool = True
    ) -> list[UpdateStats]:
        plain = [_plain(samples) for samples in sets]
        stats: list[UpdateStats] = self._call("evaluate", plain, adapter)
        return stats

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]:
        values: list[float] = self._call("logprobs", list(token_ids), adapter)
        return values

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        values: list[list[float]] = self._call("reference_logprobs", _plain(samples))
        return values

    def save_adapter(self, directory: Path) -> None:
        self._call("save_adapter", str(directory))

    def save_state(self, directory: Path) -> None:
        self._call("save_state", str(directory))

    def load_state(self, directory: Path) -> None:
        self._call("load_state", str(directory))

    def close(self) -> None:
        self._line.close()
        killed(self._process)

    def _call(self, name: str, *arguments: Any) -> Any:
        self._line.write(json.dumps([name, *arguments]) + "\n")
        self._line.flush()
        line = self._line.readline()
        if not line:
            raise RuntimeError(f"the trainer's process ended during {name!r}")
        answer = json.loads(line)
        if "error" in answer:
            raise _ERRORS[answer["error"]](answer["message"])
        return answer["result"]


def _plain(samples: Sequence[TrainingSample]) -> list[dict[str, Any]]:
    return [asdict(sample) for sample in samples]


def _samples(plain: list[dict[str, Any]]) -> list[TrainingSample]:
    return [TrainingSample(**sample) for sample in plain]


def _serve(settings: dict[str, Any]) -> None:
    from workers.learning.lora_trainer import LoraTrainer  # noqa: PLC0415 - torch is loaded in this process only
    from workers.learning.trainer import TrainerOptions  # noqa: PLC0415 - as above

    options = TrainerOptions(**settings.pop("options"))
    trainer = LoraTrainer(**settings, options=options)
    calls: dict[str, Callable[..., Any]] = {
        "settings": trainer.settings.as_json,
        "steps": lambda: trainer.steps,
        "accelerators": lambda: trainer.accelerators,
        "update": lambda samples, further: trainer.update(_samples(samples), further),
        "accumulate": lambda samples: trainer.accumulate(_samples(samples)),
        "step": trainer.step,
        "trained_logprobs": trainer.trained_logprobs,
        "evaluate": lambda sets, adapter: trainer.evaluate(
            [_samples(samples) for samples in sets], adapter=adapter
        ),
        "logprobs": lambda token_ids, adapter: trainer.logprobs(token_ids, adapter=adapter),
        "reference_logprobs": lambda samples: trainer.reference_logprobs(_samples(samples)),
        "save_adapter": lambda directory: trainer.save_adapter(Path(directory)),
        "save_state": lambda directory: trainer.save_state(Path(directory)),
        "load_state": lambda directory: trainer.load_state(Path(directory)),
    }
    with os.fdopen(0, "w", closefd=False) as answers:  # standard input is a socket
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            try:
                answer = {"result": calls[name](*arguments)}
            except (AgentRftError, FileExistsError) as error:
                answer = {"error": type(error).__name__, "message": str(error)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
