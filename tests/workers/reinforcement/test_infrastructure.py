"""Validations of which most rollouts were lost: real runs whose grader is down for a while."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import get_args

import pytest
from typing_extensions import override

from app.jobs.jobs import Job, JobStatus
from app.kit.egress import EgressReply, EgressRequest
from app.kit.errors import PYTHON_ERROR, NotFound
from app.kit.ids import Split
from app.rollouts.rollouts import RolloutFilter
from app.rollouts.service import RolloutService
from app.rollouts.trajectory import Failure, FailureClass, ScoredRollout
from app.settings import shipped_models
from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.cases import cases
from tests.support.reinforcement.scored_rollouts import scored, tool_call
from tests.support.runs.real_run import QUIET, ROWS, RealRuns, Script, engine_of
from tests.support.runs.world import World
from workers.grading.job_grader import CAUSE_FLAGS
from workers.methods.reinforcement.dead_tools import dead_tool
from workers.methods.reinforcement.loop import CURES, too_many_lost

NOWHERE = "http://tool.test/nowhere"


@dataclass
class Lossy(Script):
    """Gives some held-out rollouts no usable score."""

    loses: Callable[[int, int], bool] = lambda _validation, _position: False
    """Decides by the number of the validation, 0 for the base model's, and of the rollout in it."""

    lost: set[str] = field(default_factory=set)
    """Trace ids; a loss is asked for again a few times."""

    @override
    def __call__(self, request: EgressRequest) -> EgressReply:
        body = json.loads(request.body)
        position = divmod(self.asked["valid"], ROWS)
        if body["trace_id"] not in self.lost:
            reply = super().__call__(request)
            if not (body["item"]["held_out"] and self.loses(*position)):
                return reply
            self.lost.add(body["trace_id"])
        return EgressReply(400, {}, b"{}", 0.0)


def test_the_most_frequent_failure_is_reported_from_the_limit_on() -> None:
    rollouts = [scored(("valid", 1, row, 0), None if row < 3 else 1.0) for row in range(4)]
    assert too_many_lost(rollouts, limit=0.76) is None
    reported = too_many_lost(rollouts, limit=0.75)
    assert reported is not None
    assert reported.reason.startswith(
        "75% of the step's rollouts were lost to failures of tools, environments or graders"
    )
    assert too_many_lost([], limit=0.75) is None


def test_every_flag_that_a_lost_rollout_keeps_has_its_cure_and_no_other_flag_has_one() -> None:
    """The parts of a stored grade have the names by which reports read them."""
    assert set(CURES) == set(CAUSE_FLAGS)


def test_failures_of_one_cause_count_together_whatever_values_their_messages_have() -> None:
    def lost_by(failure: Failure) -> ScoredRollout:
        return replace(scored(("valid", 1, 0, 0), None), failure=failure)

    scores = [
        lost_by(Failure(FailureClass.GRADER_BAD_SCORE, f"the score {n}e10 is beyond", "g"))
        for n in range(1, 9)
    ]
    replies = [lost_by(Failure(FailureClass.TOOL_ERROR, "answered 503", "search"))] * 2
    lost = too_many_lost([*replies, *scores], limit=0.5)
    assert lost is not None
    assert lost.code == "invalid_score"
    assert "mostly 'g', grader_bad_score: the score 1e10" in lost.reason


@cases(
    ("flag", "code", "cure"),
    [
        ("model_grader_parse_error", "judge_without_score", "Use a judge that keeps to the answer"),
        ("model_grader_refusal_error", "judge_without_score", "Change the judge's prompt"),
        (PYTHON_ERROR, PYTHON_ERROR, "Correct the grader's source"),
        ("python_grader_server_error", "sandbox_unavailable", "Ask the operator"),
        ("model_grader_server_error", "grader_model_unavailable", "Repair the server of the"),
        (None, "endpoint_unavailable", "Repair the endpoint"),
    ],
)
def test_a_judge_or_a_function_without_a_score_has_a_code_and_a_cure_of_its_own(
    flag: str | None, code: str, cure: str
) -> None:
    measures = {} if flag is None else {"j": {f"errors/{flag}": 1.0}}
    words = f"no number: 'ask ann@example.org {'x' * 300}'"
    failure = Failure(
        FailureClass.GRADER_BAD_REPLY, "no score", "m.j", "j", measures=measures, details=words
    )
    rollout = replace(scored(("valid", 1, 6, 0), None), failure=failure)
    lost = too_many_lost([rollout], limit=0.5)
    assert lost is not None
    assert lost.code == code
    assert lost.cure.startswith(cure)
    if flag is None:
        assert (lost.param, "example" in lost.reason) == (None, False)
        return
    assert lost.param == "method.reinforcement.grader.graders.j"
    assert f"({lost.param}) has the error '{flag}'; for example in row 7: no numb" in lost.reason
    assert "'ask [e-mail] xxx" in lost.reason
    assert lost.reason.endswith("x…")
    assert lost.reason.count("x") < 240


@cases(
    ("cause", "code", "cure"),
    [
        (FailureClass.GRADER_ITEM_MISSING, "invalid_grader_template", "Correct the grader's temp"),
        (FailureClass.GRADER_ITEM_UNREADABLE, "unreadable_row", "Correct the rows"),
        (FailureClass.GRADER_BAD_SCORE, "invalid_score", "Correct the grader, or the formula"),
        (FailureClass.GRADER_TIMEOUT, "endpoint_unavailable", "Repair the endpoint"),
    ],
)
def test_a_fault_without_an_endpoint_names_none(cause: FailureClass, code: str, cure: str) -> None:
    rollout = replace(scored(("valid", 1, 0, 0), None), failure=Failure(cause, "no", "g"))
    lost = too_many_lost([rollout], limit=0.5)
    assert lost is not None
    assert lost.code == code
    assert lost.cure.startswith(cure)


async def test_a_validation_that_was_mostly_lost_ranks_and_ends_nothing(runs: RealRuns) -> None:
    job = await runs.job(stop={**QUIET, "target": {"value": 0.9}}, hyperparameters={"n_epochs": 2})
    script = Lossy(
        valid=(0.1, 1.0, 0.6, 0.8, 0.7),
        loses=lambda validation, position: validation == 1 and position > 0,
    )
    ended = await runs.run(job, script)
    assert (ended.status, ended.step, ended.ended_early) == (JobStatus.SUCCEEDED, 4, None)
    rewards = {0: 0.1, 2: 0.6, 3: 0.8, 4: 0.7}
    assert await runs.curve(job, "reward/mean", "valid") == pytest.approx(rewards)
    lost = await runs.curve(job, "discarded/count", "valid")
    assert (lost[1], lost[2]) == (ROWS - 1, 0)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        first = (await unit.checkpoints.all(job.id))[0]
    assert (first.step, "full_valid_mean_reward" in first.metrics) == (1, False)
    assert (await runs.report(job))["step"] == 3, "the best that was measured"
    warned = await runs.warnings(job)
    assert warned.pop(0).startswith("Perhaps nothing can be learned.")
    assert [message.split(":")[0] for message in warned] == [
        "The validation of step 1 has no reward"
    ]
    assert "90% of the step's rollouts were lost" in warned[0]


async def test_a_trained_job_whose_validation_and_comparison_were_lost_has_no_report(
    runs: RealRuns,
) -> None:
    """After the only validation, which is number 1, the start is compared with the step."""
    job = await runs.job(stop=QUIET, hyperparameters={"eval_interval": 2})
    ended = await runs.run(job, Lossy(loses=lambda validation, _: validation in {1, 3}))
    assert (ended.status, ended.step, ended.error) == (JobStatus.SUCCEEDED, 2, None)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        tuned = await unit.models.get(str(ended.fine_tuned_model))
    assert tuned is not None
    assert tuned.step == 2
    said = await runs.warnings(job)
    assert said.pop(0).startswith("Perhaps nothing can be learned.")
    assert said[0].startswith("The validation of step 2 has no reward: 100% of")
    assert said[1:] == [
        "The job has no report of base against tuned: 100% of the rollouts of step 2 were lost."
    ]
    with pytest.raises(NotFound) as caught:
        await RolloutService(runs.world.app, runs.world.tenant).report(job.id)
    assert caught.value.code == "validation_lost"


@dataclass
class WrongAddress(Script):
    """Answers `lookup` at a wrong path."""

    @override
    def __call__(self, request: EgressRequest) -> EgressReply:
        if request.url == NOWHERE:
            return EgressReply(404, {}, b'{"detail":"Not Found"}', 0.0)
        return super().__call__(request)


async def test_a_tool_without_one_usable_answer_ends_the_job_after_the_baseline(
    world: World,
) -> None:
    (spec,) = shipped_models()
    rows = make_rows(build_catalogue(), "train", ROWS, seed=3)
    tools = [
        {"name": name, "server_url": url}
        for name, url in (("calculator", "http://tool.test/"), ("lookup", NOWHERE))
    ]
    with engine_of(spec) as engine:
        runs = RealRuns(world, engine, rows)
        job = await runs.job(tools=tools, max_episode_steps=4)
        ended = await runs.run(job, WrongAddress())
    assert (ended.status, ended.step, ended.trained_tokens) == (JobStatus.FAILED, 0, None)
    assert ended.error is not None
    assert ended.error.code == "endpoint_unavailable"
    assert ended.error.param == "method.reinforcement.tools[1].server_url"
    assert "every call of `lookup` was answered 404" in (ended.error.message or "")


@cases(
    ("calls", "dead"),
    [
        ([*[("a", "Error: 404 {}")] * 5, ("b", "Error: 404 {}"), ("b", "42")], "a"),
        ([("a", "Error: 404 no record P9")] * 4, None),
        ([("a", "no such record"), ("a", "no such record")] * 3, None),
        ([*[("a", "Error: 404 gone")] * 5, ("a", "42")], None),
    ],
)
def test_a_tool_with_words_or_with_one_usable_answer_is_alive(
    calls: list[tuple[str, str]], dead: str | None
) -> None:
    made = tuple(
        tool_call(name, output=output, error=None if output == "42" else "http_404")
        for name, output in calls
    )
    found = dead_tool([scored(("valid", 1, 0, 0), 0.0, calls=made)])
    assert (None if found is None else found.name) == dead


@dataclass
class Down(Script):
    """Grades no more than the first rollouts of one kind of rows."""

    held_out: bool = True
    graded: int = 0

    @override
    def __call__(self, request: EgressRequest) -> EgressReply:
        split = "valid" if self.held_out else "train"
        if (
            json.loads(request.body)["item"]["held_out"] is self.held_out
            and self.asked[split] >= self.graded
        ):
            return EgressReply(400, {}, b"{}", 0.0)
        return super().__call__(request)


@pytest.mark.parametrize(
    ("split", "step", "trained", "used"),
    [("valid", 0, 0, None), ("train", 2, 1, 3 * ROWS)],
)
async def test_the_rollouts_of_a_step_that_was_lost_can_be_looked_at(
    runs: RealRuns, split: Split, step: int, trained: int, used: int | None
) -> None:
    """A step has as many rollouts as a validation: two on each of five rows."""
    job = await runs.job(stop=QUIET)
    ended = await runs.run(job, Down(held_out=split == "valid", graded=trained * ROWS))
    assert (ended.status, ended.step) == (JobStatus.FAILED, trained)
    assert (None if ended.usage is None else ended.usage.rollouts) == used, "committed ones alone"
    assert ended.error is not None
    assert ended.error.code == "endpoint_unavailable"
    assert f"/v1/fine_tuning/jobs/{job.id}/rollouts?failed=true" in (ended.error.message or "")
    lost, more = await RolloutService(runs.world.app, runs.world.tenant).page(
        job.id, RolloutFilter(failed=True), after=None, limit=100, order_by="step", descending=False
    )
    assert ({(row.split, row.step) for row in lost}, len(lost), more) == (
        {(split, step)},
        10,
        False,
    )
    for row in lost:
        assert (row.reward, row.failure_class) == (None, "grader_error")
        assert (row.failure_message or "").startswith("g: ")
        assert row.trace["messages"][-1]["role"] == "assistant"
        assert "trained_step" not in row.trace
    assert (await runs.curve(job, "discarded/share", split))[step] == 1.0
    await _check_result_file(runs, ended, steps=step)


async def _check_result_file(runs: RealRuns, job: Job, *, steps: int) -> None:
    """Checks that the CSV has exactly the points of the curves, from step 1 to the lost one."""
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        written = await unit.metrics.curve(job.id, names=None, split=None, after_step=0)
    points = {(point.step, f"{point.split}/{point.name}"): point.value for point in written}
    assert {step for step, _ in points} == set(range(1, steps + 1))
    if not points:
        assert job.result_files == []
        return
    (file_id,) = job.result_files
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        key = (await unit.files.get(file_id)).object_key
    text = (runs.world.settings.objects_dir / key).read_text()
    assert {
        (int(row["step"]), column): float(value)
        for row in csv.DictReader(io.StringIO(text))
        for column, value in row.items()
        if column.partition("/")[0] in get_args(Split) and value
    } == points


@cases(
    ("cause", "dead"),
    [
        (FailureClass.TOOL_BAD_REPLY, "a"),
        (FailureClass.TOOL_UNREACHABLE, "a"),
        (FailureClass.TOOL_ERROR, None),
        (FailureClass.TOOL_TIMEOUT, None),
    ],
)
def test_a_tool_that_only_redirects_or_sends_pages_is_dead(
    cause: FailureClass, dead: str | None
) -> None:
    lost = replace(scored(("valid", 1, 0, 0), None), failure=Failure(cause, "no", "a"))
    found = dead_tool([lost])
    assert (None if found is None else found.name) == dead
