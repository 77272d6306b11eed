"""The gate of students with a real engine, real adapters and the worker of eval runs."""

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.models.models import BaseModelSpec
from tests.support.api.organization import execute
from tests.support.evals.criteria import RIGHT, WRONG
from tests.support.evals.learned_models import NO_LOSS, learned_model
from tests.support.evals.world import ANSWER, MODEL, QUESTION, World, exact, rows, sampled
from tests.support.patience import until
from tests.support.stack import Database
from workers.evals.child import work

STUDENTS = "/v1/students"


class School:
    """A project with students, whose base model knows one answer."""

    def __init__(self, world: World, database: Database, base: Path) -> None:
        self.world, self.database, self._base = world, database, base

    async def student(self, name: str, *, knows: bool = True, count: int = 8) -> Any:
        """Makes a student with an eval in which its base model is always right, or never."""
        row = RIGHT if knows else WRONG
        run = await self.world.make(exact(), source=sampled(rows(*[row] * count)))
        evals = [run.split("/")[3]]
        body = {"name": name, "base_model": "parrot", "regression_evals": evals}
        return await self.world.post(STUDENTS, body)

    async def job(self, seed: int, **options: Any) -> tuple[str, str]:
        return await learned_model(self.world, self.database, self._base, seed=seed, **options)

    async def propose(self, name: str, job: str) -> Any:
        return await self.world.post(f"{STUDENTS}/{name}/skills", {"job": job})

    def paths(self, skill: Any) -> list[str]:
        return [
            f"/v1/evals/{pair['eval_id']}/runs/{pair[side]}"
            for pair in skill["runs"]
            for side in ("before", "after")
        ]

    async def decided(self, name: str, job: str) -> Any:
        """Returns a proposed skill after its eval runs."""
        skill = await self.propose(name, job)
        for path in self.paths(skill):
            await self.world.finish(path)
        return (await self.world.get(f"{STUDENTS}/{name}/skills"))["data"][0]

    async def promote(self, name: str, skill: Any, *, expect: int = 200) -> Any:
        path = f"{STUDENTS}/{name}/promote"
        return await self.world.post(path, {"skill": skill["id"]}, expect=expect)

    async def roll_back(self, name: str, skill: str | None, *, expect: int = 200) -> Any:
        return await self.world.post(
            f"{STUDENTS}/{name}/roll_back", {"skill": skill}, expect=expect
        )

    async def until_waiting(self, count: int, *calls: asyncio.Task[Any]) -> None:
        """Waits until so many connections wait for a lock, or the calls have ended."""

        async def waiting() -> bool:
            query = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock'"
            )
            [(found,)] = execute(self.database, query)
            return found >= count or (bool(calls) and all(call.done() for call in calls))

        await until(waiting, what=f"{count} waiting connections")

    async def ask(self, model: str) -> tuple[str, str]:
        """Returns the answer to the known question, and the model that gave it."""
        message = {"role": "user", "content": QUESTION}
        body = {"model": model, "messages": [message], "temperature": 0, "max_tokens": 32}
        reply = await self.world.post("/v1/chat/completions", body, expect=200)
        return reply["choices"][0]["message"]["content"], reply["model"]


@pytest.fixture
def school(world: World, database: Database, parrot: BaseModelSpec) -> School:
    return School(world, database, Path(str(parrot.path)))


async def test_a_planted_regression_is_held_with_the_numbers(school: School) -> None:
    await school.student("clerk")
    job, model = await school.job(1)
    assert (await school.ask("parrot"))[0] == ANSWER
    assert (await school.ask(model))[0] != ANSWER
    skill = await school.decided("clerk", job)
    assert (skill["status"], skill["baseline"], skill["model"]) == ("held", MODEL, model)
    eval_id = skill["runs"][0]["eval_id"]
    assert skill["reason"] == (
        f"{eval_id}: -1 over 8 rows, 95 % interval -1 to -0.261; a loss of more than 0.02 is "
        "not excluded."
    )
    target, regression = skill["comparisons"]
    assert (target["subject"], target["interval"]) == ("target", [0.05, 0.45])
    assert (regression["difference"], regression["rows"]) == (-1, 8)
    refused = await school.promote("clerk", skill, expect=400)
    assert refused["error"]["code"] == "gate_held"
    assert skill["reason"] in refused["error"]["message"]
    assert await school.ask("student:clerk") == (ANSWER, MODEL)


async def test_a_promoted_skill_answers_until_it_is_rolled_back(school: School) -> None:
    await school.student("clerk", knows=False)
    (first_job, first), (second_job, second) = await school.job(1), await school.job(2)
    one = await school.decided("clerk", first_job)
    assert one["status"] == "passed", one["reason"]
    assert await school.ask("student:clerk") == (ANSWER, MODEL)
    assert (await school.promote("clerk", one))["current_skill"] == one["id"]
    answers = {name: (await school.ask(name))[0] for name in (first, second)}
    assert len({ANSWER, *answers.values()}) == 3
    assert await school.ask("student:clerk") == (answers[first], first)
    refused = await school.world.http.delete(f"/v1/models/{first}")
    assert refused.json()["error"]["message"] == (
        f"Model '{first}' answers for student 'clerk'. Let another skill answer first: "
        "POST /v1/students/clerk/roll_back."
    )
    stale = await school.world.post(f"{STUDENTS}/clerk/skills", {"job": second_job}, expect=400)
    assert stale["error"]["message"] == (
        f"Job {second_job} trained from '{MODEL}', so its report does not compare with '{first}', "
        "which answers for student 'clerk' now. Train a job whose `model` is 'student:clerk'."
    )
    execute(
        school.database,
        "UPDATE fine_tuning_jobs SET model = %s WHERE id = %s",
        *(first, second_job),
    )
    two = await school.decided("clerk", second_job)
    assert two["baseline"] == first
    never = await school.roll_back("clerk", two["id"], expect=400)
    assert never["error"]["code"] == "skill_never_current"
    await school.promote("clerk", two)
    assert await school.ask("student:clerk") == (answers[second], second)
    await school.roll_back("clerk", one["id"])
    assert await school.ask("student:clerk") == (answers[first], first)
    await school.roll_back("clerk", None)
    assert await school.ask("student:clerk") == (ANSWER, MODEL)
    assert (await school.world.http.delete(f"/v1/models/{first}")).status_code == 200
    gone = await school.roll_back("clerk", one["id"], expect=400)
    assert gone["error"]["code"] == "model_not_found"


async def test_a_version_is_asked_with_the_instructions_of_its_examples(school: School) -> None:
    await school.student("clerk", knows=False)
    asked = {"role": "user", "content": QUESTION}
    talk = {"model": "student:clerk", "messages": [asked], "max_tokens": 32, "store": True}

    async def stored(**changed: Any) -> tuple[str, list[Any]]:
        """Returns an answer of the student, and the messages that it answered."""
        post = school.world.post
        reply = await post("/v1/chat/completions", {**talk, **changed}, expect=200)
        path = f"/v1/chat/completions/{reply['id']}/messages"
        messages = [
            {"role": one["role"], "content": one["content"]}
            for one in (await school.world.get(path))["data"]
        ]
        return reply["choices"][0]["message"]["content"], messages

    assert (await stored())[1] == [asked]
    job, model = await school.job(1, told=["Be exact."] * 6 + ["Guess."] * 3 + [None])
    skill = await school.decided("clerk", job)
    assert skill["instructions"] == "Be exact."
    runs = [await school.world.get(path) for path in school.paths(skill)]
    told = [run["data_source"]["instructions"] for run in runs]
    assert told == [None, "Be exact."]
    assert (await school.promote("clerk", skill))["instructions"] == "Be exact."
    message = {"role": "system", "content": "Be exact."}
    answer, messages = await stored()
    assert messages == [message, asked]
    named = {"model": model, "messages": [message, asked], "temperature": 0}
    assert (await stored(**named))[0] == answer
    own = [{"role": "developer", "content": "Sing."}, asked]
    assert (await stored(messages=own))[1] == own
    run = await school.world.make(exact(), source=sampled(rows(WRONG), model="student:clerk"))
    await school.world.finish(run)
    [item] = await school.world.items(run)
    assert item["sample"]["input"][0] == message
    path = f"{STUDENTS}/clerk"
    for sent, shown in (("Sing.", "Sing."), ("", None), (None, "Be exact."), ("Sing.", "Sing.")):
        edited = await school.world.post(path, {"instructions": sent}, expect=200)
        assert edited["instructions"] == shown
    assert (await stored())[1] == [{"role": "system", "content": "Sing."}, asked]
    assert (await school.roll_back("clerk", None))["instructions"] is None
    assert (await school.roll_back("clerk", skill["id"]))["instructions"] == "Sing."


async def test_a_job_and_an_eval_of_a_student_take_the_model_that_answers(school: School) -> None:
    await school.student("clerk", knows=False)
    job, model = await school.job(1)
    await school.promote("clerk", await school.decided("clerk", job))
    path = f"/v1/fine_tuning/jobs/{job}"
    file = (await school.world.get(path))["training_file"]
    body = {"model": "student:clerk", "training_file": file, "method": {"type": "supervised"}}
    made = await school.world.post("/v1/fine_tuning/jobs", body, expect=200)
    assert made["model"] == model
    run = await school.world.make(exact(), source=sampled(rows(WRONG), model="student:clerk"))
    assert (await school.world.get(run))["model"] == model
    assert (await school.world.finish(run))["per_model_usage"][0]["model_name"] == model


async def test_a_gate_outlives_its_worker(school: School) -> None:
    await school.student("clerk", knows=False)
    job, _ = await school.job(1)
    skill = await school.propose("clerk", job)
    before, after = school.paths(skill)
    killed = asyncio.create_task(work(school.world.ports, await school.world.claim(before)))
    await school.world.until_items(before, 1)
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    execute(school.database, "UPDATE eval_runs SET lease_until = now() - interval '1s'")
    refused = await school.promote("clerk", skill, expect=400)
    if (await school.world.get(before))["status"] != "completed":
        await school.world.finish(before)
    assert refused["error"]["code"] == "gate_running"
    await school.world.finish(after)
    assert (await school.promote("clerk", skill))["current_skill"] == skill["id"]
    [stored] = (await school.world.get(f"{STUDENTS}/clerk/skills"))["data"]
    assert (stored["status"], stored["comparisons"][1]["rows"]) == ("passed", 8)


async def test_a_chat_of_a_student_is_a_chat_completion_of_its_name(school: School) -> None:
    await school.student("clerk", knows=False)
    talk = {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 32}
    chat, named = f"{STUDENTS}/clerk/chat", {**talk, "model": "student:clerk"}
    for sent in (talk, named):
        reply = await school.world.post(chat, sent, expect=200)
        answer = reply["choices"][0]["message"]["content"]
        assert (answer, reply["model"]) == (ANSWER, MODEL)
    streamed = await school.world.http.post(chat, json={**talk, "stream": True})
    assert streamed.text.endswith("data: [DONE]\n\n")
    wrong: list[tuple[str, dict[str, Any], int, str]] = [
        (chat, {**talk, "model": "parrot"}, 400, "model"),
        (chat, {**talk, "messages": None}, 400, "messages"),
        (f"{STUDENTS}/nobody/chat", talk, 404, "name"),
    ]
    for path, sent, status, param in wrong:
        refused = await school.world.post(path, sent, expect=status)
        assert refused["error"]["param"] == param


LOSS = {"rows": 8, "reward": {"difference": -0.2, "difference_ci95": [-0.4, 0.1]}}
FEW = {"rows": 4, "reward": {"difference": 0.2, "difference_ci95": None}}
TEXTS = {"rows": 8, "loss": {"difference": -0.2, "difference_ci95": [-0.4, -0.1]}}


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (LOSS, "target: -0.2 over 8 rows, 95 % interval -0.4 to +0.1; a loss of more than 0.02 is"),
        (FEW, "target: +0.2 over 4 rows (too few for an interval), so a loss is not excluded."),
        (TEXTS, "target: the job's report compares no reward and no accuracy of preferences."),
    ],
)
async def test_a_target_that_excludes_no_loss_is_held(
    school: School, report: Any, reason: str
) -> None:
    await school.student("clerk", knows=False)
    job, _ = await school.job(1, report=report)
    skill = await school.decided("clerk", job)
    assert skill["status"] == "held"
    assert skill["reason"].startswith(reason)


async def test_too_few_rows_and_no_regression_set_are_held(school: School) -> None:
    job, _ = await school.job(1, report=NO_LOSS)
    await school.student("small", knows=False, count=4)
    small = await school.decided("small", job)
    assert small["status"] == "held"
    assert "+0 over 4 rows (too few for an interval), so a loss is not" in small["reason"]
    await school.world.post(STUDENTS, {"name": "bare", "base_model": "parrot"})
    bare = await school.propose("bare", job)
    assert bare["status"] == "held"
    assert bare["reason"].startswith("No regression set: the student lists no evals")


async def test_a_small_loss_that_is_proven_is_held(school: School) -> None:
    await school.student("clerk", knows=False)
    small = {"rows": 800, "reward": {"difference": -0.01, "difference_ci95": [-0.015, -0.005]}}
    job, _ = await school.job(1, report=small)
    skill = await school.decided("clerk", job)
    assert (skill["status"], skill["reason"]) == (
        "held",
        "target: -0.01 over 800 rows, 95 % interval -0.015 to -0.005; that is a loss.",
    )


async def test_a_later_run_does_not_replace_the_rows_of_the_gate(school: School) -> None:
    made = await school.student("clerk")
    [rows_of_gate] = made["regression_sets"]
    runs = f"/v1/evals/{rows_of_gate['eval_id']}/runs"
    easy = sampled(rows(*[WRONG] * 8))
    later = await school.world.post(runs, {"data_source": easy})
    job, _ = await school.job(1)
    skill = await school.decided("clerk", job)
    assert (skill["status"], skill["comparisons"][1]["difference"]) == ("held", -1)
    path = f"{STUDENTS}/clerk"
    evals = {"regression_evals": [rows_of_gate["eval_id"]]}
    chosen = await school.world.post(path, evals, expect=200)
    assert chosen["regression_sets"] == [{**rows_of_gate, "run_id": later["id"]}]
    again = await school.decided("clerk", job)
    assert (again["status"], again["comparisons"][1]["difference"]) == ("passed", 0)
    await school.world.finish(f"{runs}/{later['id']}")
    assert (await school.world.http.delete(f"{runs}/{later['id']}")).status_code == 200
    gone = await school.world.post(f"{path}/skills", {"job": job}, expect=400)
    error = gone["error"]
    assert (error["code"], error["param"]) == ("regression_set_deleted", "regression_evals")
    none = await school.world.post(path, {"regression_evals": []}, expect=200)
    assert none["regression_sets"] == []


async def test_a_model_that_is_being_deleted_does_not_become_current(school: School) -> None:
    await school.student("clerk", knows=False)
    job, model = await school.job(1)
    skill = await school.decided("clerk", job)
    url = school.database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as holder:
        holder.execute("SELECT FROM tuned_models WHERE name = %s FOR UPDATE", [model])
        deletion = asyncio.create_task(school.world.http.delete(f"/v1/models/{model}"))
        await school.until_waiting(1)
        body = {"skill": skill["id"]}
        promotion = asyncio.create_task(
            school.world.http.post(f"{STUDENTS}/clerk/promote", json=body)
        )
        await school.until_waiting(2, promotion)
        holder.rollback()
    refused = await promotion
    assert ((await deletion).status_code, refused.status_code) == (200, 400)
    assert refused.json()["error"]["code"] == "model_not_found"
    assert await school.ask("student:clerk") == (ANSWER, MODEL)
