"""The acts of a person on the pages below `/teach`, as far as HTTP goes."""

from collections.abc import Sequence

import httpx

from tests.support.dashboard.visits import Visit

QUESTIONS = (
    "Can I return my lamp?",
    "Is my order late?",
    "Does the warranty cover scratches?",
    "May I change my address?",
    "Do you ship to Norway?",
    "Is the blue chair in stock?",
    "Can I pay by invoice?",
    "Will my refund arrive this week?",
    "Is assembly included?",
    "Can I cancel the contract?",
    "Do you repair old radios?",
    "Is the garden table waterproof?",
    "Can a friend pick up the parcel?",
    "Does the app work offline?",
    "Are batteries part of the set?",
    "Is the discount valid tomorrow?",
    "Can I exchange the shoes?",
    "Do you have gift cards?",
    "Is there a student price?",
    "Will it rain on delivery day?",
    "Does the oven need a filter?",
    "Can I book a visit on Sunday?",
    "Is the manual online?",
    "May I keep the old cable?",
)


def pasted(word: str = "Probably", questions: Sequence[str] = QUESTIONS) -> str:
    """Returns lines as a spreadsheet copies them."""
    topics = ("orders", "products")
    lines = (f"{each}\t{word}\t{topics[at % 2]}" for at, each in enumerate(questions))
    return "\n".join(lines)


def rows(word: str = "Probably") -> dict[str, list[dict[str, object]]]:
    """Returns the same examples as the parts of a curriculum."""
    made: list[dict[str, object]] = [
        {"messages": [{"role": "user", "content": each}], "fact": word, "topic": "orders"}
        for each in QUESTIONS
    ]
    return {"training": made[:14], "validation": made[14:]}


async def follow(visit: Visit, path: str, fields: dict[str, str]) -> httpx.Response:
    """Sends a form and returns the page that it leads to, or that refuses it."""
    token = await visit.form_token("/teach")
    reply = await visit.post(path, {"form_token": token, **fields})
    return await visit.get(reply.headers["location"]) if reply.status_code == 303 else reply


async def make_student(visit: Visit, name: str, keep: Sequence[str] = ()) -> httpx.Response:
    fields = {"name": name, "base_model": "tiny-agent", **{f"keep-{one}": "yes" for one in keep}}
    return await follow(visit, "/teach/students", fields)


async def make_examples(visit: Visit, name: str, **fields: str) -> httpx.Response:
    return await follow(
        visit, "/teach/examples", {"name": name, "kind": "words", "pasted": pasted(), **fields}
    )
