"""Combines the tools of a job that has several kinds of tools.

Must not know the kinds: the name of a tool decides which set answers a call.
"""

from collections.abc import Sequence
from typing import Any

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.tools.outcome import ToolOutcome
from workers.journal.journal import Journal
from workers.rollout.tools import CallPosition, RolloutTools


class JobTools:
    """Implements `workers.rollout.tools.RolloutTools` over several sets of tools, whose names
    differ.
    """

    def __init__(self, kinds: Sequence[RolloutTools]) -> None:
        self._kinds = kinds
        self._owners: dict[str, RolloutTools] = {}

    def offered(self, row: DatasetRow) -> list[dict[str, Any]]:
        offered = [(tool, kind) for kind in self._kinds for tool in kind.offered(row)]
        self._owners |= {tool["function"]["name"]: kind for tool, kind in offered}
        return [tool for tool, _ in offered]

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        return await self._owners[name].call(position, name, arguments, journal=journal)

    async def release(self, key: SampleKey) -> None:
        for kind in self._kinds:
            await kind.release(key)
