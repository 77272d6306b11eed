"""Checks that lists stay flat: the same page of a short and a long list, first pages and deep ones.

Two databases on one Postgres, one with many rows a list and one with few, each behind a process of
the service. One client asks both alternately on a kept connection, for each list its first page and
pages from deep inside; the time is until the last byte. For curves the table is long, not the
job's own curve, which is answered whole. Prints a table and a JSON line.

    python benchmarks/lists.py [--rows 1000000] [--requests 200]
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.local.layout import environment_of  # noqa: E402 - needs the path above
from benchmarks.api_process import uvicorn_process  # noqa: E402 - as above
from tests.support.stack import Database, Services, running_services  # noqa: E402 - as above
from tests.support.web.api_server import make_keys  # noqa: E402 - as above

BAR = 1.5
FEW = 1_000
JOBS = "/v1/fine_tuning/jobs"
_POINTS = 1_000
"""Points of one job's curves."""
# Every row a second older than the one before it, so that the order is not that of insertion.
FILL = {
    "jobs": """
        INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,
            training_file, seed, method, integrations, result_files, created_at, finished_at)
        SELECT 'ftjob-' || i, organization_id, id, 'key_x', 'tiny', 'succeeded', 'file-1', 1,
            '{"type": "reinforcement", "reinforcement": {"grader": {"type": "string_check"},
              "hyperparameters": {"n_epochs": 1}}}', '[]', '[]', now() - i * interval '1 s', now()
        FROM own, generate_series(1, %(rows)s) AS i
    """,
    "files": """
        INSERT INTO files (id, project_id, filename, purpose, bytes, sha256, object_key, status,
            created_at)
        SELECT 'file-' || i, id, 'rows.jsonl', 'fine-tune', 1, '00', 'k', 'processed',
            now() - i * interval '1 s'
        FROM own, generate_series(1, %(rows)s) AS i
    """,
    "events": """
        INSERT INTO job_events (id, project_id, job_id, level, type, message)
        SELECT 'ftevent-' || i, id, 'ftjob-1', 'info', 'message', 'Step ' || i
        FROM own, generate_series(1, %(rows)s) AS i
    """,
    "rollouts": """
        INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index,
            attempt, trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
            completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at,
            finished_at)
        SELECT 'ro_' || i, id, 'ftjob-1', 'train', i / 64, i / 8 %% 8, i %% 8, 1, 't' || i,
            CASE WHEN i %% 10 = 9 THEN NULL ELSE i %% 5 / 4.0 END,
            CASE WHEN i %% 10 = 9 THEN 'tool_error' END,
            CASE WHEN i %% 10 = 8 THEN 'token_limit' WHEN i %% 10 < 8 THEN 'final_answer' END, 1,
            100, 50, 0, 1, '{"exact": 0.5}', '{"messages": [{"role": "user", "content": "hi"}]}',
            0, 1
        FROM own, generate_series(0, %(rows)s - 1) AS i
    """,
    "metrics": """
        INSERT INTO job_metrics (job_id, name, split, step, project_id, value)
        SELECT 'ftjob-' || 1 + i / %(points)s, 'curve_' || i %% 10, 'train', i / 10, id, 0.5
        FROM own, generate_series(0, %(rows)s - 1) AS i
    """,
}
# The project of the key that asks.
_OWN = """
    WITH own AS (
        SELECT projects.id, organization_id
        FROM projects JOIN organizations ON organizations.id = organization_id
        WHERE slug = 'first'
    )
"""
LISTS = {
    "jobs": (f"{JOBS}?limit=20", "ftjob-"),
    "files": ("/v1/files?limit=20", "file-"),
    "events": (f"{JOBS}/ftjob-1/events?limit=20", "ftevent-"),
    "rollouts": (f"{JOBS}/ftjob-1/rollouts?limit=20", "ro_"),
    "of a row": (f"{JOBS}/ftjob-1/rollouts?limit=20&prompt_index=3", "ro_"),
    "by reward": (f"{JOBS}/ftjob-1/rollouts?limit=20&order_by=reward&order=desc", "ro_"),
    "failed": (f"{JOBS}/ftjob-1/rollouts?limit=20&failure_class=tool_error", "ro_"),
    "limits": (f"{JOBS}/ftjob-1/rollouts?limit=20&stop_reason=token_limit", "ro_"),
    "metrics": (f"{JOBS}/ftjob-1/metrics", ""),
}


@dataclass(frozen=True, slots=True)
class ListService:
    rows: int
    http: httpx.Client


@contextmanager
def side(services: Services, directory: Path, rows: int) -> Iterator[ListService]:
    with services.database(directory / str(rows)) as database:
        key, *_ = asyncio.run(make_keys(database.settings))
        fill(database, rows)
        environment = environment_of(database.settings)
        environment["AGENT_RFT_REQUESTS_PER_MINUTE"] = "0"
        headers = {"Authorization": f"Bearer {key}"}
        with (
            uvicorn_process("app.main:create_app", environment) as (port, _),
            httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as http,
        ):
            yield ListService(rows, http)


def fill(database: Database, rows: int) -> None:
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        # Foreign keys hold by construction; looking each of them up would take minutes.
        connection.execute("SET session_replication_role = replica")
        for query in FILL.values():
            whole = _OWN + query
            connection.execute(whole.encode(), {"rows": rows, "points": _POINTS})
        connection.execute("VACUUM ANALYZE")


def paths(name: str, rows: int, *, deep: bool, chance: random.Random) -> str:
    path, prefix = LISTS[name]
    if not deep:
        return path
    # From the last fifth of a list in whichever direction it runs; of few matches, from the middle.
    few = name in {"of a row", "by reward", "failed", "limits"}
    first, last = (rows // 10, rows // 2) if few else (rows * 8 // 10, rows - 30)
    # The fill gives every place that ends in 0 a reward, so that it is a place in each order.
    index = chance.randrange(first, last) // 10 * 10 if few else chance.randrange(first, last)
    return f"{path}&after={prefix}{rows - index if name == 'events' else index}"


def timed_request(side: ListService, path: str) -> float:
    began = time.perf_counter()
    reply = side.http.get(path)
    took = time.perf_counter() - began
    if reply.status_code != httpx.codes.OK or len(reply.json()["data"]) < 10:
        raise RuntimeError(f"{path}: {reply.status_code} {reply.text[:200]}")
    return 1000 * took


def measured(
    sides: tuple[ListService, ListService], name: str, requests: int, *, deep: bool
) -> list[list[float]]:
    chance, times = random.Random(7), [list[float](), list[float]()]
    for number in range(-20, requests):
        for side, its_times in zip(sides, times, strict=True):
            took = timed_request(side, paths(name, side.rows, deep=deep, chance=chance))
            if number >= 0:
                its_times.append(took)
    return times


def quantiles(times: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(times, n=20)
    return statistics.median(times), cuts[-1]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    record: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        directory.chmod(0o755)  # Postgres runs as an ordinary user below it
        services = stack.enter_context(running_services(directory))
        sides = (
            stack.enter_context(side(services, directory, FEW)),
            stack.enter_context(side(services, directory, options.rows)),
        )
        print(f"{'ms':16}{'few p50':>9}{'p95':>8}{'many p50':>10}{'p95':>8}{'p95 ratio':>11}")
        for kind in LISTS:
            for deep in (False, True) if kind != "metrics" else (False,):
                few, many = measured(sides, kind, options.requests, deep=deep)
                (p50, p95), (long_p50, long_p95) = quantiles(few), quantiles(many)
                title = f"{kind} {'deep' if deep else 'first'}"
                ratio = long_p95 / p95
                print(f"{title:16}{p50:9.2f}{p95:8.2f}{long_p50:10.2f}{long_p95:8.2f}{ratio:11.2f}")
                record[title] = {
                    "few_p50_ms": round(p50, 2),
                    "few_p95_ms": round(p95, 2),
                    "many_p50_ms": round(long_p50, 2),
                    "many_p95_ms": round(long_p95, 2),
                    "p95_ratio": round(ratio, 2),
                }
    print(json.dumps({"benchmark": "lists", "rows": options.rows, "bar": BAR, **record}))
    return 0 if all(row["p95_ratio"] <= BAR for row in record.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
