"""Grades in the sandbox: the time of one after another, of fifty at once, and of a kill.

    python benchmarks/sandbox.py [--grades 500] [--at-once 50]

Prints one table and a JSON line.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.tools.programs import FunctionCall, ProgramOutcome  # noqa: E402 - needs the path above
from tests.support.sandbox.running import RunningSandbox, running_sandbox  # noqa: E402 - as above

GRADE = FunctionCall(
    "def grade(sample, item):\n    return float(sample['output_text'] == item['answer'])\n",
    "grade",
    ({"output_text": "42"}, {"answer": "42"}),
)
ENDLESS = FunctionCall(
    "def grade(sample, item):\n    while True:\n        pass\n", "grade", ({}, {})
)


async def timed(sandbox: RunningSandbox, program: FunctionCall) -> tuple[float, ProgramOutcome]:
    """Returns the milliseconds that a caller waits, and the ending."""
    started = time.perf_counter()
    ending = await sandbox.client.run(program)
    return 1000 * (time.perf_counter() - started), ending


async def measure(sandbox: RunningSandbox, *, grades: int, at_once: int) -> dict[str, float]:
    await timed(sandbox, GRADE)
    one_by_one = [await timed(sandbox, GRADE) for _ in range(grades)]
    started = time.perf_counter()
    together = await asyncio.gather(*(timed(sandbox, GRADE) for _ in range(at_once)))
    all_s = time.perf_counter() - started
    kill_ms, killed = await timed(sandbox, ENDLESS)
    after_ms, after = await timed(sandbox, GRADE)
    endings = [ending for _, ending in (*one_by_one, *together)]
    right = sum(json.loads(one.reply) == {"value": 1.0} for one in (*endings, after))
    assert (right, killed.how) == (grades + at_once + 1, "time_limit")
    waits = sorted(ms for ms, _ in one_by_one)
    inside = [1000 * ending.elapsed_s for _, ending in one_by_one]
    return {
        "grades": grades,
        "p50_ms": statistics.median(waits),
        "p99_ms": waits[int(0.99 * len(waits))],
        "p50_program_ms": statistics.median(inside),
        "at_once": at_once,
        "at_once_total_ms": 1000 * all_s,
        "killed_after_ms": kill_ms,
        "next_grade_ms": after_ms,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grades", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=50)
    arguments = parser.parse_args()
    with running_sandbox(parallel=4, time_limit_s=5.0) as sandbox:
        level = asyncio.run(sandbox.client.level())
        found = asyncio.run(measure(sandbox, grades=arguments.grades, at_once=arguments.at_once))
    print(f"layers: {level.names}\n")
    for name, value in found.items():
        print(f"{name:>20} {value:10.1f}")
    print(json.dumps({"layers": level.layers, **found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
