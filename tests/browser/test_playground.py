"""The playground in a browser: answers appear while they are sampled, and end with the reader."""

from collections.abc import AsyncIterator, Iterator

import pytest

from app.settings import EgressSettings
from tests.support.api.application import Api
from tests.support.dashboard.browser import Tab, missing
from tests.support.dashboard.scenes import HOSTILE
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.engines.chat_turns import called
from tests.support.patience import until
from tests.support.stack import Database
from tests.support.web.api_server import ApiServer, running_api

BASE = "tiny-agent-2026-11-23"


@pytest.fixture
def engine() -> Iterator[ChatEngine]:
    with chat_engine(BASE) as engine:
        yield engine


@pytest.fixture
async def tool() -> AsyncIterator[EndpointServer]:
    def answer(received: ReceivedRequest) -> Reply:
        call = received.json
        return Reply(json={"output": HOSTILE, "call_id": call["call_id"], "id": call["id"]})

    async with endpoint(answer) as server:
        yield server


@pytest.fixture
def server(database: Database, engine: ChatEngine, tool: EndpointServer) -> Iterator[ApiServer]:
    if reason := missing():
        pytest.skip(reason)
    egress = EgressSettings(allow_endpoints=(tool.host_port,), allow_plain_http=True)
    changes = {"egress": egress, "engine_url": engine.url}
    with running_api(database.settings.model_copy(update=changes)) as server:
        yield server


async def ask(tab: Tab, prompt: str) -> None:
    await tab.page.get_by_label("Prompt").fill(prompt)
    await tab.page.get_by_role("button", name="Ask both").click()


async def test_a_visitor_watches_two_models_call_a_tool(
    api: Api, tab: Tab, engine: ChatEngine, tool: EndpointServer
) -> None:
    sent = {"name": "search", "server_url": tool.url("/search")}
    made = await api.call("POST", "/v1/tools", json=sent)
    assert made.status_code == 200, made.text
    engine.stream, engine.answers_tools = called("search", '{"q": "Nile"}'), True
    await tab.sign_in(api.key)
    await tab.open("/models")
    await tab.page.get_by_label("search").check()
    await ask(tab, "Which river?")
    second = tab.page.get_by_role("region", name="Answer of the second model")
    await second.get_by_text("hello").wait_for()
    await second.get_by_text("7 tokens").wait_for()
    assert await second.get_by_role("group", name="Arguments").inner_text() == '{"q": "Nile"}'
    assert "<script>alert(1)" in await second.get_by_role("group", name="Result").inner_text()
    await second.get_by_text("Reasoning").click()
    await second.get_by_text("Let me look.").wait_for()
    assert await tab.page.locator("main img, main script").count() == 0
    for width in (1440, 360):
        await tab.show("dark", width)
        assert await tab.violations() == []


async def test_stop_and_a_closed_page_end_the_answers(
    api: Api, tab: Tab, engine: ChatEngine
) -> None:
    engine.hang, engine.answer = True, "first half, second half"
    await tab.sign_in(api.key)
    await tab.open("/models")
    await ask(tab, "Which river?")
    await tab.page.get_by_text("first half").first.wait_for()  # it shows before the reply is whole
    await tab.page.get_by_role("button", name="Stop").click()
    await tab.page.get_by_text("Stopped.").first.wait_for()
    await until(engine.cancelled.is_set, what="the end of a call")
    engine.cancelled.clear()
    await ask(tab, "Which river?")
    await until(lambda: len(engine.bodies) == 4, what="both calls")
    await tab.open("/usage")
    await until(engine.cancelled.is_set, what="the end of a call")
