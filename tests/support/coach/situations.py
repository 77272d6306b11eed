"""Situations of a session, by value: its phase and progress, and the evidence of a step."""

from typing import Any

from app.jobs.intervals import Gain
from app.jobs.jobs import Usage
from app.teaching.coach.evidence import Evidence, SkillEvidence
from app.teaching.coach.sessions import (
    CoachChild,
    CoachGain,
    CoachMeasurement,
    CoachOptions,
    CoachSession,
    Phase,
    SessionProgress,
)
from app.teaching.coach.statistics import Attempt, Measurement
from app.teaching.coach.weaknesses import Slice
from app.teaching.students.students import SkillStatus

JOB, SKILL = CoachChild("job", "ftjob-1"), CoachChild("skill", "skill_1")
ROWS = 12
SLICES = (Slice("tag", "refunds", tuple(range(ROWS))),)
WORTH = CoachGain("tag", "refunds", ROWS, 1.0, 0.4, 0.6, 6, 0.3)


def attempts(*rewards: float, rows: int = ROWS) -> Measurement:
    return Measurement(
        tuple(
            Attempt(f"rollout_{row}_{number}", row, reward, "final_answer")
            for row in range(rows)
            for number, reward in enumerate(rewards)
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
        fresh_source=CoachMeasurement("ftjob-1", "valid", 0),
        slices=SLICES,
        **more,
    )


GAINED = Gain(0.3, (0.2, 0.4), ROWS)
