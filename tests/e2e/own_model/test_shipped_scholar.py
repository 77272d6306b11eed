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
STUDENT = "/teach/students/clerk"


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
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)


async def teach(live: Installation) -> None:
    browser = {"accept": "text/html", "sec-fetch-site": "same-origin"}
    address = live.base_url.removesuffix("/v1")
    async with httpx.AsyncClient(base_url=address, headers=browser, timeout=PATIENCE_S) as http:
        visit = Visit(http)
        await visit.sign_in(live.api_key)
        made = {"name": "clerk", "base_model": SCHOLAR_MODEL, "keep-customer_support": "yes"}
        await follow(visit, "/teach/students", made)
        page = (await follow(visit, f"{STUDENT}/plan", {"recipe": "customer_support"})).url.path
        job = await asyncio.to_thread(wait_until_final, live.client(), page.rpartition("/")[2])
        assert job.status == "succeeded", job.error
        compared = live.get(f"/fine_tuning/jobs/{job.id}/report")["reward"]
        assert compared["difference_ci95"][0] > 0.1
        said = found(
            r"It answers (\d+) of 24 questions right, up from (\d+)\.", await visit.get(page)
        )
        now, before = map(int, said.groups())
        await follow(visit, f"{STUDENT}/propose", {"job": job.id})
        skill = await decided(live)
        assert skill["status"] == "passed", skill["reason"]
        shown = await visit.get(STUDENT)
        assert found(r"At first (\d+) of 24 were answered right", shown)[1] == str(before)
        await follow(visit, f"{STUDENT}/promote", {"skill": skill["id"]})
        assert abs(right_in_chat(live) - now) <= 0.05 * 24


def found(pattern: str, shown: httpx.Response) -> re.Match[str]:
    match = re.search(pattern, shown.text)
    assert match is not None, shown.text
    return match


async def decided(live: Installation) -> Any:
    def skill() -> Any:
        return live.get("/students/clerk/skills")["data"][0]

    await until(lambda: skill()["status"] != "running", what="the gate's decision")
    return skill()


def right_in_chat(live: Installation) -> int:
    """Asks the questions of the sample, each without the instructions before it."""
    right = 0
    for row in live.get("/recipes/customer_support")["sample_curriculum"]["validation"]:
        reply = live.client().chat.completions.create(
            model="student:clerk", messages=row["messages"][1:], max_completion_tokens=128
        )
        right += row["fact"] in (reply.choices[0].message.content or "")
    return right
