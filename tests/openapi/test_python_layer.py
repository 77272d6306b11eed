"""The nouns of the Python client, blocking and awaited, over real sockets."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from html import escape
from pathlib import Path

import pytest

import agent_rft
from agent_rft import (
    AgentRFT,
    AsyncAgentRFT,
    AsyncFeedbackCollector,
    AsyncStudent,
    BadRequestError,
    Coach,
    Curriculum,
    FeedbackCollector,
    ImprovementPlan,
    NotFoundError,
    Reply,
    Student,
    TrainingEnded,
    TrainingJob,
)
from agent_rft.defaults import default_async_client, default_client
from tests.support.contract.service import ROW, Service, running_service
from tests.support.stack import Services

CHECK = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture
def client(service: Service) -> Iterator[AgentRFT]:
    with AgentRFT(service.api.base_url, service.api.key) as made:
        yield made


@pytest.fixture
async def awaited(service: Service) -> AsyncIterator[AsyncAgentRFT]:
    async with AsyncAgentRFT(service.api.base_url, service.api.key) as made:
        yield made


@pytest.fixture
def student(client: AgentRFT, request: pytest.FixtureRequest) -> Iterator[Student]:
    made = Student.create(f"s-{abs(hash(request.node.name))}", "tiny-agent", client=client)
    yield made
    made.delete()


def curriculum(client: AgentRFT, name: str, rows: int = 12) -> Curriculum:
    lines = [json.loads(ROW) for _ in range(rows)]
    return Curriculum.create(name, lines, lines, client=client)


def test_a_student_is_made_found_and_deleted(client: AgentRFT) -> None:
    names = [f"found-{number}" for number in range(3)]
    for name in names:
        Student.create(name, "tiny-agent", client=client)
    again = Student.get("found-1", client=client)
    assert (again.name, again.model) == ("found-1", "student:found-1")
    assert again.body.base_model.startswith("tiny-agent-")
    listed = [one.name for one in Student.all(client=client)]
    assert [name for name in listed if name.startswith("found-")] == names[::-1]
    for name in names:
        Student.get(name, client=client).delete()
    with pytest.raises(NotFoundError, match="found-1"):
        Student.get("found-1", client=client)


def test_a_student_answers_and_is_judged(
    client: AgentRFT, service: Service, student: Student
) -> None:
    assert student.instruct("Count.").body.instructions == "Count."
    service.engine.answer = "four"
    reply = student.chat("two and two?", store=True, safety_identifier="visitor-1", seed=3)
    assert (reply.text, reply.model) == ("four", student.body.base_model)
    assert service.engine.bodies[-1]["messages"][0] == {"role": "system", "content": "Count."}
    service.engine.answer = "five"
    worse = student.chat([{"role": "user", "content": "two and two?"}], store=True)
    collector = FeedbackCollector("ann", client=client)
    judged = [
        collector.thumbs_up(reply, comment="right"),
        collector.thumbs_down(worse),
        collector.correct(worse, "four"),
        collector.prefer(reply, worse),
    ]
    found = {one.id: one for one in collector.all(author="ann")}
    assert [found[one.id].type_ for one in judged] == [
        *("thumbs", "thumbs", "correction", "preference")
    ]
    assert found[judged[0].id].comment == "right"
    assert (judged[3].completion_id, judged[3].rejected_completion_id) == (reply.id, worse.id)
    planned = collector.build(method="supervised", dry_run=True, name="later")
    assert (planned.id, planned.training_rows, planned.sources.correction.used) == (None, 1, 1)
    with pytest.raises(BadRequestError, match="job needs 10"):
        collector.build("now", method="supervised")
    assert collector.findings().total == 0
    collector.delete(judged[0].id)
    removed = collector.forget("visitor-1")
    assert (removed.completions, removed.feedback) == (1, 1)
    assert collector.forget("ann").feedback == 2


def test_an_answer_that_was_not_kept_cannot_be_judged(client: AgentRFT, student: Student) -> None:
    reply = student.chat("hello")
    assert not reply.stored
    with pytest.raises(ValueError, match="store=True"):
        FeedbackCollector(client=client).thumbs_up(reply)
    with pytest.raises(TypeError, match="this is NoneType"):
        FeedbackCollector(client=client).thumbs_up(None)  # type: ignore[arg-type]  # the mistake


def test_a_chat_that_would_stream_names_the_model_to_call(student: Student) -> None:
    with pytest.raises(ValueError, match=f"leave 'stream' out.*'{student.model}'"):
        student.chat("hello", stream=True)


def test_a_curriculum_comes_from_rows_or_files(client: AgentRFT, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROW * 11)
    made = Curriculum.create("of files", path, str(path), client=client)
    assert (made.body.training_rows, made.body.validation_rows) == (11, 11)
    other = curriculum(client, "of rows")
    assert [one.name for one in Curriculum.all(client=client)][:2] == ["of rows", "of files"]
    assert Curriculum.get(other.id, client=client).body.training_rows == 12
    tested = made.test(tools=["lookup"])
    assert (tested.training.rows, tested.training.duplicate_rows) == (11, 10)
    with pytest.raises(BadRequestError) as taken:
        Curriculum.create("of rows", path, client=client)
    assert taken.value.param == "name"
    for one in (made, other):
        one.delete()
    with pytest.raises(NotFoundError):
        Curriculum.get(made.id, client=client)


def test_a_plan_is_compiled_and_sent(client: AgentRFT, student: Student) -> None:
    lessons = curriculum(client, "lessons")
    plan = ImprovementPlan(method="reinforcement", drift_guard=80, effort="light")
    compiled = plan.compile(
        student.model, curriculum={"id": lessons.id}, grader=CHECK, client=client
    )
    settings = {
        setting.parameter: setting.value
        for knob in compiled.explanation
        for setting in knob.settings
    }
    job = student.improve(lessons, plan, grader=CHECK, seed=5)
    assert (job.status, job.model, job.body.seed) == ("validating_files", None, 5)
    sent = job.body.method.to_dict()["reinforcement"]["objective"]
    assert sent["kl_coefficient"] == pytest.approx(0.064)
    assert 0.064 in settings.values()
    reading = ImprovementPlan.explain(job, client=client)
    assert (reading.knobs.drift_guard, reading.knobs.effort) == (80, "light")
    assert ImprovementPlan.explain(compiled.job.to_dict(), client=client).exact
    with pytest.raises(TypeError, match="this is NoneType"):
        ImprovementPlan.explain(None, client=client)
    assert TrainingJob.get(job.id, client=client).body.model == student.body.base_model
    assert job.curves() == job.curves("reward/mean") == job.curves("train/loss") == {}
    with pytest.raises(BadRequestError) as refused:
        student.propose(job)
    assert refused.value.code == "job_not_proposable"
    with pytest.raises(TimeoutError, match=job.id):
        job.wait(timeout_s=0, progress=True)
    job.cancel()
    with pytest.raises(TrainingEnded, match="cancelled") as ended:
        job.wait()
    assert (ended.value.job_id, ended.value.status) == (job.id, "cancelled")
    with pytest.raises(BadRequestError, match="drift_guard"):
        beyond = ImprovementPlan(method="reinforcement", drift_guard=101)
        student.improve(lessons, beyond, grader=CHECK)


def test_improve_starts_a_session_of_the_coach(client: AgentRFT, student: Student) -> None:
    lessons = curriculum(client, "coached lessons")
    plan = ImprovementPlan(method="reinforcement", effort="light")
    choices = {"target": 0.9, "budget": {"jobs": 3}, "prompts": ["Be brief."]}
    session = student.improve(lessons, plan, coach=choices, grader=CHECK, seed=5, suffix="desk")
    assert isinstance(session, Coach)
    assert (session.status, session.body.student) == ("running", student.name)
    assert (session.body.target, session.body.budget.jobs, session.body.samples) == (0.9, 3, 4)
    compiled = session.body.method.to_dict()["reinforcement"]["hyperparameters"]
    assert compiled["compute_multiplier"] == 0.5
    with pytest.raises(BadRequestError) as second:
        student.improve(lessons, coach=True, grader=CHECK)
    assert second.value.code == "coach_session_open"
    assert [one.id for one in Coach.all(student=student.name, client=client)] == [session.id]
    session.cancel()
    with pytest.raises(BadRequestError) as refused:
        student.improve(lessons, coach={"prompts": ["Be kind.", "Be kind. "]}, grader=CHECK)
    assert refused.value.param == "coach.prompts[1]"
    with pytest.raises(BadRequestError) as unknown:
        student.improve(lessons, coach={"budgett": {}}, grader=CHECK)
    assert unknown.value.param == "coach.budgett"
    job = student.improve(lessons, coach=False, grader=CHECK)
    assert isinstance(job, TrainingJob)
    job.cancel()


def test_text_of_a_model_is_escaped(service: Service, student: Student) -> None:
    service.engine.answer = HOSTILE
    reply = student.chat("hello")
    shown = reply._repr_html_()
    assert HOSTILE not in shown
    assert escape(HOSTILE) in shown
    assert repr(student) == (
        f"Student(name={student.name!r}, base_model={student.body.base_model!r},"
        " current_skill=None, regression_evals=[])"
    )


def test_an_optional_package_is_named_when_it_is_missing(
    client: AgentRFT, student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = student.improve(curriculum(client, "optional"), method="reinforcement", grader=CHECK)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"agent-rft-sdk\[plots\]"):
        job.plot()
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"agent-rft-sdk\[progress\]"):
        job.wait(progress=True)
    job.cancel()
    with pytest.raises(TrainingEnded):
        job.wait()


async def test_the_awaited_nouns_do_the_same(service: Service, awaited: AsyncAgentRFT) -> None:
    student = await AsyncStudent.create("awaited", "tiny-agent", client=awaited)
    service.engine.answer = "yes"
    replies: list[Reply] = await asyncio.gather(
        *(student.chat(f"question {number}", store=True) for number in range(4))
    )
    assert [reply.text for reply in replies] == ["yes"] * 4
    collector = AsyncFeedbackCollector("bob", client=awaited)
    for reply in replies:
        await collector.thumbs_up(reply)
    assert len([one async for one in collector.all(author="bob")]) == 4
    assert [skill async for skill in student.skills()] == []
    assert "awaited" in [one.name async for one in AsyncStudent.all(client=awaited)]
    await student.delete()


async def test_each_event_loop_has_a_client_of_its_own(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_RFT_BASE_URL", service.api.base_url)
    monkeypatch.setenv("AGENT_RFT_API_KEY", service.api.key)
    mine = default_async_client()
    assert default_async_client() is mine
    made = await AsyncStudent.create("default", "tiny-agent")
    theirs = await asyncio.to_thread(lambda: asyncio.run(_default()))
    assert theirs is not mine
    assert await asyncio.to_thread(lambda: Student.get("default").name) == "default"
    await asyncio.to_thread(default_client().close)
    default_client.cache_clear()
    await made.delete()
    await mine.aclose()


async def _default() -> AsyncAgentRFT:
    client = default_async_client()
    await client.aclose()
    return client


def test_every_noun_blocks_and_is_awaited() -> None:
    nouns = {name.removeprefix("Async") for name in agent_rft.__all__ if name.startswith("Async")}
    assert {"AgentRFT", "Coach", "Student"} <= nouns
    for noun in nouns:
        awaited, blocking = getattr(agent_rft, f"Async{noun}"), getattr(agent_rft, noun)
        names = {"aclose": "close", "__aenter__": "__enter__", "__aexit__": "__exit__"}
        verbs = {names.get(verb, verb) for verb in vars(awaited)} - {"__module__", "__doc__"}
        assert verbs == set(vars(blocking)) - {"__module__", "__doc__"}
