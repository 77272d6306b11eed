"""The grader of an environment's rewards: whose fault a missing reward is."""

import pytest

from app.graders.kinds.remote import EnvironmentGrader
from app.graders.scorer import GradeRequest, ScoreFault
from app.rollouts.trajectory import ENVIRONMENT_FAILURES, FailureClass
from tests.support.grading.scores import ports_of
from workers.grading.job_grader import to_failure


async def test_an_episode_that_ends_without_a_reward_is_the_environments_fault() -> None:
    sample = {"environment": {"done": True, "components": {}}}
    request = GradeRequest(sample=sample, item={}, trace_id="trace_1", call_id="grade_1")
    with pytest.raises(ScoreFault) as caught:
        await (
            EnvironmentGrader(type="environment").scorer(ports_of(), source="world").score(request)
        )
    failure = to_failure(caught.value, "world")
    assert failure.failure_class is FailureClass.ENVIRONMENT_BAD_REPLY
    assert failure.failure_class in ENVIRONMENT_FAILURES
    assert "gave no reward" in failure.message
