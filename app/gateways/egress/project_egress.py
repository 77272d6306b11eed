"""The egress as one project uses it: its name lookups and connections count as the project's."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.gateways.egress.egress import Egress, EgressReply
from app.gateways.egress.owners import calls_of


@dataclass(frozen=True, slots=True)
class ProjectEgress:
    inner: Egress
    organization_id: str
    project_id: str

    async def check_url(self, url: str) -> None:
        with calls_of(self.organization_id, self.project_id):
            await self.inner.check_url(url)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        with calls_of(self.organization_id, self.project_id):
            return await self.inner.post(url, headers=headers, body=body, timeout_s=timeout_s)

    async def notify(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        with calls_of(self.organization_id, self.project_id):
            return await self.inner.notify(url, headers=headers, body=body, timeout_s=timeout_s)

    async def probe(self, url: str, *, headers: Mapping[str, str], timeout_s: float) -> EgressReply:
        with calls_of(self.organization_id, self.project_id):
            return await self.inner.probe(url, headers=headers, timeout_s=timeout_s)

    async def delete(
        self, url: str, *, headers: Mapping[str, str], timeout_s: float
    ) -> EgressReply:
        with calls_of(self.organization_id, self.project_id):
            return await self.inner.delete(url, headers=headers, timeout_s=timeout_s)

    async def aclose(self) -> None:
        """Does nothing: projects share the connections."""
