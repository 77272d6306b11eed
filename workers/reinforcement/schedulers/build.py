"""Builds the mode of a job from its options: one line each."""

from typing import assert_never

from app.domain.methods.mode import AnyMode, AsyncOptions, StreamingOptions, SyncOptions
from workers.reinforcement.schedulers.asynchronous import AsyncMode
from workers.reinforcement.schedulers.mode import Mode, SchedulerContext
from workers.reinforcement.schedulers.streaming import StreamingMode
from workers.reinforcement.schedulers.sync import SyncMode


def build_mode(options: AnyMode, context: SchedulerContext) -> Mode:
    match options:
        case SyncOptions():
            return SyncMode(context)
        case StreamingOptions(minibatches=minibatches):
            return StreamingMode(context, minibatches=minibatches)
        case AsyncOptions():
            return AsyncMode(context, options)
        case _:
            assert_never(options)
