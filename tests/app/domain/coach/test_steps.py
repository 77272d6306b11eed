"""The decisions of a session, as tables: phase and evidence in, action out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.domain.coach.actions import (
    Continue,
    EndSession,
    Pause,
    Promote,
    Propose,
    RunMeasurement,
    Train,
    Wait,
)
from app.domain.coach.evidence import Evidence, SkillEvidence
from app.domain.coach.practice import SliceGain
from app.domain.coach.samples import Attempt, Measurement
from app.domain.coach.sessions import (
    TRANSITIONS,
    AwaitedObject,
    Budget,
    CoachOptions,
    CoachSession,
    CoachStatus,
    MeasuredRollouts,
    Phase,
    SessionProgress,
    Spent,
    TriedPrompt,
)
from app.domain.coach.steps import next_step
from app.domain.coach.weaknesses import Slice
from app.domain.errors import WrongState
from app.domain.jobs.curves.gains import Gain
from app.domain.jobs.usage import Caps, Usage
from app.domain.students.students import SkillStatus

JOB, SKILL = AwaitedObject("job", "ftjob-1"), AwaitedObject("skill", "skill_1")
ROWS = 12
SLICES = (Slice("tag", "refunds", tuple(range(ROWS))),)
WORTH = SliceGain("tag", "refunds", ROWS, 1.0, 0.4, 0.6, 6, 0.3)
LITTLE = replace(WORTH, gain=0.001)


def attempts(*rewards: float, rows: int = ROWS) -> Measurement:
    return Measurement(
        tuple(
            Attempt(f"rollout_{row}_{place}", row, reward, "final_answer")
            for row in range(rows)
            for place, reward in enumerate(rewards)
        )
    )


def session(phase: Phase, *, options: CoachOptions | None = None, **progress: Any) -> CoachSession:
    return CoachSession(
        id="coach_1",
        student="clerk",
        training_file="file-a",
        validation_file="file-b",
        method={},
        options=options or CoachOptions(),
        progress=SessionProgress(phase=phase, **progress),
    )


def skill(status: SkillStatus, *, lost: bool = False, current: bool = False) -> SkillEvidence:
    return SkillEvidence("skill_1", status, "Because.", lost, current)


def fresh(*rewards: float, **more: Any) -> Evidence:
    return Evidence(
        child="done",
        usage=Usage(rollouts=48, prompt_tokens=5, completion_tokens=7, training_time_s=2.0),
        fresh=attempts(*rewards),
        fresh_source=MeasuredRollouts("ftjob-1", "valid", 0),
        slices=SLICES,
        **more,
    )


WANTS = CoachOptions(target=0.9)
PROMPTS = CoachOptions(prompts=("Be kind.", "Be brief."))
ASKS = CoachOptions(promote="ask")
ONE_JOB = CoachOptions(budget=Budget(jobs=1))
GAINED = Gain(0.3, (0.2, 0.4), ROWS)
LOST = Gain(-0.1, (-0.2, -0.01), ROWS)


@pytest.mark.parametrize(
    ("before", "evidence", "action"),
    [
        (session(Phase.MEASURING), Evidence(), RunMeasurement(None)),
        (session(Phase.MEASURING, child=JOB), Evidence(child="running"), Wait()),
        (session(Phase.MEASURING, child=JOB), fresh(0.0, 1.0), Continue()),
        (
            session(Phase.MEASURING, child=JOB),
            fresh(1.0, 1.0),
            EndSession(CoachStatus.COMPLETED, "nothing_to_gain"),
        ),
        (
            session(Phase.MEASURING, child=JOB),
            fresh(0.0, 0.0),
            EndSession(CoachStatus.COMPLETED, "nothing_to_gain"),
        ),
        (
            session(Phase.MEASURING, child=JOB, options=WANTS),
            fresh(1.0, 0.9),
            EndSession(CoachStatus.COMPLETED, "target"),
        ),
        (
            session(Phase.MEASURING, child=JOB),
            Evidence(child="done", fresh=Measurement(())),
            EndSession(CoachStatus.FAILED, None),
        ),
        (
            session(Phase.MEASURING, child=JOB),
            Evidence(child="failed", error="No tool."),
            EndSession(CoachStatus.FAILED, None),
        ),
        (
            session(Phase.TRAINING, child=JOB),
            Evidence(child="cancelled"),
            EndSession(CoachStatus.CANCELLED, None),
        ),
        (session(Phase.PROMPTING, options=PROMPTS), Evidence(), RunMeasurement("Be kind.")),
        (
            session(Phase.PROMPTING, options=PROMPTS, child=JOB),
            fresh(0.0, 1.0, now=attempts(0.0, 1.0)),
            RunMeasurement("Be brief."),
        ),
        (
            session(Phase.PROMPTING, options=PROMPTS, child=JOB),
            fresh(1.0, 1.0, now=attempts(0.0, 1.0)),
            EndSession(CoachStatus.COMPLETED, "prompt_enough"),
        ),
        (session(Phase.CHOOSING, gains=(WORTH,)), Evidence(), Train(("tag:refunds",), Caps())),
        (
            session(Phase.CHOOSING, gains=(LITTLE,)),
            Evidence(),
            EndSession(CoachStatus.COMPLETED, "mastered"),
        ),
        (
            session(Phase.CHOOSING, gains=(WORTH,), mean=0.95, options=WANTS),
            Evidence(),
            EndSession(CoachStatus.COMPLETED, "target"),
        ),
        (
            session(Phase.CHOOSING, gains=(WORTH,), flat_rounds=2),
            Evidence(),
            EndSession(CoachStatus.COMPLETED, "plateau"),
        ),
        (
            session(Phase.CHOOSING, gains=(WORTH,), spent=Spent(jobs=1), options=ONE_JOB),
            Evidence(),
            EndSession(CoachStatus.COMPLETED, "budget"),
        ),
        (
            session(Phase.TRAINING, child=JOB, job_id="ftjob-1"),
            Evidence(child="done", gain=GAINED),
            Propose("ftjob-1"),
        ),
        (
            session(Phase.TRAINING, child=JOB, job_id="ftjob-1"),
            Evidence(child="done", gain=LOST),
            Continue(),
        ),
        (
            session(Phase.TRAINING, child=JOB, job_id="ftjob-1"),
            Evidence(child="done", gain=GAINED, gap=True),
            EndSession(CoachStatus.COMPLETED, "reward_hack"),
        ),
        (
            session(Phase.TRAINING, child=JOB),
            Evidence(child="capped"),
            EndSession(CoachStatus.COMPLETED, "budget"),
        ),
        (
            session(Phase.TRAINING, child=JOB),
            Evidence(child="failed", nothing_learned=True),
            Continue(),
        ),
        (session(Phase.GATING, child=SKILL), Evidence(skill=skill(SkillStatus.RUNNING)), Wait()),
        (
            session(Phase.GATING, child=SKILL),
            Evidence(skill=skill(SkillStatus.PASSED)),
            Promote("skill_1"),
        ),
        (
            session(Phase.GATING, child=SKILL, options=ASKS),
            Evidence(skill=skill(SkillStatus.PASSED)),
            Pause(),
        ),
        (
            session(Phase.GATING, child=SKILL, options=ASKS, asked=True),
            Evidence(skill=skill(SkillStatus.PASSED)),
            EndSession(CoachStatus.COMPLETED, "not_promoted"),
        ),
        (
            session(Phase.GATING, child=SKILL, options=ASKS, asked=True),
            Evidence(skill=skill(SkillStatus.PASSED, current=True), gain=GAINED),
            Continue(),
        ),
        (
            session(Phase.GATING, child=SKILL),
            Evidence(skill=skill(SkillStatus.HELD, lost=True), has_regression_sets=True),
            EndSession(CoachStatus.COMPLETED, "regression"),
        ),
        (
            session(Phase.GATING, child=SKILL),
            Evidence(skill=skill(SkillStatus.HELD)),
            EndSession(CoachStatus.COMPLETED, "held"),
        ),
        (
            session(Phase.GATING, child=SKILL),
            Evidence(skill=skill(SkillStatus.HELD), has_regression_sets=True),
            Continue(),
        ),
        (session(Phase.GATING, child=SKILL), Evidence(), EndSession(CoachStatus.FAILED, None)),
    ],
)
def test_each_situation_has_its_action(
    before: CoachSession, evidence: Evidence, action: object
) -> None:
    assert next_step(before, evidence).action == action


def test_a_finished_job_is_counted_once_and_forgotten() -> None:
    step = next_step(session(Phase.MEASURING, child=JOB, spent=Spent(jobs=1)), fresh(0.0, 1.0))
    assert step.progress.child is None
    assert step.progress.spent == Spent(jobs=1, rollouts=48, tokens=12, seconds=2.0)
    assert (step.progress.mean, step.progress.first_mean) == (0.5, 0.5)
    waits = next_step(session(Phase.MEASURING, child=JOB), Evidence(child="running"))
    assert (waits.progress.child, waits.entries) == (JOB, ())


def test_a_flat_round_halves_what_it_practised() -> None:
    before = session(
        Phase.TRAINING, child=JOB, job_id="ftjob-1", practised=("tag:refunds",), gains=(WORTH,)
    )
    flat = next_step(before, Evidence(child="done", gain=LOST)).progress
    assert (flat.flat_rounds, dict(flat.unhelped)) == (1, {"tag:refunds": 1})
    look = Evidence(now=attempts(0.0, 1.0), slices=SLICES)
    chosen = next_step(replace(before, progress=flat), look)
    assert isinstance(chosen.action, Train)
    [again] = chosen.progress.gains
    untouched = next_step(session(Phase.MEASURING, child=JOB), fresh(0.0, 1.0)).progress.gains[0]
    assert again.gain == untouched.gain / 2


def noisy(*rises: float) -> Measurement:
    """Returns one attempt at each row with a score of 0.5 and its rise."""
    rows = enumerate(rises)
    return Measurement(tuple(Attempt(f"r{row}", row, 0.5 + rise) for row, rise in rows))


BEFORE = noisy(*[0.0] * ROWS)
A_LITTLE = noisy(*[0.3, -0.2, 0.1] * 4)
"""Rises by 0.07, with an interval that contains 0."""
PROMISING = noisy(*[0.4, -0.05, 0.1] * 4)
"""Rises by 0.15: clear at the first look alone."""
ENOUGH = noisy(*[0.3, 0.1, 0.2] * 4)


@pytest.mark.parametrize(
    ("after", "round", "flat"),
    [(A_LITTLE, 1, 2), (PROMISING, 1, 0), (PROMISING, 2, 2), (ENOUGH, 3, 0)],
)
def test_a_round_helps_if_its_gain_is_clear_for_all_rounds_so_far(
    after: Measurement, round: int, flat: int
) -> None:
    sources = [MeasuredRollouts(f"ftjob-{n}", "report", 5) for n in range(2)]
    before = session(
        Phase.GATING, child=SKILL, round=round, flat_rounds=1, measured=sources[0], gains=(WORTH,)
    )
    evidence = Evidence(
        skill=skill(SkillStatus.PASSED, current=True),
        gain=GAINED,
        since=BEFORE,
        fresh=after,
        fresh_source=sources[1],
        slices=SLICES,
    )
    progress = next_step(before, evidence).progress
    assert (progress.flat_rounds, progress.measured) == (flat, sources[1])
    assert progress.since == sources[0 if flat else 1]


@pytest.mark.parametrize(
    ("tried", "outcome"), [((), "prompt_enough"), ((TriedPrompt("No.", 0.5, 0.0, None),), None)]
)
def test_a_prompt_is_enough_if_its_gain_is_clear_for_all_prompts_so_far(
    tried: tuple[TriedPrompt, ...], outcome: str | None
) -> None:
    options = CoachOptions(prompts=("Be kind.", "Be brief."), target=0.6)
    before = session(Phase.PROMPTING, child=JOB, options=options, tried=tried)
    evidence = replace(fresh(0.0), now=BEFORE, fresh=PROMISING)
    action = next_step(before, evidence).action
    assert action == (EndSession(CoachStatus.COMPLETED, "prompt_enough") if outcome else Continue())


def test_a_job_gets_what_is_left_of_the_budget() -> None:
    options = CoachOptions(budget=Budget(rollouts=1000, seconds=60.0))
    spent = Spent(jobs=1, rollouts=400, seconds=45.0)
    before = session(Phase.CHOOSING, gains=(WORTH,), options=options, spent=spent)
    action = next_step(before, Evidence()).action
    assert isinstance(action, Train)
    assert action.caps == Caps(max_training_time_s=15.0, max_rollouts=600)


def test_each_end_is_an_entry_with_its_reason() -> None:
    before = session(Phase.TRAINING, child=JOB, job_id="ftjob-1")
    hacked = Evidence(child="done", gain=GAINED, gap=True, error="The gap is 0.4.")
    step = next_step(before, hacked)
    assert [entry.kind for entry in step.entries] == ["trained", "ended"]
    assert "exploits the grader" in step.entries[-1].text
    assert step.entries[-1].text.endswith("The gap is 0.4.")


def _moves(status: CoachStatus) -> Sequence[CoachStatus]:
    return sorted(TRANSITIONS[status])


@pytest.mark.parametrize("status", CoachStatus)
def test_a_session_moves_by_the_table_alone(status: CoachStatus) -> None:
    ended = {CoachStatus.COMPLETED, CoachStatus.FAILED, CoachStatus.CANCELLED}
    assert bool(_moves(status)) is (status not in ended)
    at = replace(session(Phase.CHOOSING), status=status)
    for to in CoachStatus:
        if to in _moves(status):
            at.check_move(to)
        else:
            with pytest.raises(WrongState):
                at.check_move(to)
