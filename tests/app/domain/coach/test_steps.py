"""The decisions of a session, as tables: phase and evidence in, action out."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.jobs.intervals import Gain
from app.jobs.jobs import Caps
from app.kit.errors import WrongState
from app.teaching.coach.evidence import Evidence
from app.teaching.coach.sessions import (
    TRANSITIONS,
    Budget,
    CoachOptions,
    CoachSession,
    CoachStatus,
    Phase,
    Spent,
)
from app.teaching.coach.statistics import Measurement
from app.teaching.coach.steps import (
    Continue,
    EndSession,
    Pause,
    Promote,
    Propose,
    RunMeasurement,
    Train,
    Wait,
    next_step,
)
from app.teaching.students.students import SkillStatus
from tests.support.cases import cases
from tests.support.coach.situations import (
    GAINED,
    JOB,
    ROWS,
    SKILL,
    SLICES,
    WORTH,
    attempts,
    fresh,
    session,
    skill,
)

LITTLE = replace(WORTH, gain=0.001)
WANTS = CoachOptions(target=0.9)
PROMPTS = CoachOptions(prompts=("Be kind.", "Be brief."))
ASKS = CoachOptions(promote="ask")
ONE_JOB = CoachOptions(budget=Budget(jobs=1))
LOST = Gain(-0.1, (-0.2, -0.01), ROWS)


@cases(
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


def test_a_job_gets_what_is_left_of_the_budget() -> None:
    options = CoachOptions(budget=Budget(rollouts=1000, seconds=60.0))
    spent = Spent(jobs=1, rollouts=400, seconds=45.0)
    before = session(Phase.CHOOSING, gains=(WORTH,), options=options, spent=spent)
    action = next_step(before, Evidence()).action
    assert isinstance(action, Train)
    assert action.caps == Caps(max_training_time_s=15.0, max_rollouts=600)


def _moves(status: CoachStatus) -> Sequence[CoachStatus]:
    return sorted(TRANSITIONS[status])


@cases("status", CoachStatus)
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
