"""One exception stands for the group that a task group raises."""

import asyncio

import pytest

from app.kit.errors import first_fault


async def fail(error: BaseException) -> None:
    raise error


async def test_the_first_exception_of_a_task_group_is_raised_and_the_group_is_its_cause() -> None:
    cancelled = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    first = LookupError("first")
    with pytest.raises(LookupError) as caught, first_fault():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(wait())
            tasks.create_task(fail(first))
            tasks.create_task(fail(KeyError("second")))
    assert caught.value is first
    assert isinstance(caught.value.__cause__, BaseExceptionGroup)
    assert cancelled.is_set()


async def test_nested_groups_give_the_innermost_cause() -> None:
    async def inner() -> None:
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fail(LookupError()))

    with pytest.raises(LookupError), first_fault():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(inner())


async def test_a_cancellation_and_a_plain_exception_pass_through() -> None:
    async def wait() -> None:
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(asyncio.Event().wait())

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ValueError, match="plain"), first_fault():
        raise ValueError("plain")
