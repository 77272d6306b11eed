"""The application with a scripted engine, for feedback about stored answers."""

from collections.abc import AsyncIterator

import pytest

from tests.support.api.conversations import Conversations, conversations
from tests.support.stack import Database


@pytest.fixture
async def chats(database: Database) -> AsyncIterator[Conversations]:
    async with conversations(database) as running:
        yield running
