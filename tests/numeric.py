"""Runs the numeric tests once for each kind of processor that this one can stand in for.

Usage: python -m tests.numeric [pytest arguments]

Torch and oneDNN choose their code by the processor's instructions, and each code sums in another
order. Both can be told to use fewer instructions than there are. `ALL_PAIRS=1` runs every pair of
their choices instead of each choice once.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

ROOMS: Final = ("tests/workers/compute", "tests/workers/engines/cpu", "tests/workers/learning")
TORCH: Final = ("default", "avx2", "avx512")
ONEDNN: Final = ("sse41", "avx2", "")
"""The empty one is all that the processor has."""
_ASK: Final = "import torch; print(torch.backends.cpu.get_cpu_capability())"


def available() -> tuple[str, ...]:
    """Returns the choices that torch has here: a wider one would end in an illegal instruction."""
    free = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    asked = subprocess.run(
        [sys.executable, "-c", _ASK], env=free, stdout=subprocess.PIPE, text=True, check=True
    )
    widest = asked.stdout.strip().lower()
    return TORCH[: TORCH.index(widest) + 1] if widest in TORCH else TORCH[:1]


def pairs() -> Iterator[tuple[str, str]]:
    """Yields the choices of torch and oneDNN of each run."""
    choices = available()
    if os.environ.get("ALL_PAIRS"):
        yield from ((torch, onednn) for torch in choices for onednn in ONEDNN)
        return
    yield from ((torch, "") for torch in choices)
    yield from ((choices[-1], onednn) for onednn in ONEDNN[:-1])


def main(arguments: list[str]) -> int:
    """Prints the last line of each run; 1 when one of them failed."""
    failed = False
    for torch, onednn in pairs():
        environment = {**os.environ, "ATEN_CPU_CAPABILITY": torch}
        if onednn:
            environment["ONEDNN_MAX_CPU_ISA"] = onednn
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not gpu and not vllm"]
        done = subprocess.run(
            [*command, *ROOMS, *arguments], env=environment, stdout=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        if done.returncode != 0:
            failed = True
            print(done.stdout)
        print(f"torch {torch}, oneDNN {onednn or 'all'}: {lines[-1] if lines else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
