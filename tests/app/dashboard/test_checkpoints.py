"""A paused job's checkpoints are on its page, and each leads to the playground that tries it."""

import re
from html import unescape

from app.settings import DEFAULT_MODEL
from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, put_checkpoints
from tests.support.dashboard.visits import Visit, rows_of
from tests.support.stack import Database


async def test_a_checkpoint_of_a_paused_job_is_tried_from_its_page(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    assert "Checkpoints" not in (await visit.get(f"/jobs/{job}")).text
    put_checkpoints(database, job, {10: 0.25, 20: 0.5})
    assert (await visit.press(job, "pause")).status_code == 303
    page = (await visit.get(f"/jobs/{job}")).text
    [_, *rows] = rows_of(page, "Table of checkpoints")
    assert [row[1:3] for row in rows] == [["20", "0.5"], ["10", "0.25"]]
    assert "The job is paused. Each checkpoint is published under its name" in page
    links = re.findall(r'<a href="(/models\?model=[^"]*)">Try it', page)
    played = (await visit.get(unescape(links[0]))).text
    chosen = re.findall(r'<option value="([^"]*)" selected>', played)
    assert chosen == [DEFAULT_MODEL, "ft:tiny-agent:p:rivers:abc:ckpt-step-20"]
    assert (await visit.press(job, "cancel")).status_code == 303
    assert "The job is paused" not in (await visit.get(f"/jobs/{job}")).text
