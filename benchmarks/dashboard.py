"""Measures the pages of a very long job: their time on the server, and until a browser shows them.

One database with a job of 1,000,000 points of curves and 200,000 rollouts, one process of the
service in front of it. A client asks each page on a kept connection; the time is until the last
byte. The table also has the service's processor time for a page, which other load on the machine
changes less. Then Debian's Chromium opens the job page in fresh profiles, and reports its first
contentful paint. Prints a table and a JSON line. The bars are those of the job page: p95 below
150 ms, and the first paint below 1 s.

    python benchmarks/dashboard.py [--points 1000000] [--rollouts 200000] [--loads 60] [--only job]
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.local.layout import environment_of  # noqa: E402 - needs the path above
from app.rollouts.metrics import MEANINGS  # noqa: E402 - as above
from benchmarks.api_process import uvicorn_process  # noqa: E402 - as above
from benchmarks.machine import machine  # noqa: E402 - as above
from tests.support.dashboard.browser import browsing, missing  # noqa: E402 - as above
from tests.support.stack import Database, running_services  # noqa: E402 - as above
from tests.support.web.api_server import make_keys  # noqa: E402 - as above

BAR_SERVER_MS = 150.0
BAR_PAINT_MS = 1000.0
CURVES = 40
VALIDATIONS = 10
VALID_ROWS = 100
SAMPLES = 10
WARM_UP = 5
JOB = "ftjob-long"
PAGES = {
    "job": f"/jobs/{JOB}",
    "events": f"/jobs/{JOB}/events",
    "rollouts": f"/jobs/{JOB}/rollouts",
    "of a step": f"/jobs/{JOB}/rollouts?step=100",
    "lost": f"/jobs/{JOB}/rollouts?failed=true",
    "rows": f"/jobs/{JOB}/rows?split=valid",
    "baseline": f"/jobs/{JOB}/baseline",
    "jobs": "/",
}
_OWN = """
    WITH own AS (
        SELECT projects.id, organization_id
        FROM projects JOIN organizations ON organizations.id = organization_id
        WHERE slug = 'first'
    )
"""
FILL = (
    """
    INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,
        training_file, validation_file, seed, method, integrations, result_files, step, total_steps,
        created_at)
    SELECT %(job)s, organization_id, id, 'key_x', 'tiny-agent', 'running', 'file-1', 'file-2', 1,
        '{"type": "reinforcement", "reinforcement": {"grader": {"type": "string_check"},
          "hyperparameters": {"n_epochs": 1}}}', '[]', '[]', %(steps)s, %(steps)s + 100, now()
    FROM own
    """,
    """
    INSERT INTO job_events (id, project_id, job_id, level, type, message)
    SELECT 'ftevent-' || i, id, %(job)s, 'info', 'message', 'Step ' || i
    FROM own, generate_series(1, 20000) AS i
    """,
    """
    INSERT INTO job_metrics (job_id, name, split, step, project_id, value)
    SELECT %(job)s, name, 'train', step, id, 0.5 + 0.4 * sin(step / 500.0) + 0.1 * random()
    FROM own, unnest(%(curves)s::text[]) AS name, generate_series(1, %(steps)s) AS step
    """,
    """
    INSERT INTO job_metrics (job_id, name, split, step, project_id, value)
    SELECT %(job)s, 'reward/mean', 'valid', i * %(steps)s / %(validations)s, id, 0.05 * i
    FROM own, generate_series(0, %(validations)s) AS i
    """,
    """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
        completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at, finished_at)
    SELECT 'ro_' || i, id, %(job)s, 'train', 1 + i / 64, i / 8 %% 8, i %% 8, 0, 't' || i,
        CASE WHEN i %% 10 = 9 THEN NULL ELSE i %% 5 / 4.0 END,
        CASE WHEN i %% 10 = 9 THEN 'tool_error' END,
        CASE WHEN i %% 10 < 9 THEN 'final_answer' END, 1, 100, 50, 0, 1, '{"exact": 0.5}',
        jsonb_build_object('messages', jsonb_build_array(
            jsonb_build_object('role', 'user', 'content', repeat('Which river? ', 40))),
            'turns', '[]'::jsonb), 0, 1
    FROM own, generate_series(0, %(trained)s - 1) AS i
    """,
    """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, reward, failure_class, stop_reason, policy_version, prompt_tokens,
        completion_tokens, reasoning_tokens, tool_calls, components, trace, started_at, finished_at)
    SELECT 'va_' || v || '_' || r || '_' || s, id, %(job)s, 'valid',
        v * %(steps)s / %(validations)s, r, s, 0, 't', (r + s + v) %% 3 / 2.0, NULL, 'final_answer',
        1, 100, 50, 0, 1, '{}', '{"messages": [], "turns": []}', 0, 1
    FROM own, generate_series(0, %(validations)s) AS v, generate_series(0, %(rows)s - 1) AS r,
        generate_series(0, %(samples)s - 1) AS s
    """,
)


def fill(database: Database, *, points: int, rollouts: int) -> None:
    """Inserts the job with about as many points and rollouts."""
    url = database.superuser_url.replace("+psycopg", "")
    validated = (VALIDATIONS + 1) * VALID_ROWS * SAMPLES
    values = {
        "job": JOB,
        "curves": curves(),
        "steps": points // CURVES,
        "trained": max(0, rollouts - validated),
        "validations": VALIDATIONS,
        "rows": VALID_ROWS,
        "samples": SAMPLES,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        # Foreign keys hold by construction; looking each of them up would take minutes.
        connection.execute("SET session_replication_role = replica")
        connection.execute("ALTER TABLE job_metrics ENABLE ALWAYS TRIGGER job_metric_blocks_insert")
        for query in FILL:
            connection.execute((_OWN + query).encode(), values)
        connection.execute("VACUUM ANALYZE")


def curves() -> list[str]:
    """Returns names that the job page draws."""
    plain = [name for name in MEANINGS if "<" not in name and not name.startswith("preference/")]
    tools = [f"tool/t{number}/latency_s_mean" for number in range(CURVES)]
    first = ["reward/mean", "train/loss"]
    return [*first, *(name for name in plain if name not in first), *tools][:CURVES]


def server_times(http: httpx.Client, path: str, *, loads: int) -> tuple[list[float], int]:
    """Returns milliseconds until the last byte, and the bytes of the page."""
    times, size = list[float](), 0
    for number in range(-WARM_UP, loads):
        began = time.perf_counter()
        reply = http.get(path)
        took = 1000 * (time.perf_counter() - began)
        if reply.status_code != httpx.codes.OK:
            raise RuntimeError(f"{path}: {reply.status_code} {reply.text[:200]}")
        size = len(reply.content)
        if number >= 0:
            times.append(took)
    return times, size


async def paints(root: str, key: str, *, count: int) -> list[float]:
    """Returns the first contentful paints of the job page in milliseconds, one of each profile."""
    found = list[float]()
    for _ in range(count):
        async with browsing(root) as tab:
            await tab.sign_in(key)
            await tab.open(PAGES["job"])
            entry = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
            found.append(float(await tab.page.evaluate(entry)))
    return found


@contextmanager
def signed_in(root: str, key: str) -> Iterator[httpx.Client]:
    """Yields a client with the cookie of a session."""
    with httpx.Client(base_url=root, headers={"accept": "text/html"}, timeout=120) as http:
        reply = http.post("/sign-in", data={"api_key": key}, headers={"origin": root})
        if reply.status_code != httpx.codes.SEE_OTHER:
            raise RuntimeError(f"sign-in: {reply.status_code} {reply.text[:200]}")
        yield http


def processor_ms(pid: int) -> float:
    """Returns the processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(
    root: str, key: str, pid: int, *, loads: int, pages: dict[str, str]
) -> dict[str, dict[str, float]]:
    print(f"{'page':12}{'p50 ms':>9}{'p95 ms':>9}{'cpu ms':>9}{'kB':>8}")
    record: dict[str, dict[str, float]] = {}
    with signed_in(root, key) as http:
        for name, path in pages.items():
            before = processor_ms(pid)
            times, size = server_times(http, path, loads=loads)
            cpu = (processor_ms(pid) - before) / (loads + WARM_UP)
            p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
            print(f"{name:12}{p50:9.1f}{p95:9.1f}{cpu:9.1f}{size / 1000:8.1f}", flush=True)
            shown = {"p50_ms": p50, "p95_ms": p95, "cpu_ms": cpu}
            record[name] = {key: round(value, 1) for key, value in shown.items()}
            record[name]["bytes"] = size
    return record


def first_paint(root: str, key: str, *, count: int) -> dict[str, Any]:
    if reason := missing():
        print(f"no first paint: {reason}")
        return {"missing": reason}
    found = asyncio.run(paints(root, key, count=count))
    shown = {"median_ms": round(statistics.median(found), 1), "most_ms": round(max(found), 1)}
    print(f"first contentful paint of the job page: {shown}")
    return shown


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--rollouts", type=int, default=200_000)
    parser.add_argument("--loads", type=int, default=60)
    parser.add_argument("--paints", type=int, default=7)
    parser.add_argument("--only", choices=("job",), help="the page that has the bars, alone")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        directory.chmod(0o755)  # Postgres runs as an ordinary user below it
        services = stack.enter_context(running_services(directory))
        database = stack.enter_context(services.database(directory / "dashboard"))
        key, *_ = asyncio.run(make_keys(database.settings))
        fill(database, points=options.points, rollouts=options.rollouts)
        environment = environment_of(database.settings)
        environment["AGENT_RFT_REQUESTS_PER_MINUTE"] = "0"
        serving = uvicorn_process("app.main:create_app", environment)
        port, pid = stack.enter_context(serving)
        root = f"http://127.0.0.1:{port}"
        shown = {"job": PAGES["job"]} if options.only else PAGES
        pages = measured(root, key, pid, loads=options.loads, pages=shown)
        paint = first_paint(root, key, count=options.paints)
    report = {"points": options.points, "rollouts": options.rollouts, "pages": pages}
    bars = {"server_p95_ms": BAR_SERVER_MS, "first_paint_ms": BAR_PAINT_MS}
    whole = {"benchmark": "dashboard", "machine": machine(), "bars": bars}
    print(json.dumps({**whole, **report, "first_paint": paint}))
    is_fast = pages["job"]["p95_ms"] < BAR_SERVER_MS
    return 0 if is_fast and paint.get("median_ms", 0.0) < BAR_PAINT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
