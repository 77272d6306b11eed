"""The pages below `/teach` answer through HTTP: students, examples, plans, progress."""

import re
from typing import Any

from tests.support.api.application import Api
from tests.support.dashboard.teaching import QUESTIONS, make_examples, make_student
from tests.support.dashboard.visits import Visit, texts_of
from tests.support.registry.recipes import OWN


async def test_a_student_is_made_and_shows_what_it_must_not_forget(visit: Visit, api: Api) -> None:
    page = await make_student(visit, "clerk", keep=("customer_support",))
    assert "Answers now" in page.text
    assert "Sample: Customer support" in page.text
    student = (await api.call("GET", "/v1/students/clerk")).json()
    [kept] = student["regression_sets"]
    run = (await api.call("GET", f"/v1/evals/{kept['eval_id']}/runs/{kept['run_id']}")).json()
    assert len(run["data_source"]["source"]["content"]) == 24
    assert "Its questions are being asked for the first time." in page.text
    listed = await visit.get("/teach")
    assert "clerk" in texts_of(listed.text, "h2")
    assert "it has learned nothing yet" in listed.text
    assert "is a toy, shipped to try this service with" in listed.text


async def test_examples_are_typed_pasted_and_divided(visit: Visit, api: Api) -> None:
    made = await make_examples(visit, "Refunds")
    assert texts_of(made.text, "h1") == ["Refunds"]
    [curriculum] = (await api.call("GET", "/v1/curricula")).json()["data"]
    assert (curriculum["name"], curriculum["training_rows"]) == ("Refunds", 14)
    assert curriculum["validation_rows"] == 10
    content = await api.call("GET", f"/v1/files/{curriculum['training_file']}/content")
    row = content.text.splitlines()[0]
    assert '"fact":"Probably"' in row
    assert sum(question in made.text for question in QUESTIONS) == 10


async def test_a_recipe_of_the_project_is_chosen_as_those_that_ship(visit: Visit, api: Api) -> None:
    await make_student(visit, "clerk")
    curriculum = str((await make_examples(visit, "Refunds")).url).rpartition("/")[2]
    texts = {"name": "<b>Ours", "purpose": "It is <i>ours</i>."}
    recipe = (await api.call("POST", "/v1/recipes", json={**OWN, **texts})).json()["id"]
    bare = {**OWN, "name": "bare", "sample_curriculum": None}
    await api.call("POST", "/v1/recipes", json=bare)
    pairs = {**bare, "name": "pairs", "method": "dpo", "options": {}, "knobs": {}}
    assert (await api.call("POST", "/v1/recipes", json=pairs)).status_code == 200
    base = "/teach/students/clerk"
    practice = (await visit.get(f"{base}/practice")).text
    assert "&lt;b&gt;Ours" in practice
    assert "<b>Ours" not in practice
    assert practice.count("A recipe of this project.") == 3
    assert practice.count("It has no samples: choose examples first.") == 2
    chosen = (await visit.get(f"{base}/practice?curriculum={curriculum}")).text
    # Four that ship, and the one of pairs.
    assert chosen.count("It does not fit the chosen examples.") == 5
    assert f"recipe={recipe}&amp;curriculum={curriculum}" in chosen
    estimate = await visit.get(f"{base}/estimate?recipe={recipe}")
    assert estimate.text.startswith("12 examples, ")
    fields = {"recipe": recipe, "curriculum": "", "practice_mode": "quick"}
    fields["form_token"] = await visit.form_token(f"{base}/practice")
    started = await visit.post(f"{base}/plan", fields)
    assert started.status_code == 303, started.text
    progress = (await visit.get(started.headers["location"])).text
    assert "<dd>&lt;b&gt;Ours</dd>" in progress
    job_id = started.headers["location"].rpartition("/")[2]
    job = (await api.call("GET", f"/v1/fine_tuning/jobs/{job_id}")).json()
    assert job["metadata"]["recipe"] == recipe
    await api.call("DELETE", f"/v1/recipes/{recipe}")
    assert (await visit.get(started.headers["location"])).status_code == 200


async def test_a_plan_shows_words_cost_and_starts(visit: Visit, api: Api) -> None:
    await make_student(visit, "clerk")
    made = await make_examples(visit, "Refunds")
    curriculum = str(made.url).rpartition("/")[2]
    base = "/teach/students/clerk"
    recipes = await visit.get(f"{base}/practice?curriculum={curriculum}")
    assert texts_of(recipes.text, "h2")[0] == "Customer support"
    query = f"recipe=customer_support&curriculum={curriculum}"
    estimate = await visit.get(f"{base}/estimate?{query}")
    assert estimate.text.startswith("14 examples, 12 steps, ")
    plan = await visit.part(f"{base}/plan?{query}&drift_guard=100&practice_mode=quick")
    assert "The student is held close to how it answers today." in plan.text
    assert "objective.kl_coefficient to 0.1" in plan.text
    assert "14 examples, 4 steps" in plan.text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', plan.text))
    started = await visit.post(f"{base}/plan", fields)
    assert started.status_code == 303, started.text
    job_id = started.headers["location"].rpartition("/")[2]
    job: dict[str, Any] = (await api.call("GET", f"/v1/fine_tuning/jobs/{job_id}")).json()
    assert job["method"]["reinforcement"]["objective"]["kl_coefficient"] == 0.1
    assert job["metadata"]["student"] == "clerk"
    progress = await visit.get(started.headers["location"])
    assert "The first test has not ended yet." in progress.text
    assert job_id in (await visit.get(base)).text
