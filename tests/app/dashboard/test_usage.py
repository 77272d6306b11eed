"""The page of a project's usage."""

from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, execute, put_usage
from tests.support.dashboard.visits import Visit, texts_of
from tests.support.stack import Database

CHATS = (
    "INSERT INTO usage_records (id, organization_id, project_id, kind, key_id, model, requests,"
    " input_tokens, output_tokens, cost, currency) SELECT 'u', organization_id, project_id,"
    " 'completions', key_id, '<b>ft:x</b>', 3, 1200, 40, 0.5, 'EUR' FROM fine_tuning_jobs"
    " WHERE id = %s"
)


async def test_a_project_sees_its_usage_by_day(api: Api, visit: Visit, database: Database) -> None:
    empty = (await visit.get("/usage")).text
    assert "No job has committed a step." in empty
    assert "No chat was served." in empty
    assert "AGENT_RFT_PRICING__PER_HOUR" in empty
    job = await create_job(api)
    put_usage(database, job, rollouts=64, trained_tokens=5000, tool_calls=9, training_s=75.0)
    execute(database, CHATS, (job,))
    page = (await visit.get("/usage")).text
    cells = texts_of(page, "td")
    assert cells[1:11] == ["64", "0", "0", "5,000", "9", "0", "0", "1 min 15 s", "0 s", "–"]
    assert cells[12:] == ["3", "1,200", "0", "40", "0.5 EUR"]
    assert job in texts_of(page, "th")
    assert "&lt;b&gt;ft:x&lt;/b&gt;" in page
    assert '<a href="/usage">Usage</a>' in (await visit.get("/")).text
