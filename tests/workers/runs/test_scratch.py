"""The scratch directory goes with its claim, however that ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from workers.runs.context import claim_scratch

HOLDS = """
import sys, time
from pathlib import Path
from workers.runs.context import claim_scratch
with claim_scratch(Path(sys.argv[1]), "ftjob-killed", 1) as scratch:
    (scratch / "adapter").mkdir()
    print("held", flush=True)
    time.sleep(600)
"""


def _below(work_dir: Path) -> list[str]:
    return sorted(path.name for path in (work_dir / "runs").iterdir())


def test_it_is_the_claims_own_and_goes_with_it(tmp_path: Path) -> None:
    with (
        claim_scratch(tmp_path, "ftjob-a", 1) as first,
        claim_scratch(tmp_path, "ftjob-a", 2) as second,
    ):
        (first / "adapter").mkdir()
        (second / "adapter").mkdir()
        assert _below(tmp_path) == ["ftjob-a-f1", "ftjob-a-f2"]
    assert _below(tmp_path) == []


def test_a_fault_removes_it_too(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), claim_scratch(tmp_path, "ftjob-a", 1):
        raise ZeroDivisionError
    assert _below(tmp_path) == []


def test_a_killed_claims_directory_goes_with_the_next_run_and_a_live_ones_stays(
    tmp_path: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with claim_scratch(tmp_path, "ftjob-b", 1):
            assert _below(tmp_path) == ["ftjob-b-f1", "ftjob-killed-f1"]
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    with claim_scratch(tmp_path, "ftjob-c", 1):
        assert _below(tmp_path) == ["ftjob-c-f1"]
