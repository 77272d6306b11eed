import pytest

from app.kit.errors import RateLimited
from app.kit.slots import ProjectSlots

LIMIT = 2


def test_a_project_has_a_few_slots_and_takes_none_of_another() -> None:
    slots = ProjectSlots(LIMIT, noun="tool tests", retry_after_s=10)
    running = [slots.taken("proj_a") for _ in range(LIMIT)]
    for slot in running:
        slot.__enter__()
    with pytest.raises(RateLimited) as caught, slots.taken("proj_a"):
        pass
    assert caught.value.retry_after_s == 10
    assert str(caught.value) == "2 tool tests of this project are running; wait for one to end."
    with slots.taken("proj_b"):
        pass
    running[0].__exit__(None, None, None)
    with pytest.raises(ValueError, match="broke"), slots.taken("proj_a"):
        raise ValueError("broke")
    with slots.taken("proj_a"):
        pass
