"""A `multi` grader with judges of groups among its children, asked over real sockets."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from app.graders.calibration import kendall
from app.graders.definitions import read_grader
from app.graders.judge_calls import EngineModel, EngineModels, RoutedJudges
from app.graders.scorer import GradingPorts
from app.kit.endpoints import CallSigner
from app.kit.ids import GroupKey
from app.kit.objects import LocalObjects
from app.models.engine import AdapterCache
from app.models.engine_http import HttpInference
from app.rollouts.trajectory import (
    Failure,
    FailureClass,
    Grade,
    GradeOrFailure,
    TokenRow,
    Trajectory,
    Turn,
)
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, Script, endpoint
from tests.support.grading.judges import CODED, judged_reply
from tests.support.rollout.rollouts import SECRET_KEY, egress_to, pool, row
from tests.support.sandbox.in_memory import InMemorySandbox
from workers.grading.job_grader import GroupScorer, build_group_scorer
from workers.journal import InMemoryJournal

GROUP = GroupKey("ftjob-1", "train", 2, 5, 1)
USAGE = {"prompt_tokens": 100, "completion_tokens": 7}
SHORT = {"type": "length_bounds", "unit": "characters", "max": 1000}


def played(qualities: list[int]) -> list[Trajectory]:
    question = {"role": "user", "content": "Which town is on the Danube?"}
    return [
        Trajectory(
            key,
            [TokenRow([5], [1], [-0.5])],
            [Turn((5,), (-0.5,), 1, f"quality={quality}", 0, "stop")],
            [question, {"role": "assistant", "content": f"quality={quality}"}],
        )
        for key, quality in zip(GROUP.samples(len(qualities)), qualities, strict=True)
    ]


def shown(received: ReceivedRequest) -> list[tuple[str, int]]:
    text = received.json["messages"][1]["content"]
    found = re.findall(r'<rollout id="(\d+)">.*?quality=(\d+)', text, re.DOTALL)
    return [(name, int(quality)) for name, quality in found]


def reply(received: ReceivedRequest, scores: dict[str, float]) -> Reply:
    reasons = "".join(f"{name}: {name}\n" for name in scores)
    return judged_reply(received, reasons + json.dumps({CODED: scores}), usage=USAGE)


def service(received: ReceivedRequest) -> Reply:
    """Judges by quality (`contrary`: against it), and grades single rollouts at `/grade`."""
    if received.path == "/grade":
        quality = int(received.json["sample"]["output_text"].removeprefix("quality="))
        return Reply(503) if quality == 13 else Reply(json={"score": quality % 2})
    if received.json["model"] == "unavailable":
        return Reply(503)
    sign = -1 if received.json["model"] == "contrary" else 1
    qualities = shown(received)
    scores = {name: 0.5 + sign * (quality - 50) / 100 for name, quality in qualities}
    return reply(received, scores)


@asynccontextmanager
async def scoring(
    directory: Path, graders: dict[str, Any], formula: str, script: Script = service
) -> AsyncIterator[tuple[GroupScorer, EndpointServer]]:
    async with endpoint(script) as server:
        egress, inference = egress_to(server), HttpInference("http://127.0.0.1:9")

        async def find(_: str) -> EngineModel | None:
            return None

        endpoints, signer = pool(egress), CallSigner(SECRET_KEY, project_id="proj_a")
        judges = RoutedJudges(
            EngineModels(
                inference, AdapterCache(LocalObjects(directory), directory, max_bytes=1), find
            ),
            configured=(),
            configured_endpoints=endpoints,
            endpoints=endpoints,
            signer=signer,
        )
        addressed = {name: _addressed(grader, server) for name, grader in graders.items()}
        sent = {"type": "multi", "name": "m", "graders": addressed, "calculate_output": formula}
        ports = GradingPorts(endpoints, signer, judges, InMemorySandbox())
        yield build_group_scorer(read_grader(sent), ports), server
        await egress.aclose()
        await inference.aclose()


def _addressed(grader: dict[str, Any], server: EndpointServer) -> dict[str, Any]:
    match grader["type"]:
        case "ai_judge":
            return {**grader, "base_url": server.url("/v1")}
        case "endpoint":
            return {**grader, "url": server.url("/grade")}
        case _:
            return grader


def judge(model: str = "fair", **more: Any) -> dict[str, Any]:
    return {"type": "ai_judge", "model": model, **more}


async def verdicts(
    scorer: GroupScorer, qualities: list[int], journal: InMemoryJournal | None = None
) -> list[GradeOrFailure]:
    group, kept = played(qualities), journal or InMemoryJournal()
    assert await scorer.score_early(group[0], row(), journal=kept) is None
    return await scorer.score(group, row(), journal=kept)


def grades(found: list[GradeOrFailure]) -> list[Grade]:
    return [verdict for verdict in found if isinstance(verdict, Grade)]


async def test_the_judge_sees_the_group_once_and_the_others_each_rollout(tmp_path: Path) -> None:
    graders = {"ranks": judge(), "odd": {"type": "endpoint", "url": "-"}, "short": SHORT}
    async with scoring(tmp_path, graders, "0.5 * ranks + 0.3 * odd + 0.2 * short") as (
        scorer,
        server,
    ):
        journal = InMemoryJournal()
        found = grades(await verdicts(scorer, [20, 81, 51], journal))
        assert grades(await verdicts(scorer, [20, 81, 51], journal)) == found
    assert [grade.score for grade in found] == pytest.approx([0.3, 0.905, 0.755])
    assert found[1].components == pytest.approx(
        {"ranks": 0.81, "odd": 1.0, "short": 1.0, "short.length": 10.0}
    )
    asked = [received.path for received in server.received]
    assert asked.count("/v1/chat/completions") == 1, "one question, and none after a resume"
    assert asked.count("/grade") == 3
    calls = {received.headers["webhook-id"] for received in server.received}
    assert len(calls) == 4, "each call has an id of its own"
    tokens = [grade.measures["ranks"] for grade in found]
    assert sum(measured["prompt_tokens"] for measured in tokens) == 100
    assert sum(measured["completion_tokens"] for measured in tokens) == 7
    assert all("prompt_tokens" not in grade.measures[""] for grade in found)


async def test_planted_groups_keep_their_order_whatever_the_order_of_rollouts(
    tmp_path: Path,
) -> None:
    random, taus = Random(7), []

    def noisy(received: ReceivedRequest) -> Reply:
        rollouts = shown(received)
        return reply(
            received, {name: quality / 100 + random.gauss(0, 0.02) for name, quality in rollouts}
        )

    graders = {"ranks": judge(), "short": SHORT}
    async with scoring(tmp_path, graders, "ranks * short", noisy) as (scorer, _):
        for _number in range(20):
            qualities = random.sample(range(5, 96, 6), 8)
            found = grades(await verdicts(scorer, qualities))
            taus.append(kendall(qualities, [grade.score for grade in found]) or 0.0)
    assert sum(taus) / len(taus) >= 0.9
    qualities, prompts = [10, 30, 50, 70, 90], set[str]()
    for seed in range(5):
        order = Random(seed).sample(qualities, len(qualities))
        async with scoring(tmp_path, graders, "ranks * short") as (scorer, server):
            found = grades(await verdicts(scorer, order))
        scores = dict(zip(order, (grade.score for grade in found), strict=True))
        assert scores == pytest.approx({quality: quality / 100 for quality in qualities})
        prompts.add(json.dumps(server.received[0].json["messages"]))
    assert len(prompts) == 1


async def test_several_judges_report_their_agreement(tmp_path: Path) -> None:
    for other, tau in (("fair", 1.0), ("contrary", -1.0)):
        graders = {"one": judge(), "two": judge(other)}
        async with scoring(tmp_path, graders, "(one + two) / 2") as (scorer, server):
            found = grades(await verdicts(scorer, [20, 80, 50]))
        assert {grade.components["agreement"] for grade in found} == {tau}
        assert len(server.received) == 2
        mean = [0.2, 0.8, 0.5] if other == "fair" else [0.5, 0.5, 0.5]
        assert [grade.score for grade in found] == pytest.approx(mean)


async def test_a_child_that_fails_costs_its_own_rollout(tmp_path: Path) -> None:
    graders = {"ranks": judge(), "odd": {"type": "endpoint", "url": "-"}}
    async with scoring(tmp_path, graders, "ranks + odd") as (scorer, _):
        left, lost, right = await verdicts(scorer, [20, 13, 80])
    assert [grade.score for grade in grades([left, right])] == pytest.approx([0.2, 0.8])
    assert isinstance(lost, Failure)
    assert (lost.failure_class, lost.source) == (FailureClass.GRADER_ERROR, "m.odd")
    used = [verdict.measures["ranks"]["prompt_tokens"] for verdict in (left, lost, right)]
    assert sum(used) == 100, "the share of the lost rollout was used as well"


async def test_a_judge_that_is_unavailable_costs_the_group_and_counts_what_the_other_used(
    tmp_path: Path,
) -> None:
    graders = {"one": judge(), "two": judge("unavailable")}
    async with scoring(tmp_path, graders, "one + two") as (scorer, server):
        found = await verdicts(scorer, [20, 80])
        assert {received.json["model"] for received in server.received} == {"fair", "unavailable"}
    failures = [verdict for verdict in found if isinstance(verdict, Failure)]
    assert [failure.child for failure in failures] == ["two", "two"]
    assert [failure.measures["one"]["prompt_tokens"] for failure in failures] == [50.0, 50.0]


async def test_a_judge_that_the_formula_does_not_name_is_not_called(tmp_path: Path) -> None:
    graders = {
        "unavailable": judge("unavailable"),
        "odd": {"type": "endpoint", "url": "-"},
        "ranks": judge(),
    }
    async with scoring(tmp_path, graders, "ranks") as (scorer, server):
        found = grades(await verdicts(scorer, [20, 81]))
    assert [grade.components for grade in found] == [{"ranks": 0.2}, {"ranks": 0.81}]
    assert [received.json["model"] for received in server.received] == ["fair"]
    async with scoring(tmp_path, graders, "odd") as (scorer, server):
        journal = InMemoryJournal()
        alone = [await scorer.score_early(one, row(), journal=journal) for one in played([20, 81])]
    assert [grade.score for grade in alone if isinstance(grade, Grade)] == [0.0, 1.0]
    assert {received.path for received in server.received} == {"/grade"}
