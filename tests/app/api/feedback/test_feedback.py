"""Feedback over HTTP: what is taken, what is refused, what is found."""

from typing import Any

import pytest

from tests.support.api.conversations import FEEDBACK, Conversations
from tests.support.api.organization import execute
from tests.support.stack import Database

TEXTS: dict[str, Any] = {
    "type": "preference",
    "messages": [{"role": "user", "content": "Where is it?"}],
    "chosen": "In Rome.",
    "rejected": "I do not know.",
}


TOOLS: Any = [{"type": "function", "function": {"name": "f"}}]


def calling(name: str, arguments: str) -> Any:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


async def test_thumbs_on_a_stored_answer(chats: Conversations) -> None:
    answer = await chats.said("Where?", "Rome", user="u-1")
    made = await chats.judge(
        type="thumbs", completion_id=answer, rating="down", author="ann", comment="It is Oslo."
    )
    assert made == {
        "id": made["id"],
        "object": "feedback",
        "created_at": made["created_at"],
        "type": "thumbs",
        "rating": "down",
        "completion_id": answer,
        "author": "ann",
        "end_user": "u-1",
        "comment": "It is Oslo.",
        **dict.fromkeys(
            ("rejected_completion_id", "rollout_id", "messages", "tools", "better", "worse")
        ),
    }
    path = f"{FEEDBACK}/{made['id']}"
    assert await chats("GET", path) == made
    assert await chats("DELETE", path) == {"id": made["id"], "object": "feedback", "deleted": True}
    assert await chats.refused("GET", path) == ("id", "feedback_not_found")
    assert await chats.refused("DELETE", path) == ("id", "feedback_not_found")


async def test_a_correction_is_a_text_or_a_message(chats: Conversations) -> None:
    answer = await chats.said("Where?", "Rome", tools=TOOLS)
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    made = [
        await chats.judge(type="correction", completion_id=answer, correction=sent)
        for sent in ("Oslo", message)
    ]
    assert [one["better"] for one in made] == [{"role": "assistant", "content": "Oslo"}, message]


async def test_preferences_between_answers_and_between_texts(chats: Conversations) -> None:
    better, worse = await chats.said("Where?", "Rome"), await chats.said("Where?", "Oslo")
    made = await chats.judge(
        type="preference", chosen_completion_id=better, rejected_completion_id=worse
    )
    assert (made["completion_id"], made["rejected_completion_id"]) == (better, worse)
    texts = await chats.judge(**TEXTS)
    assert texts["messages"] == TEXTS["messages"]
    assert texts["better"] == {"role": "assistant", "content": "In Rome."}
    assert texts["worse"] == {"role": "assistant", "content": "I do not know."}


async def test_feedback_goes_with_its_completion(chats: Conversations) -> None:
    answer = await chats.said("Where?", "Rome")
    made = await chats.thumbs(answer, "up")
    await chats("DELETE", f"/v1/chat/completions/{answer}")
    assert await chats.refused("GET", f"{FEEDBACK}/{made}") == ("id", "feedback_not_found")


async def test_feedback_is_listed_by_conditions_and_pages(chats: Conversations) -> None:
    first, second = await chats.said("a", "b", user="u-1"), await chats.said("c", "d")
    made = [
        await chats.thumbs(first, "up", author="ann"),
        await chats.thumbs(second, "down", author="ann", end_user="u-2"),
        (await chats.judge(**TEXTS))["id"],
    ]

    async def listed(query: str) -> list[str]:
        return [one["id"] for one in (await chats("GET", f"{FEEDBACK}?{query}"))["data"]]

    assert await listed("") == made[::-1]
    assert await listed("type=thumbs") == made[1::-1]
    assert await listed("author=ann&end_user=u-1") == made[:1]
    assert await listed(f"completion_id={second}") == made[1:2]
    assert await listed(f"limit=1&after={made[2]}") == made[1:2]
    assert await listed("rollout_id=none") == []


async def test_another_project_neither_sees_nor_judges(chats: Conversations) -> None:
    answer = await chats.said("Where?", "Rome")
    made = await chats.thumbs(answer, "up")
    other = chats.api.other_key
    for method in ("GET", "DELETE"):
        for path in (f"{FEEDBACK}/{made}", f"/v1/chat/completions/{answer}"):
            reply = await chats.api.call(method, path, key=other)
            assert reply.status_code == 404, (method, path)
    sent = {"type": "thumbs", "completion_id": answer, "rating": "down"}
    reply = await chats.api.call("POST", FEEDBACK, key=other, json=sent)
    assert reply.json()["error"]["code"] == "completion_not_found"
    assert (await chats("GET", FEEDBACK, key=other))["data"] == []
    assert (await chats("GET", f"{FEEDBACK}/{made}"))["id"] == made


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "thumbs", "rating": "up"}, "completion_id", "missing_required_parameter"),
    ({"type": "thumbs", "completion_id": "ID", "rating": "good"}, "rating", "invalid_value"),
    (
        {"type": "thumbs", "completion_id": "ID", "rollout_id": "x", "rating": "up"},
        *("rollout_id", "invalid_value"),
    ),
    (
        {"type": "thumbs", "completion_id": "ID", "rating": "up", "correction": "x"},
        *("correction", "invalid_parameter_combination"),
    ),
    ({"type": "thumbs", "completion_id": "x", "rating": "up"}, "completion_id",
     "completion_not_found"),
    (
        {"type": "correction", "completion_id": "ID", "correction": {"role": "user",
         "content": "x"}},
        *("correction", "invalid_value"),
    ),
    *(
        ({"type": "correction", "completion_id": "ID", "correction": correction},
         f"correction{param}", code)
        for correction, param, code in (
            (" \n", "", "invalid_value"),
            (calling("f", "{bad"), ".tool_calls[0].function.arguments", "invalid_value"),
        )
    ),
    ({**TEXTS, "chosen": calling("g", "{}"), "tools": TOOLS},
     "chosen.tool_calls[0].function.name", "invalid_value"),
    ({**TEXTS, "rejected": TEXTS["chosen"]}, "rejected", "invalid_value"),
    ({**TEXTS, "messages": [{"role": "x"}]}, "messages[0].role", "invalid_value"),
    ({**TEXTS, "messages": [*TEXTS["messages"], calling("f", "{}"), *TEXTS["messages"]]},
     "messages[1].tool_calls", "invalid_value"),
    ({**TEXTS, "chosen_completion_id": "ID"}, "chosen_completion_id",
     "invalid_parameter_combination"),
    (
        {"type": "preference", "chosen_completion_id": "ID", "rejected_completion_id": "ID"},
        *("rejected_completion_id", "invalid_value"),
    ),
    (
        {"type": "preference", "chosen_completion_id": "ID", "rejected_completion_id": "OTHER"},
        *("rejected_completion_id", "invalid_value"),
    ),
    ({**TEXTS, "zzz": 1}, "zzz", "unknown_parameter"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "param", "code"), REFUSED)
async def test_what_cannot_be_judged_is_refused(
    chats: Conversations, sent: dict[str, Any], param: str, code: str
) -> None:
    ids = {"ID": await chats.said("Where?", "Rome"), "OTHER": await chats.said("When?", "Now")}
    body = {
        name: ids.get(value, value) if isinstance(value, str) else value
        for name, value in sent.items()
    }
    assert await chats.refused("POST", FEEDBACK, **body) == (param, code)
    assert (await chats("GET", FEEDBACK))["data"] == []


async def test_an_answer_with_several_choices_is_not_judged(
    chats: Conversations, database: Database
) -> None:
    answer = await chats.said("Where?", "Rome")
    execute(
        database,
        "UPDATE stored_completions SET reply = jsonb_set(reply, '{choices}',"
        " reply->'choices' || (reply->'choices'))",
    )
    sent = {"type": "thumbs", "completion_id": answer, "rating": "up"}
    assert await chats.refused("POST", FEEDBACK, **sent) == ("completion_id", "invalid_value")


async def findings(chats: Conversations) -> list[tuple[str, list[str]]]:
    found = await chats("GET", f"{FEEDBACK}/findings")
    assert found["total"] == len(found["data"])
    return [(one["kind"], one["feedback_ids"]) for one in found["data"]]


async def test_duplicates_and_contradictions_are_found(chats: Conversations) -> None:
    rome = await chats.said("Where?", "Rome")
    assert await findings(chats) == []
    twice = [await chats.thumbs(rome, "up", author="ann") for _ in range(2)]
    anonymous = [await chats.thumbs(rome, "up") for _ in range(2)]
    assert await findings(chats) == [("duplicate", twice)]
    down = await chats.thumbs(rome, "down", author="bob")
    both = ("thumbs_both_ways", [twice[1], *anonymous, down])
    assert await findings(chats) == [("duplicate", twice), both]
    oslo = await chats.said("Where?", "Oslo")
    corrected = await chats.judge(type="correction", completion_id=oslo, correction="Rome")
    repeated = ("correction_repeats_rejected", [down, corrected["id"]])
    assert await findings(chats) == [("duplicate", twice), both, repeated]


async def test_a_circle_of_preferences_is_found_without_what_hangs_on_it(
    chats: Conversations,
) -> None:
    async def prefer(chosen: str, rejected: str) -> str:
        made = await chats.judge(**{**TEXTS, "chosen": chosen, "rejected": rejected})
        return str(made["id"])

    await prefer("z", "a")
    circle = [await prefer(*pair) for pair in ("ab", "bc", "ca")]
    await prefer("c", "d")
    await prefer("d", "e")
    assert await findings(chats) == [("preference_cycle", circle)]
