import asyncio

import pytest

from app.graders.kinds.remote import EndpointGrader
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.errors import InvalidRequest
from app.tools import definition_check
from app.tools.definition_check import check_definitions
from tests.support.patience import PATIENCE_S
from tests.support.registry.services import no_judges


async def test_name_servers_that_take_their_time_are_abandoned_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = asyncio.Event()

    async def slow(_: str, __: int) -> list[str]:
        await answered.wait()
        return ["93.184.216.34"]

    monkeypatch.setattr(definition_check, "CHECK_LIMIT_S", 0.5)
    egress = EgressClient(EgressPolicy(), lookup=slow)
    graders = [
        (f"criteria[{n}]", EndpointGrader(type="endpoint", url=f"https://g{n}.example/"))
        for n in range(50)
    ]
    models = no_judges()
    # Of fifty names with a limit of their own, this would be the first one's message.
    with pytest.raises(InvalidRequest, match=r"looked up within 0\.5 s"):
        await check_definitions(graders, egress=egress, models=models)
    monkeypatch.setattr(definition_check, "CHECK_LIMIT_S", PATIENCE_S)
    answered.set()
    await check_definitions(graders[:1], egress=egress, models=models)
    await egress.aclose()
