"""Credentials that a judge or the endpoint of a grader repeats: no result has them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.grading.judges import CODED, coded_key, judged_reply
from tests.support.registry.trials import FLAGS, judge, serving
from tests.support.stack import Database


@pytest.mark.parametrize(
    "message",
    [
        {"content": "no number, but Bearer sk-planted-5c1e9a"},
        {"content": None, "refusal": "I refuse sk-planted-5c1e9a"},
        {"content": 'It is of sk-planted-5c1e9a.\n{"KEY": 1}'},
    ],
    ids=["unreadable", "refusal", "reason"],
)
async def test_a_judge_that_repeats_its_credentials(
    database: Database, message: dict[str, Any]
) -> None:
    """Parts of its reply are stored as faults and reasons."""

    def script(received: ReceivedRequest) -> Reply:
        key = coded_key(received.json["messages"])
        said = {name: text and text.replace(CODED, key) for name, text in message.items()}
        return Reply(json={"choices": [{"message": said}]})

    async with endpoint(script) as server, serving(database, server) as trials:
        headers = {"Authorization": "Bearer sk-planted-5c1e9a"}
        own = judge("their-model", base_url=server.url("/v1"), headers=headers)
        answer = await trials.run(own)
    assert server.received[0].headers["authorization"] == headers["Authorization"]
    assert "[redacted]" in json.dumps(answer)
    assert "planted" not in json.dumps(answer)


@pytest.mark.parametrize("blank", ["", "  "])
async def test_a_grader_with_a_blank_credential_is_called(database: Database, blank: str) -> None:

    def script(received: ReceivedRequest) -> Reply:
        if received.path.startswith("/grade"):
            return Reply(json={"score": 0.5})
        return judged_reply(received, '{"KEY": 1}')

    async with endpoint(script) as server, serving(database, server) as trials:
        headers = {"Authorization": blank}
        own = judge("their-model", base_url=server.url("/v1"), headers=headers)
        remote = {"type": "endpoint", "url": server.url("/grade?token=%20"), "headers": headers}
        answers = [await trials.run(grader) for grader in (own, {**remote, "name": "e"})]
    assert [answer["metadata"]["errors"] for answer in answers] == [FLAGS, FLAGS]
    assert [answer["reward"] for answer in answers] == [1.0, 0.5]


SECRET = "sk-pl+nted/5c1e9a=="
ESCAPES: dict[str, Callable[[str], str]] = {
    "a plus": lambda text: text.replace("+", "\\u002B"),
    "all": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
}


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("kind", ["score_model", "llm_judge", "ai_judge"])
async def test_a_judge_that_escapes_what_it_repeats(
    database: Database, kind: str, escape: str
) -> None:
    value = '{"1": 1}' if kind == "ai_judge" else 1
    said = f'I got {ESCAPES[escape](SECRET)}.\n{{"KEY": {value}}}'
    async with (
        endpoint(lambda received: judged_reply(received, said)) as server,
        serving(database, server) as trials,
    ):
        url, headers = server.url("/v1"), {"Authorization": f"Bearer {SECRET}"}
        own = {**judge("their-model", base_url=url, headers=headers), "type": kind}
        if kind != "score_model":
            del own["input"]
            rubric = [{"name": "right", "description": "It is right."}]
            own["rubric"] = rubric if kind == "llm_judge" else "It is right."
        item = {"answer": "42", "messages": [{"role": "user", "content": "What?"}]}
        answer = await trials.run(own, item=item)
    assert answer["metadata"]["errors"] == FLAGS
    assert answer["metadata"]["reasons"] == {"": "I got [redacted]."}


async def test_a_metric_whose_name_is_a_credential_is_left_out(database: Database) -> None:
    headers = {"Authorization": "Bearer CANARYauth8Mn3", "X-Secret": "CANARYhdr7Q9zXw"}
    names = ["CANARYauth8Mn3", "of-CANARYhdr7Q9zXw", "CANARYquery55"]
    metrics = {**dict.fromkeys(names, 0.5), "accuracy": 0.25}
    reply = Reply(json={"score": 0.5, "metrics": metrics})
    async with endpoint(lambda _: reply) as server, serving(database, server) as trials:
        url = server.url("/grade?token=CANARYquery55")
        own = {"type": "endpoint", "name": "g", "url": url, "headers": headers}
        whole = {"type": "multi", "graders": {"a": own}, "calculate_output": "a"}
        answers = [await trials.run(own), await trials.run(whole)]
    assert [answer["reward"] for answer in answers] == [0.5, 0.5]
    assert answers[0]["metadata"]["scores"] == {"accuracy": 0.25}
    assert not any(name in json.dumps(answers) for name in names)
