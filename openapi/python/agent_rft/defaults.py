"""The clients that nouns use when none is given: one for the process, one for each event loop."""

import asyncio
from functools import cache
from weakref import WeakKeyDictionary

from agent_rft.asynchronous.client import AsyncAgentRFT
from agent_rft.synchronous.client import AgentRFT

_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncAgentRFT] = WeakKeyDictionary()


@cache
def default_client() -> AgentRFT:
    """Returns the client of this process, whose address and key come from the environment."""
    return AgentRFT()


def default_async_client() -> AsyncAgentRFT:
    """Returns the client of the running event loop: connections belong to the loop they began in.

    Raises `RuntimeError` outside a coroutine.
    """
    loop = asyncio.get_running_loop()
    if loop not in _of_loops:
        _of_loops[loop] = AsyncAgentRFT()
    return _of_loops[loop]
