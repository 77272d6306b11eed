"""Stored completions, feedback and builds of one tenant are hidden from another."""

import pytest
from sqlalchemy.exc import IntegrityError

from app.kit.errors import NotFound
from app.teaching.feedback.feedback import FeedbackFilter
from tests.support.store.feedback import a_feedback, insert_feedback
from tests.support.store.rows import Rows


async def test_feedback_of_another_tenant_is_hidden_and_its_completion_not_judged(
    rows: Rows,
) -> None:
    async with rows.app.tenant(rows.first) as unit:
        await insert_feedback(unit)
    async with rows.app.tenant(rows.second) as unit:
        for found in (
            unit.stored_completions.get("chatcmpl-1"),
            unit.stored_completions.delete("chatcmpl-1"),
            unit.stored_completions.set_metadata("chatcmpl-1", {}),
            unit.feedback.get("feedback_1"),
            unit.feedback.delete("feedback_1"),
            unit.feedback_builds.get("fbuild_1"),
        ):
            with pytest.raises(NotFound):
                await found
        assert await unit.feedback.page(FeedbackFilter(), after=None, limit=9) == ([], False)
        assert await unit.feedback.judgements(FeedbackFilter(), after=None, limit=9) == []
        assert await unit.feedback_builds.page(after=None, limit=9) == ([], False)
        assert await unit.feedback.remove_of("ann") == (0, 0)
        assert await unit.feedback_builds.mark_removed("ann") == []
    with pytest.raises(IntegrityError, match="fk_feedback_project_id_completion_id"):
        async with rows.app.tenant(rows.second) as unit:
            await unit.feedback.insert(a_feedback(), size=1)
    async with rows.app.tenant(rows.first) as unit:
        assert (await unit.feedback.get("feedback_1")).end_user == "ann"
