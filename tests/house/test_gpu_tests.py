"""The tests of a GPU fail on a machine without one: a run that skips them has tested nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_a_gpu_they_fail_with_the_reason() -> None:
    recipe = re.search(
        r"^test-gpu:.*\n\t@\$\(BIN\)/python (-m .*) tests", _makefile(), re.MULTILINE
    )
    assert recipe is not None
    done = subprocess.run(
        [
            sys.executable,
            *recipe[1].split(),
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/gpu/test_memory.py",
        ],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no GPU here: torch.cuda.is_available() is False" in done.stdout
    assert not re.search(r"\d (passed|skipped)", done.stdout)


def _makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")
