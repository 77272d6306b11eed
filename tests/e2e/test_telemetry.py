"""The metrics of a whole installation after a job, read as Prometheus reads them."""

import json
import re
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.e2e.main_job import STEPS, TRAIN_ROWS, VALID_ROWS, Endpoints, FinishedJob
from tests.support.e2e.monitoring import KEY
from tests.support.embedded.installation import Installation
from tests.support.patience import PATIENCE_S, wait_for

PAGE = (Path(__file__).parents[2] / "docs" / "observability.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"^\| `([a-z_:]+)", PAGE, re.MULTILINE))


def _read(live: Installation, process: str) -> str:
    urls = json.loads((live.data_dir / "services.json").read_text())["metrics_urls"]
    assert sorted(urls) == ["api", "control", "engine", "runs"]
    key = KEY
    if process == "engine":
        key = json.loads((live.data_dir / "state.json").read_text())["engine_api_key"]
    reply = httpx.get(urls[process], headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text
    assert httpx.get(urls[process], timeout=PATIENCE_S).status_code == 401
    return reply.text


def _values(text: str) -> dict[str, float]:
    """Returns the values of all series, by name and values of their labels, sorted by label."""
    return {
        "/".join(
            (sample.name, *(value for _, value in sorted(sample.labels.items())))
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _sum(values: dict[str, float], head: str) -> float:
    return sum(value for name, value in values.items() if name.startswith(head))


def test_the_worker_shows_what_its_jobs_did(live: Installation, finished: FinishedJob) -> None:
    values = _values(_read(live, "runs"))
    job = live.get(f"/fine_tuning/jobs/{finished.job.id}")
    if job["created_at"] < values["process_start_time_seconds"]:
        pytest.skip("another test has killed the worker of the job")
    usage = job["usage_metrics"]
    assert _sum(values, "agent_rft_rollouts_total/") >= usage["rollouts"] > 0
    assert values["agent_rft_rollouts_total/final_answer/train"] > 0
    assert values["agent_rft_rollout_duration_seconds_count/train"] >= TRAIN_ROWS * 8
    assert _sum(values, "agent_rft_tool_calls_total/") >= usage["tool_calls"]
    assert values["agent_rft_endpoint_calls_total/tool/answered"] > 0
    assert values["agent_rft_endpoint_calls_total/grader/answered"] >= VALID_ROWS
    assert _sum(values, "agent_rft_sampled_tokens_total/") >= usage["completion_tokens"]
    assert values["agent_rft_steps_total/reinforcement"] >= STEPS
    assert values["agent_rft_trained_tokens_total"] >= job["trained_tokens"] > 0
    # The process of the job exits after the job's end is committed.
    wait_for(
        lambda: _values(_read(live, "runs")).get("agent_rft_claims_total/ended", 0) >= 1,
        what="the end of a claim",
    )
    assert values["agent_rft_worker_processes"] >= 2


def test_no_series_names_a_customer(
    live: Installation, endpoints: Endpoints, finished: FinishedJob
) -> None:
    for process in ("runs", "control", "api", "engine"):
        text = _read(live, process)
        shown = set(re.findall(r"^# TYPE ((?!process_|python_)\S+) ", text, re.MULTILINE))
        shown = {name for name in shown if not name.endswith("_created")}
        assert {re.sub("_total$", "", name) for name in shown} <= {
            re.sub("_total$", "", name) for name in NAMED
        }, process
        for secret in (endpoints.good.removeprefix("http://"), finished.job.id, "proj_", "search"):
            assert secret not in text, process


def test_the_other_processes_show_their_own(live: Installation, finished: FinishedJob) -> None:
    waiting = _values(_read(live, "control"))
    for work in ("job", "run", "export"):
        assert waiting[f"agent_rft_queue_depth/{work}"] >= 0
    assert _values(_read(live, "api"))["agent_rft_jobs/succeeded"] >= 1
    tokens = live.get(f"/fine_tuning/jobs/{finished.job.id}")["usage_metrics"]["completion_tokens"]
    assert _values(_read(live, "engine"))["vllm:generation_tokens_total"] > 0
    assert tokens > 0
