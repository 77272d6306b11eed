"""Jobs in which nothing can be learned: real runs that say so before their first step."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from typing_extensions import override

from app.jobs.jobs import Job, JobStatus
from app.kit.egress import EgressReply, EgressRequest
from tests.support.runs.real_run import ROWS, SPEC, RealRuns, Script, TinyEngine
from tests.support.runs.world import World
from workers.job_child import job_run
from workers.methods.reinforcement.learning_check import LearningCheck

QUIET: dict[str, Any] = {
    name: {"action": "off"}
    for name in ("plateau", "gap", "token_growth", "entropy_collapse", "zero_variance")
}
ONE_STEP = {"batch_size": 10, "compute_multiplier": 0.25}
CHECK = {
    "type": "string_check",
    "name": "s",
    "input": "{{sample.output_text}}",
    "reference": "no such text",
    "operation": "eq",
}
OF_JSON = {**CHECK, "input": "{{sample.output_json.answer}}"}
GUIDE = {
    "type": "multi",
    "graders": {"form": OF_JSON, "near": {**OF_JSON, "operation": "like"}},
    "calculate_output": "0.5 * form + 0.5 * near",
}
JUDGE = {
    "type": "score_model",
    "name": "judge",
    "model": SPEC.name,
    "input": [{"role": "user", "content": "How good is {{sample.output_text}}?"}],
}
LONG_ROWS = tuple(
    {"messages": [{"role": "user", "content": f"part P{n} " * 300}]} for n in range(ROWS)
)
GRADER = "method.reinforcement.grader"


@dataclass
class EveryOtherFails(Script):
    """A grader without an answer for every second training rollout, also when it is asked again."""

    numbers: dict[str, int] = field(default_factory=dict)

    @override
    def __call__(self, request: EgressRequest) -> EgressReply:
        body = json.loads(request.body)
        if not body["item"]["held_out"]:
            number = self.numbers.setdefault(body["trace_id"], len(self.numbers))
            if number % 2:
                return EgressReply(200, {}, b"<html>", 0.0)
        return super().__call__(request)


@pytest.fixture
def runs(world: World, engine: TinyEngine) -> RealRuns:
    """The model may also be a judge."""
    settings = world.settings.model_copy(update={"base_models": (engine.spec,)})
    return RealRuns(replace(world, settings=settings), engine)


async def _check_unpublished(runs: RealRuns, ended: Job) -> None:
    """Checks that the end is in the job and in an event of level error, and that no model is."""
    assert ended.error is not None
    assert (ended.status, ended.fine_tuned_model) == (JobStatus.FAILED, None)
    last = (await runs.events(ended))[-1]
    assert (last.level, last.message) == ("error", ended.error.message)
    assert last.data is not None
    assert last.data["error_code"] == ended.error.code
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        names = [model.name for model in await unit.models.all() if model.job_id == ended.id]
    assert [name for name in names if ":ckpt-step-" not in name] == []


@pytest.mark.parametrize(
    ("grader", "rows", "code", "param", "said"),
    [
        (
            {**CHECK, "reference": "{{item.zzz}}"},
            None,
            "invalid_variable_error",
            f"{GRADER}.reference",
            ("'{{item.zzz}}': no row of the training file has it. The rows have held_out, ",),
        ),
        (
            CHECK,
            LONG_ROWS,
            "nothing_to_learn",
            "validation_file",
            (
                "10 of 10 validation rollouts had no token left to answer",
                "fill the model's context of 256 tokens",
                "Shorten the rows' messages",
            ),
        ),
        (
            GUIDE,
            None,
            "nothing_to_learn",
            f"{GRADER}.graders.form",
            (
                (
                    "10 of 10 validation rewards of the base model carry the error "
                    f"'invalid_variable_error' of the grader 'form' ({GRADER}.graders.form): "
                    "'sample.output_json.answer' is not there; for example in row 1, where the "
                    "model wrote "
                ),
                "or ask for the format that it reads in the prompt",
                '{"action": "warn"}',
            ),
        ),
        (
            JUDGE,
            None,
            "judge_without_score",
            GRADER,
            (
                # The judge has random weights: its text may also end in a `<think>`.
                "rollouts were lost to failures of tools, environments or graders (mostly ",
                "'judge', grader_bad_reply: the judge's answer ",
                f"The grader ({GRADER}) has the error 'model_grader_parse_error'; for example in ",
                ": the judge's answer ",
                "Use a judge that keeps to the answer format",
            ),
        ),
        (
            {**CHECK, "operation": "ne"},
            None,
            "nothing_to_learn",
            GRADER,
            ("All 10 validation rollouts of the base model earned 1, the highest score",),
        ),
    ],
    ids=["missing key", "long prompts", "no JSON", "judge", "always right"],
)
async def test_a_job_that_can_learn_nothing_ends_before_its_first_step(
    runs: RealRuns,
    grader: dict[str, Any],
    rows: Any,
    code: str,
    param: str | None,
    said: tuple[str, ...],
) -> None:
    runs = runs if rows is None else replace(runs, rows=rows)
    job = await runs.job(grader=grader, hyperparameters=ONE_STEP)
    ended = await runs.run(job)
    assert ended.error is not None
    assert (ended.error.code, ended.error.param, ended.step) == (code, param, 0)
    for part in said:
        assert part in str(ended.error.message)
    assert await runs.rollouts(job, "train") == []
    await _check_unpublished(runs, ended)


async def test_a_claim_after_a_kill_finds_the_same(
    runs: RealRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first claim crashes between the commit of the baseline and the end that it asks for."""
    job = await runs.job(grader=GUIDE, hyperparameters=ONE_STEP)

    class Killed(BaseException):
        pass

    async def die(_: LearningCheck) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(LearningCheck, "after_baseline", die)
        async with runs.context(job, Script()) as context:
            with pytest.raises(Killed):
                await job_run(context).run()
    assert (await runs.world.read(job)).status is JobStatus.RUNNING
    ended = await runs.run(job)
    assert ended.error is not None
    assert (ended.status, ended.error.code) == (JobStatus.FAILED, "nothing_to_learn")
    rows = await runs.rollouts(job, "valid", 0)
    assert len(rows) == ROWS
    assert {row.trace["grader_errors"]["form"] for row in rows} == {
        "'sample.output_json.answer' is not there"
    }
    errors = await runs.curve(job, "grader/form/errors/invalid_variable_error", "valid")
    assert errors == {0: 10.0}


async def test_few_equal_rewards_are_a_warning_and_nothing_trained_is_a_failure(
    runs: RealRuns,
) -> None:
    job = await runs.job(stop=QUIET)
    ended = await runs.run(job, Script(valid=(0.0,), train=lambda _: 0.0))
    (warned,) = await runs.warnings(job)
    assert warned.startswith(
        "Perhaps nothing can be learned. All 10 validation rollouts of the base model earned 0: at "
        "most 25.9% of the rollouts can be expected to earn another reward (with 95% confidence)"
    )
    assert ended.error is not None
    assert (ended.error.code, ended.step) == ("nothing_to_learn", 2)
    assert str(ended.error.message).startswith(
        "Nothing was learned, so no model is published: no group had rollouts of different reward."
    )
    assert ended.usage is not None
    assert ended.usage.trained_tokens == 0
    await _check_unpublished(runs, ended)


async def test_rollouts_that_were_lost_are_named_before_the_cure(runs: RealRuns) -> None:
    """A fault of the customer's server, beside which the rows may be as good as any."""
    stop = {**QUIET, "grader_errors": {"share": 0.5, "steps": 1}}
    job = await runs.job(stop=stop, nothing_to_learn={"untrained_groups": 5})
    ended = await runs.run(job, EveryOtherFails(valid=(0.0,), train=lambda _: 0.0))
    (collapsed,) = [one for one in await runs.events(job) if (one.data or {}).get("stop_rule")]
    assert (collapsed.level, collapsed.data and collapsed.data["step"]) == ("warn", 1)
    assert "flagged an error in 50% of the rollouts" in collapsed.message
    lost = await runs.rollouts(job, "train", 1)
    assert {row.failure_class for row in lost} == {None, "grader_bad_reply"}
    assert ended.error is not None
    assert ended.error.code == "nothing_to_learn"
    assert (
        "50% of the training rollouts were lost to failures (mostly grader_bad_reply: g: answered "
        "200 without a finite number `score`: the body is not JSON (no Content-Type): <html>), "
        "which have to be corrected first. Among the others no group had rollouts of different "
        "reward."
    ) in str(ended.error.message)


@pytest.mark.parametrize(
    ("options", "step", "said"),
    [
        ({"equal_rewards": 10}, 0, "All 10 validation rollouts of the base model earned 0: "),
        ({"untrained_groups": 5}, 1, "The first 5 groups trained nothing: no group had"),
        ({"action": "off", "untrained_groups": 1}, 2, "Nothing was learned, so no model is"),
    ],
)
async def test_the_limits_are_the_jobs_own(
    runs: RealRuns, options: dict[str, Any], step: int, said: str
) -> None:
    job = await runs.job(stop=QUIET, nothing_to_learn=options)
    ended = await runs.run(job, Script(valid=(0.0,), train=lambda _: 0.0))
    assert ended.error is not None
    assert (ended.error.code, ended.step) == ("nothing_to_learn", step)
    assert str(ended.error.message).startswith(said)
    warned = len(await runs.warnings(job))
    assert warned == (options.get("action") != "off" and step != 0)


async def test_a_rule_that_stops_an_untrained_job_makes_no_success_of_it(runs: RealRuns) -> None:
    job = await runs.job(
        stop={**QUIET, "zero_variance": {"action": "stop", "steps": 1}},
        hyperparameters={"n_epochs": 3},
    )
    ended = await runs.run(job, Script(valid=(0.0, 0.1), train=lambda _: 0.0))
    assert ended.error is not None
    assert (ended.error.code, ended.step) == ("nothing_to_learn", 1)
    await _check_unpublished(runs, ended)


async def test_the_objective_of_a_step_has_curves(runs: RealRuns) -> None:
    job = await runs.job(stop=QUIET, objective={"token_penalty": 0.5, "token_budget": 16})
    await runs.run(job)
    rewards = await runs.curve(job, "reward/mean")
    taken = await runs.curve(job, "objective/token_penalty_mean")
    tokens = await runs.curve(job, "tokens/completion_mean")
    assert taken == pytest.approx({step: 0.5 * tokens[step] / 16 for step in (1, 2)})
    assert await runs.curve(job, "objective/mean") == pytest.approx(
        {step: rewards[step] - taken[step] for step in (1, 2)}
    )
    assert await runs.curve(job, "objective/call_budget_penalty_mean") == {1: 0.0, 2: 0.0}
