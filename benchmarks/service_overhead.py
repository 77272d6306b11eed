"""One job through the whole service, and the same steps in a bare loop, in one run.

The service: API, worker, Postgres, broker, journal, events, checkpoints. The loop (`our_loop.py`)
has the same engine, rollouts, tools and grader over HTTP, trainer and publication, in a process of
its own, and nothing besides. Both have the model of `talkative.py` (M1 that writes about a hundred
words a turn), the same rows, rewards, group size and learning options, and tools that answer at
once, so that no wait hides the service's own work. Evaluation and start-up are left out on both
sides; the two alternate. Prints both in sampled tokens a second, and their ratio by pairs.

    python benchmarks/service_overhead.py [--rounds 3] [--steps 6]
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, Final

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.modes import BATCH, speed_workload, stack_of  # noqa: E402 - the repository's root must be on the path first

BAR: Final = 1.10
"""Most time that the service may take for a token, as a multiple of the loop's."""
GROUP_SIZE: Final = 8
MAX_EPISODE_STEPS: Final = 12
MAX_TURN_TOKENS: Final = 512
# As in an installation: idle threads sleep, and the trainer may use every core.
MACHINE: Final = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "KMP_BLOCKTIME": "0",
    "OMP_NUM_THREADS": str(os.cpu_count() or 1),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    given = parser.parse_args()
    service: list[dict[str, Any]] = []
    loop: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        workload = speed_workload(directory, "none", steps=given.steps)
        with stack_of(directory, workload) as stack:
            for seed in range(given.rounds):
                service.append(stack.run_job({"type": "sync"}, seed))
                loop.append(_run_bare_loop(directory, stack.agent, workload.files[0], seed))
                print(f"round {seed}: {json.dumps([service[-1], loop[-1]])}", flush=True)
    return _report(service, loop)


def _run_bare_loop(directory: Path, agent: str, rows: Path, seed: int) -> dict[str, Any]:
    done = subprocess.run(
        [
            *(sys.executable, __file__, "--bare-loop"),
            *(str(directory / "talkative"), agent, str(rows), str(seed)),
        ],
        cwd=REPOSITORY,
        env=os.environ | MACHINE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _report(service: list[dict[str, Any]], loop: list[dict[str, Any]]) -> int:
    def middle(rows: list[dict[str, Any]], what: str) -> float:
        return float(median(row[what] for row in rows))

    ratios = [
        bare["tokens_per_s"] / whole["tokens_per_s"]
        for whole, bare in zip(service, loop, strict=True)
    ]
    print("\n           tokens/s    s/step  tokens/rollout")
    for name, rows in (("service", service), ("bare loop", loop)):
        each = median(row["tokens"] / row["rollouts"] for row in rows)
        print(
            f"{name:<9}  {middle(rows, 'tokens_per_s'):>8.0f}  {middle(rows, 'step_s'):>8.2f}  "
            f"{each:>14.1f}"
        )
    met = "met" if median(ratios) <= BAR else "NOT met"
    print(
        f"Time for a token through the service: {median(ratios):.2f} of the bare loop's (pairs "
        f"{', '.join(f'{ratio:.2f}' for ratio in ratios)}). Bar {BAR}: {met}."
    )
    print(
        json.dumps(
            {
                "benchmark": "service_overhead",
                "python": platform.python_version(),
                "cores": os.cpu_count(),
                "load_average": round(os.getloadavg()[0], 2),
                "ratios": ratios,
                "service": service,
                "bare_loop": loop,
            }
        )
    )
    return 0


def bare_loop(model: Path, agent: str, rows: Path, seed: int) -> None:
    """Runs the steps of one job in this process and prints its measurements."""
    from benchmarks.bare_job import BareJob, read_rows  # noqa: PLC0415 - torch loads in this process only
    from benchmarks.our_loop import engine_process  # noqa: PLC0415 - as above
    from benchmarks.talkative import NAME  # noqa: PLC0415 - as above
    from workers.engines.cpu.engine import ASSUMED_THREADS  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        with engine_process(model, NAME, root=root, threads=ASSUMED_THREADS) as (url, pid):
            job = BareJob(
                model, agent, url, pid, seed=seed, group_size=GROUP_SIZE, scratch=root / "adapters"
            )
            measured = asyncio.run(
                job.run(
                    read_rows(rows),
                    batch=BATCH,
                    max_episode_steps=MAX_EPISODE_STEPS,
                    max_turn_tokens=MAX_TURN_TOKENS,
                )
            )
    print(json.dumps(measured))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--bare-loop"]:
        bare_loop(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]))
        sys.exit(0)
    sys.exit(main())
