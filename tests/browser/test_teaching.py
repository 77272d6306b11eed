"""A person without JSON takes a student from nothing to a better version that answers, in a real
browser in front of the real service and the shipped model.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.support.dashboard.browser import Tab, browsing, missing
from tests.support.dashboard.page_forms import forms_of
from tests.support.dashboard.teaching import QUESTIONS, pasted
from tests.support.embedded.installation import Installation, installation

pytestmark = pytest.mark.long

TYPED = 2
"""Examples that are typed; the others are pasted."""

DECIDED = re.compile("It passed the gate|The gate held it back")


@pytest.fixture
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    if reason := missing():
        pytest.skip(reason)
    with installation(tmp_path_factory.mktemp("teaching") / "data", allow=()) as running:
        yield running


@pytest.fixture
async def tab(live: Installation) -> AsyncIterator[Tab]:
    async with browsing(live.base_url.removesuffix("/v1")) as tab:
        yield tab
        assert tab.problems == []


def habit(live: Installation) -> str:
    """Returns a word that the base model says sometimes, so that practice can make it a habit."""
    words = Counter[str]()
    for number, question in enumerate(QUESTIONS):
        reply = live.client().chat.completions.create(
            model="tiny-agent",
            messages=[{"role": "user", "content": question}],
            max_completion_tokens=8,
            seed=number,
        )
        words.update(set(re.findall(r"[A-Za-z]{4,}", reply.choices[0].message.content or "")))
    [(word, count)] = words.most_common(1)
    assert count > 2, words
    return word


async def test_from_nothing_to_a_promoted_better_student(live: Installation, tab: Tab) -> None:
    page, found = tab.page, dict[str, list[str]]()
    await tab.sign_in(live.api_key)
    await page.get_by_role("link", name="Teach").click()
    found |= await forms_of(tab, "/teach nothing")
    await make_student(page)
    await chat(page)
    found |= await forms_of(tab, "/teach chat")
    await make_examples(page, habit(live))
    # A browser writes the status of a refused form to its console.
    [refused], tab.problems = tab.problems, []
    assert "400" in refused
    found |= await forms_of(tab, "/teach made examples")
    await plan(tab, found)
    await page.get_by_role("heading", name="Report card of clerk").wait_for()
    said = await page.locator(".big").inner_text()
    match = re.search(r"answers (\d+) of 10 questions right, up from (\d+)", said)
    assert match is not None, said
    assert int(match[1]) > int(match[2])
    await page.get_by_role("heading", name="Before and after").wait_for()
    assert await page.get_by_text("After, better").count() > 0
    found |= await forms_of(tab, "/teach report card")
    await promote(tab, found)
    assert found == {}
    student = live.get("/students/clerk")
    assert student["current_skill"] is None
    [skill] = live.get("/students/clerk/skills")["data"]
    assert skill["status"] == "passed"


async def make_student(page: Any) -> None:
    await page.get_by_label("Name").fill("clerk")
    await page.get_by_role("button", name="Make the student").click()
    await page.get_by_role("heading", name="clerk").wait_for()
    await page.get_by_text("Sample: Reasoning", exact=True).first.wait_for()


async def chat(page: Any) -> None:
    await page.get_by_role("link", name="Chat").click()
    await page.get_by_label("Your question").fill("Can I return my lamp?")
    await page.get_by_role("button", name="Ask").click()
    await page.get_by_role("button", name="Bad answer").click()
    await page.get_by_text("Thank you.").wait_for()
    # A long answer of the toy may fill its context, so that a next message would be refused.
    await page.get_by_role("link", name="New chat").click()
    await page.get_by_label("Your question").fill("Is my order late?")
    await page.get_by_label("Show two answers to compare").check()
    await page.get_by_role("button", name="Ask").click()
    await page.get_by_role("button", name="The first is better").wait_for()


async def make_examples(page: Any, word: str) -> None:
    await page.get_by_role("link", name="Examples", exact=True).click()
    await page.get_by_label("Name of these examples").fill("Careful answers")
    for number, question in enumerate(QUESTIONS[:TYPED], start=1):
        await page.get_by_label(f"Question {number}", exact=True).fill(question)
        await page.get_by_label(f"Words of a right answer {number}", exact=True).fill(word)
    await page.get_by_label("Columns in this order").fill(pasted(word, QUESTIONS[TYPED:5]))
    await page.get_by_role("button", name="Make the examples").click()
    await page.get_by_text("Examples read: 5. At least 20 are needed.").wait_for()
    await page.get_by_label("Columns in this order").fill(pasted(word, QUESTIONS[TYPED:]))
    await page.get_by_role("button", name="Make the examples").click()
    await page.get_by_role("heading", name="Careful answers").wait_for()


async def plan(tab: Tab, found: dict[str, list[str]]) -> None:
    """Chooses recipe and knobs with the keyboard alone, and starts."""
    page = tab.page
    await page.get_by_role("link", name="Practise with clerk").press("Enter")
    await page.get_by_text("14 examples, 12 steps").wait_for()
    found |= await forms_of(tab, "/teach recipes")
    await page.get_by_role("link", name="Choose Customer support").press("Enter")
    await page.get_by_label("Drift guard").press("Home")
    await page.get_by_text("The student may change a lot.").wait_for()
    await page.get_by_label("Effort for each example").select_option("strong")
    await page.get_by_text("Many attempts at each example").wait_for()
    found |= await forms_of(tab, "/teach plan")
    await page.get_by_role("button", name="Start to practise").press("Enter")
    await page.get_by_role("heading", name="Practice of clerk").wait_for()
    found |= await forms_of(tab, "/teach progress")


async def promote(tab: Tab, found: dict[str, list[str]]) -> None:
    """Proposes the version, lets it answer and goes back."""
    page = tab.page
    await page.get_by_role("button", name="Propose it to the gate").click()
    await page.get_by_text(DECIDED).wait_for()
    text = await page.locator("main").inner_text()
    assert "It passed the gate: you may let it answer." in text, text
    assert (
        await page.get_by_text(re.compile(r"At first \d+ of 24 were answered right")).count() == 1
    )
    found |= await forms_of(tab, "/teach passed")
    await page.get_by_role("button", name="Let it answer").click()
    await page.get_by_role("heading", name="Answers now").wait_for()
    assert await page.locator("dd", has_text="ft:tiny-agent").count() == 1
    found |= await forms_of(tab, "/teach promoted")
    await page.get_by_role("link", name="Researcher's page", exact=True).first.click()
    await page.get_by_role("heading", name="Models", exact=True).wait_for()
    await page.go_back()
    await page.get_by_text("Go back to the beginning…").click()
    await page.get_by_role("button", name="Let the base model answer").click()
    await page.get_by_role("button", name="Let it answer again").wait_for()
