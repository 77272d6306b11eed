"""A sampled turn belongs to the adapter that sampled it; other answers belong to the request."""

from app.kit.ids import SampleKey
from workers.journal import AdapterJournal, InMemoryJournal

KEY = SampleKey("ftjob-1", "valid", 3, 0, 0)


async def test_a_turn_is_found_under_the_adapter_that_sampled_it() -> None:
    journal = InMemoryJournal()
    turn = KEY.turn_key(0)
    await AdapterJournal(journal, "one").put(turn, "request", {"token_ids": [7]})
    assert await AdapterJournal(journal, "one").get(turn, "request") == {"token_ids": [7]}
    assert await AdapterJournal(journal, "one").get(turn, "another request") is None
    assert await AdapterJournal(journal, "two").get(turn, "request") is None
    await AdapterJournal(journal, "two").put(turn, "request", {"token_ids": [8]})
    assert await AdapterJournal(journal, "one").get(turn, "request") is None
    assert await AdapterJournal(journal, "two").get(turn, "request") == {"token_ids": [8]}


async def test_tool_outputs_and_grades_are_found_under_every_adapter() -> None:
    journal = InMemoryJournal()
    for key in (KEY.call_id(0, 0), KEY.grade_id("g"), KEY.group.grade_id("g")):
        await AdapterJournal(journal, "one").put(key, "request", {"said": key})
        assert await AdapterJournal(journal, "two").get(key, "request") == {"said": key}
