"""Gains of prompts and of rounds are distinguished from chance, however often a session looks."""

from dataclasses import replace

from app.teaching.coach.evidence import Evidence
from app.teaching.coach.sessions import (
    CoachMeasurement,
    CoachOptions,
    CoachPrompt,
    CoachStatus,
    Phase,
)
from app.teaching.coach.statistics import Attempt, Measurement
from app.teaching.coach.steps import Continue, EndSession, next_step
from app.teaching.students.students import SkillStatus
from tests.support.cases import cases
from tests.support.coach.situations import (
    GAINED,
    JOB,
    ROWS,
    SKILL,
    SLICES,
    WORTH,
    fresh,
    session,
    skill,
)


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


@cases(
    ("after", "number", "flat"),
    [(A_LITTLE, 1, 2), (PROMISING, 1, 0), (PROMISING, 2, 2), (ENOUGH, 3, 0)],
)
def test_a_round_helps_if_its_gain_is_clear_for_all_rounds_so_far(
    after: Measurement, number: int, flat: int
) -> None:
    sources = [CoachMeasurement(f"ftjob-{n}", "report", 5) for n in range(2)]
    before = session(
        Phase.GATING, child=SKILL, round=number, flat_rounds=1, measured=sources[0], gains=(WORTH,)
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


@cases(
    ("tried", "outcome"),
    [((), "prompt_enough"), ((CoachPrompt("No.", 0.5, 0.0, None, enough=False),), None)],
)
def test_a_prompt_is_enough_if_its_gain_is_clear_for_all_prompts_so_far(
    tried: tuple[CoachPrompt, ...], outcome: str | None
) -> None:
    options = CoachOptions(prompts=("Be kind.", "Be brief."), target=0.6)
    before = session(Phase.PROMPTING, child=JOB, options=options, tried=tried)
    evidence = replace(fresh(0.0), now=BEFORE, fresh=PROMISING)
    action = next_step(before, evidence).action
    assert action == (EndSession(CoachStatus.COMPLETED, "prompt_enough") if outcome else Continue())
