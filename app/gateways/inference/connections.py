"""The pool of connections to one engine."""

from typing import Final

import aiohttp

CONCURRENT_REQUESTS: Final = 512


class Connections:
    """Connection pool. Its session is opened by the first request, because a session belongs to an
    event loop.
    """

    def __init__(self, headers: dict[str, str], timeout: aiohttp.ClientTimeout) -> None:
        self._headers = headers
        self._timeout = timeout
        self._opened: aiohttp.ClientSession | None = None

    def session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONCURRENT_REQUESTS),
                headers=self._headers,
                timeout=self._timeout,
                trust_env=False,
            )
        return self._opened

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None
