"""The cause of a failed start, in lines as vLLM 0.32 wrote them."""

import sys
from pathlib import Path

import pytest

from app.local.probes import root_cause, wait_ready
from app.local.processes import Child, ChildSpec
from app.local.state import ChildFailed

TORN_WEIGHTS = """\
(Worker pid=25129) ERROR 11-22 21:33:36 [multiproc_executor.py:953] WorkerProc failed to start.
(Worker pid=25129) ERROR 11-22 21:33:36 [multiproc_executor.py:953] Traceback (most recent call last):
(Worker pid=25129) ERROR 11-22 21:33:36 [multiproc_executor.py:953]     with safe_open(st_file, framework="pt") as f:
(Worker pid=25129) ERROR 11-22 21:33:36 [multiproc_executor.py:953] safetensors._safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered
(EngineCore pid=24820) INFO 11-22 21:33:36 [multiproc_executor.py:479] [shutdown] Executor: waiting for worker exit count=1
(EngineCore pid=24820) ERROR 11-22 21:33:41 [core.py:1510] EngineCore failed to start.
(EngineCore pid=24820) ERROR 11-22 21:33:41 [core.py:1510] Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.
Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.
    raise RuntimeError(
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""  # noqa: E501 - lines as vLLM wrote them
TORN = (
    "safetensors._safetensors_rust.SafetensorError: Error while deserializing header: incomplete "
    "metadata, file not fully covered"
)


def test_the_cause_is_the_first_processes_error_not_the_last_ones() -> None:
    assert root_cause(TORN_WEIGHTS) == TORN


def test_an_error_of_two_lines_is_whole() -> None:
    log = (
        "ValidationError: 1 validation error for ModelConfig\n  Value error, no such model\nmore\n"
    )
    assert root_cause(log) == (
        "ValidationError: 1 validation error for ModelConfig Value error, no such model"
    )


def test_a_log_without_errors_has_no_cause() -> None:
    assert root_cause("INFO 11-22 [x.py:1] Loading\nWARNING an Error: no\n") is None


def test_a_start_that_fails_names_the_cause_above_the_end_of_the_log(tmp_path: Path) -> None:
    code = f"import sys; sys.stdout.write({TORN_WEIGHTS + 'end ' * 5!r}); sys.exit(1)"
    spec = ChildSpec(
        name="engine",
        command=(sys.executable, "-c", code),
        environment={},
        log=tmp_path / "engine.log",
        ready=lambda _: False,
        cause=root_cause,
    )
    with pytest.raises(ChildFailed) as failed:
        wait_ready([Child(spec)])
    assert f"\nthe cause: {TORN}\n" in str(failed.value)
