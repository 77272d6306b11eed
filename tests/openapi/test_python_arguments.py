"""Mistakes in calls of the Python layer are named before a call, and warnings reach the user."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from agent_rft import (
    AgentRFT,
    Coach,
    Curriculum,
    FeedbackCollector,
    ImprovementPlan,
    Student,
    TrainingEnded,
)
from agent_rft.arguments import path_part
from agent_rft.errors import ConnectionFailed
from tests.support.cases import cases
from tests.support.contract.service import Service, running_service
from tests.support.endpoints import Reply, endpoint_in_thread
from tests.support.stack import Services

CHECK = {
    "type": "string_check", "name": "x", "operation": "eq",
    "input": "{{sample.output_text}}", "reference": "{{item.answer}}",
}  # fmt: skip
ROWS = [
    {"messages": [{"role": "user", "content": f"question {n} about {n * n}"}], "answer": str(n)}
    for n in range(12)
]


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[AgentRFT]:
    with AgentRFT(service.api.base_url, service.api.key) as made:
        yield made


@pytest.fixture(scope="module")
def student(client: AgentRFT) -> Student:
    return Student.create("clerk", "tiny-agent", client=client)


@pytest.fixture(scope="module")
def lessons(client: AgentRFT) -> Curriculum:
    return Curriculum.create("lessons", ROWS, ROWS, client=client)


def test_the_logbook_of_a_session_is_read_while_it_is_waited_for(
    student: Student, lessons: Curriculum, client: AgentRFT
) -> None:
    session = Coach.start(student, lessons, grader=CHECK, client=client)
    session.cancel()
    said = list[str]()
    with pytest.raises(TrainingEnded, match="cancelled"):
        session.wait(report=said.append)
    entries = list(session.logbook())
    assert [entry.text for entry in entries] == said
    assert entries[0].kind == "started"
    assert "mean" not in entries[0].data.to_dict()


class Scene(NamedTuple):
    client: AgentRFT
    student: Any
    """A `Student`, whose arguments are wrong on purpose."""
    lessons: Curriculum


NOBODY: Any = None
Call = Callable[[Scene], Any]
COMPILED = ImprovementPlan(method="reinforcement", effort="light")
MISTAKES: dict[str, tuple[Call, str]] = {
    "a text as prompts": (
        lambda at: at.student.coach(at.lessons, prompts="Be kind"),
        r"prompts.*'Be kind'",
    ),
    "a number as a prompt": (lambda at: at.student.coach(at.lessons, prompts=[1]), "holds a int"),
    "a number as the budget": (
        lambda at: at.student.coach(at.lessons, budget=3),
        r"budget.*\{'jobs'",
    ),
    "a number as the coach": (
        lambda at: at.student.improve(at.lessons, coach=3),
        r"coach.*\{'budget'",
    ),
    "no student": (lambda at: Coach.start(3, client=at.client), "a student is"),
    "a text as evals": (lambda at: at.student.set_regression_evals("eval_x"), "regression_evals"),
    "rows as a curriculum": (lambda at: at.student.improve(ROWS), "a curriculum is .*list"),
    "a recipe as a plan": (
        lambda at: at.student.improve(at.lessons, "reasoning"),
        "ImprovementPlan",
    ),
    "knobs twice": (
        lambda at: COMPILED.compile("tiny-agent", knobs={"effort": "maximum"}, client=at.client),
        "has 'knobs' too",
    ),
    "rows as sources": (lambda at: Curriculum.gather("x", *ROWS, client=at.client), "'type'"),
    "a number as the split": (
        lambda at: Curriculum.gather("x", ROWS, split=0.3, client=at.client),
        "split is an object",
    ),
    "an unknown method": (
        lambda at: FeedbackCollector(client=at.client).build(method="grpo"),
        "wrong type.*method='grpo'",
    ),
    "nobody": (lambda at: FeedbackCollector(client=at.client).forget(NOBODY), "this is NoneType"),
    "no name": (lambda at: Student.get(NOBODY, client=at.client), "this is NoneType"),
    "a number as a skill": (lambda at: at.student.promote(4), "a skill is"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_sentence_about_the_argument(
    client: AgentRFT, student: Student, lessons: Curriculum, mistake: str
) -> None:
    call, sentence = MISTAKES[mistake]
    with pytest.raises(TypeError, match=sentence):
        call(Scene(client, student, lessons))


@cases("name", ["", ".", ".."])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        path_part(name)


def test_what_the_service_warns_of_is_a_warning(client: AgentRFT) -> None:
    with pytest.warns(UserWarning, match="invalid_rows"):
        Curriculum.gather("warned", ROWS, invalid_row="skip", client=client)


def test_filters_and_compiled_jobs_are_named_as_they_are_read(
    client: AgentRFT, lessons: Curriculum
) -> None:
    assert list(FeedbackCollector(client=client).all(type="thumbs")) == []
    compiled = COMPILED.compile(
        "tiny-agent", curriculum={"id": lessons.id}, grader=CHECK, client=client
    )
    assert ImprovementPlan.explain(compiled.job, client=client).knobs.effort == "light"


def test_another_server_is_named() -> None:
    moved = Reply(302, headers={"Location": "https://elsewhere.example/"})
    with (
        endpoint_in_thread(lambda _: moved) as server,
        AgentRFT(f"{server.url()}/v1", "key", retries=0) as client,
        pytest.raises(ConnectionFailed, match="right base URL"),
    ):
        Student.get("clerk", client=client)
