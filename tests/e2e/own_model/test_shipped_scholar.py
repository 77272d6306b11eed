"""`agent-rft up --model tiny-scholar`: a person teaches a student with the samples of a recipe, and
report card, student's page and chat say the same.
"""

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.local.state import free_port
from app.settings import SCHOLAR_MODEL
from tests.support.dashboard.teaching import follow
from tests.support.dashboard.visits import Visit
from tests.support.embedded.installation import Installation, cli, opened, wait_until_final
from tests.support.patience import PATIENCE_S, until

pytestmark = pytest.mark.long


def test_a_promoted_student_says_in_chat_what_its_report_says(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = cli("up", "--data-dir", str(data), "--port", str(free_port()), "--detach")
    done = subprocess.run(
        [*command, "--model", "tiny-scholar"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "tiny-scholar is a toy to try the service with" in done.stderr
    try:
        announced = json.loads(done.stdout)
        assert announced["models"] == [SCHOLAR_MODEL]
        with opened(data, announced) as live:
            asyncio.run(teach(live))
            learn(live)
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)


def learn(live: Installation) -> None:
    """Lets the model learn a recipe whose plan is compiled as it is."""
    client = live.client()
    body = {"model": "tiny-scholar", "recipe": "tool_use"}
    plan = client.post("/improvement_plans/compile", body=body, cast_to=dict)
    created = client.post("/fine_tuning/jobs", body={**plan["job"], "seed": 1}, cast_to=dict)
    job = wait_until_final(client, created["id"])
    assert (job.status, job.model) == ("succeeded", SCHOLAR_MODEL), job.error
    compared = live.get(f"/fine_tuning/jobs/{job.id}/report")["reward"]
    assert compared["difference"] > 0.1
    assert compared["difference_ci95"][0] > 0


async def teach(live: Installation) -> None:
    browser = {"accept": "text/html", "sec-fetch-site": "same-origin"}
    address = live.base_url.removesuffix("/v1")
    async with httpx.AsyncClient(base_url=address, headers=browser, timeout=PATIENCE_S) as http:
        visit = Visit(http)
        await visit.sign_in(live.api_key)
        reported = await promoted(visit, live, "clerk", recipe="customer_support")
        assert abs(right_in_chat(live) - reported) <= 0.05 * 24


async def promoted(visit: Visit, live: Installation, name: str, *, recipe: str) -> int:
    """Lets a student practise the samples of a recipe. Returns how many of 24 it answers right, of
    which every page says the same.
    """
    path = f"/teach/students/{name}"
    made = {"name": name, "base_model": SCHOLAR_MODEL, f"keep-{recipe}": "yes"}
    await follow(visit, "/teach/students", made)
    body = {"recipe": recipe, "seed": 1}
    begun = live.client().post(f"/students/{name}/improve", body=body, cast_to=dict)
    job = await asyncio.to_thread(wait_until_final, live.client(), begun["job"]["id"])
    assert job.status == "succeeded", job.error
    card = await visit.get(f"{path}/jobs/{job.id}")
    said = found(r"It answers (\d+) of 24 questions right, (?:up from (\d+)|as many)", card)
    now, before = int(said[1]), int(said[2] or said[1])
    await follow(visit, f"{path}/propose", {"job": job.id})
    await until(lambda: skill(live, name)["status"] != "running", what="the gate's decision")
    assert skill(live, name)["status"] == "passed", skill(live, name)["reason"]
    shown = await visit.get(path)
    assert found(r"At first (\d+) of 24 were answered right", shown)[1] == str(before)
    measured = [one["difference"] for one in skill(live, name)["comparisons"]]
    assert measured == [pytest.approx((now - before) / 24, abs=0.03)] * 2
    await follow(visit, f"{path}/promote", {"skill": skill(live, name)["id"]})
    return now


def found(pattern: str, shown: httpx.Response) -> re.Match[str]:
    match = re.search(pattern, shown.text)
    assert match is not None, shown.text
    return match


def skill(live: Installation, name: str) -> Any:
    return live.get(f"/students/{name}/skills")["data"][0]


def right_in_chat(live: Installation) -> int:
    """Asks the questions of the sample, each without the instructions before it."""
    right = 0
    for row in live.get("/recipes/customer_support")["sample_curriculum"]["validation"]:
        reply = live.client().chat.completions.create(
            model="student:clerk", messages=row["messages"][1:], max_completion_tokens=128
        )
        right += row["fact"] in (reply.choices[0].message.content or "")
    return right
