"""Compares `GET job` and `POST job` of this checkout with those of another one, side by side.

Each tree serves from its own processes with its own interpreter (`.venv`), Postgres and broker, and
also runs its bare handler. The same client calls all four in alternating short rounds, so that
other load on the machine affects all of them. Prints the ratios of throughput and of the processor
time for each request.

    git worktree add ../before 90af731 && make -C ../before setup
    python benchmarks/two_trees.py ../before [--rounds 24] [--seconds 1] [--connections 32]
"""

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.control_plane import Request, Round, getting, one_round, posting  # noqa: E402 - needs the path above
from benchmarks.tree_process import TreeProcess, tree_process  # noqa: E402 - as above

_SERVE = """
import asyncio, json, sys, tempfile
from contextlib import ExitStack
from pathlib import Path
sys.path.insert(0, ".")
from benchmarks import control_plane as plane
with tempfile.TemporaryDirectory() as name:
    directory = Path(name)
    directory.chmod(0o755)
    with (
        plane.running_services(directory) as services,
        services.database(directory / "data") as database,
    ):
        key, *_ = asyncio.run(plane.make_keys(database.settings))
        environment = plane.environment_of(database.settings)
        environment["AGENT_RFT_REQUESTS_PER_MINUTE"] = "9999999"
        environment["AGENT_RFT_QUOTAS"] = '{"queued_jobs": 1000000000}'
        with ExitStack() as stack:
            sides = {
                side: stack.enter_context(plane.uvicorn_process(factory, environment))
                for side, factory in plane.SERVERS.items()
            }
            url = f"http://127.0.0.1:{sides['service'][0]}"
            body, job = plane.prepared(url, key)
            ready = {"sides": sides, "key": key, "body": body, "job": job}
            print("READY " + json.dumps(ready), flush=True)
            bench = plane.Bench(database, None)
            for _ in sys.stdin:
                bench._settle(job)
                print("SETTLED", flush=True)
"""
"""The program of a tree: starts the servers, and settles the rows for each line that it reads."""


@dataclass(frozen=True, slots=True)
class Tree:
    process: TreeProcess

    def request(self, what: str) -> Request:
        ready = self.process.ready
        return getting(ready["job"]) if what == "GET" else posting(ready["body"])

    def measure(self, what: str, side: str, options: argparse.Namespace) -> Round:
        self.process.ask("settle", answer="SETTLED")
        ready = self.process.ready
        port, pid = ready["sides"][side]
        url = f"http://127.0.0.1:{port}"
        return asyncio.run(one_round(url, pid, ready["key"], self.request(what), options))


@contextmanager
def running(tree: Path) -> Iterator[Tree]:
    with tree_process(tree, _SERVE) as process:
        yield Tree(process)


Rounds = dict[tuple[str, str, str], list[Round]]
"""Rounds by method, tree and side."""


def run(trees: dict[str, Tree], options: argparse.Namespace) -> Rounds:
    sides = [(name, side) for side in ("service", "bare") for name in trees]
    found: Rounds = {}
    for number in range(-1, options.rounds):
        for what in ("GET", "POST"):
            for name, side in sides if number % 2 else sides[::-1]:
                done = trees[name].measure(what, side, options)
                if number >= 0:  # the first round only warms up
                    found.setdefault((what, name, side), []).append(done)
    return found


def ratios(ours: list[Round], theirs: list[Round]) -> dict[str, float]:
    """Returns the median over neighbouring rounds for throughput and processor time, and the ratio
    of the 20 % quantiles of processor time, which other load changes least.
    """
    pairs = list(zip(ours, theirs, strict=True))
    own, other = (statistics.quantiles([r.cpu_ms for r in side], n=5)[0] for side in (ours, theirs))
    return {
        "per_s": round(statistics.median(a.per_s / b.per_s for a, b in pairs), 3),
        "cpu": round(statistics.median(a.cpu_ms / b.cpu_ms for a, b in pairs), 3),
        "cpu_20": round(own / other, 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("before", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    with ExitStack() as stack:
        directories = {"before": options.before.resolve(), "after": ROOT}
        trees = {
            name: stack.enter_context(running(directory)) for name, directory in directories.items()
        }
        found = run(trees, options)
    record: dict[str, Any] = {}
    for what in ("GET", "POST"):
        after, before = (found[what, name, "service"] for name in ("after", "before"))
        record[what] = {"after/before": ratios(after, before)} | {
            f"{name}: service/bare": ratios(found[what, name, "service"], found[what, name, "bare"])
            for name in trees
        }
        for between, values in record[what].items():
            print(
                f"{what:5}{between:22}", *(f"{name} {value:.3f}" for name, value in values.items())
            )
    print(json.dumps({"benchmark": "two_trees", **record}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
