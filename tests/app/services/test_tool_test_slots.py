import pytest

from app.domain.errors import RateLimited
from app.services.registry.tool_test_slots import MAX_TESTS, ToolTestSlots


def test_a_project_has_a_few_slots_and_takes_none_of_another() -> None:
    places = ToolTestSlots()
    running = [places.taken("proj_a") for _ in range(MAX_TESTS)]
    for place in running:
        place.__enter__()
    with pytest.raises(RateLimited) as caught, places.taken("proj_a"):
        pass
    assert caught.value.retry_after_s == 10
    with places.taken("proj_b"):
        pass
    running[0].__exit__(None, None, None)
    with pytest.raises(ValueError, match="broke"), places.taken("proj_a"):
        raise ValueError("broke")
    with places.taken("proj_a"):
        pass
