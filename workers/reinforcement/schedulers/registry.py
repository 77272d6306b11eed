"""From a job's mode options to the mode: one line each."""

from typing import assert_never

from app.domain.methods.mode import AnyMode, AsyncOptions, StreamingOptions, SyncOptions
from workers.reinforcement.schedulers.asynchronous import AsyncMode
from workers.reinforcement.schedulers.mode import Mode, SchedulerContext
from workers.reinforcement.schedulers.streaming import StreamingMode
from workers.reinforcement.schedulers.sync import SyncMode


def build_mode(options: AnyMode, rooms: SchedulerContext) -> Mode:
    match options:
        case SyncOptions():
            return SyncMode(rooms)
        case StreamingOptions(minibatches=minibatches):
            return StreamingMode(rooms, minibatches=minibatches)
        case AsyncOptions():
            return AsyncMode(rooms, options)
        case _:
            assert_never(options)
