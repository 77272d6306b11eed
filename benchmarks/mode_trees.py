"""Compares the speed of a mode in this checkout with that in another one, side by side.

Each tree has its own installation with the workload of `modes.py`; their jobs alternate, so that
other load on the machine affects both. With the default values, two jobs of three steps run, which
takes less than five minutes on two free cores. One pair separates no difference below a tenth from
noise. Prints each job, the medians of both trees and their ratio, and a JSON line.

    git worktree add ../before 90af731 && make -C ../before setup
    python benchmarks/mode_trees.py ../before [--mode async] [--repeats 1] [--steps 3]
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tree_process import TreeProcess, tree_process  # noqa: E402 - needs the path above

_JOBS: Final = """
import json, sys, tempfile
from inspect import signature
from pathlib import Path
sys.path.insert(0, ".")
from benchmarks import modes
modes.SPEED_STEPS = steps = int(sys.argv[1])
known = "steps" in signature(modes.speed_workload).parameters
with tempfile.TemporaryDirectory() as name:
    directory = Path(name)
    workload = modes.speed_workload(directory, "rollouts", **({"steps": steps} if known else {}))
    with modes.stack_of(directory, workload) as stack:
        print("READY null", flush=True)
        for line in sys.stdin:
            print("DONE " + json.dumps(stack.run_job(*json.loads(line))), flush=True)
"""
"""The program of a tree: starts the installation, and runs a job for each line that it reads."""
MODES: Final[dict[str, dict[str, Any]]] = {
    "sync": {"type": "sync"},
    "streaming": {"type": "streaming", "minibatches": 8},
    "async": {"type": "async", "max_staleness": 2},
}
Rates = dict[str, list[float]]
"""Tokens a second of each job, by tree."""


def run(trees: dict[str, TreeProcess], mode: str, repeats: int) -> Rates:
    found: Rates = {name: [] for name in trees}
    for seed in range(repeats):
        for name in sorted(trees, reverse=bool(seed % 2)):
            line = json.dumps([MODES[mode], seed])
            job = json.loads(trees[name].ask(line, answer="DONE "))
            print(f"{name}, seed {seed}: {json.dumps(job)}", flush=True)
            found[name].append(job["tokens_per_s"])
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("before", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--mode", choices=sorted(MODES), default="async")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    directories = {"before": options.before.resolve(), "after": ROOT}
    with ExitStack() as stack:
        trees = {
            name: stack.enter_context(tree_process(directory, _JOBS, str(options.steps)))
            for name, directory in directories.items()
        }
        found = run(trees, options.mode, options.repeats)
    rates = {name: round(median(values), 1) for name, values in found.items()}
    ratio = round(median(a / b for a, b in zip(found["after"], found["before"], strict=True)), 3)
    print(f"{options.mode}: {rates} tokens a second, after/before {ratio}")
    print(json.dumps({"benchmark": "mode_trees", "mode": options.mode, **rates, "ratio": ratio}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
