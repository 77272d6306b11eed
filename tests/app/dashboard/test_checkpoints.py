"""A paused job's checkpoints are on its page, and each leads to the playground that tries it."""

import re
from html import unescape

from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, execute
from tests.support.dashboard.visits import Visit, rows_of
from tests.support.stack import Database

BASE = "tiny-agent-2026-11-23"


async def test_a_checkpoint_of_a_paused_job_is_tried_from_its_page(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    assert "Checkpoints" not in (await visit.get(f"/jobs/{job}")).text
    for step, reward in ((10, "0.25"), (20, "0.5")):
        name = f"ft:tiny-agent:p:rivers:abc:ckpt-step-{step}"
        execute(
            database,
            "INSERT INTO checkpoints (id, project_id, job_id, step, model_name, object_key,"
            " metrics) SELECT %(id)s, project_id, id, %(step)s, %(name)s, 'k',"
            " jsonb_build_object('full_valid_mean_reward', %(reward)s::float)"
            " FROM fine_tuning_jobs WHERE id = %(job)s",
            {"id": f"ftckpt_{step}", "step": step, "name": name, "reward": reward, "job": job},
        )
        execute(
            database,
            "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name,"
            " object_key, step) SELECT %(name)s, project_id, id, %(base)s, %(engine)s, 'k',"
            " %(step)s FROM fine_tuning_jobs WHERE id = %(job)s",
            {"name": name, "base": BASE, "engine": f"m{step}", "step": step, "job": job},
        )
    assert (await visit.press(job, "pause")).status_code == 303
    page = (await visit.get(f"/jobs/{job}")).text
    [_, *rows] = rows_of(page, "Checkpoints")
    assert [row[1:3] for row in rows] == [["20", "0.5"], ["10", "0.25"]]
    assert "The job is paused. Each checkpoint is published under its name" in page
    links = re.findall(r'<a href="(/models\?model=[^"]*)">Try it', page)
    played = (await visit.get(unescape(links[0]))).text
    chosen = re.findall(r'<option value="([^"]*)" selected>', played)
    assert chosen == [BASE, "ft:tiny-agent:p:rivers:abc:ckpt-step-20"]
    assert (await visit.press(job, "cancel")).status_code == 303
    assert "The job is paused" not in (await visit.get(f"/jobs/{job}")).text
