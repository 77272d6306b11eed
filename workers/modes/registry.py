"""From a job's mode options to the mode: one line each."""

from typing import assert_never

from app.domain.mode_options import AnyMode, AsyncOptions, StreamingOptions, SyncOptions
from workers.modes.asynchronous import AsyncMode
from workers.modes.mode import Mode, Rooms
from workers.modes.streaming import StreamingMode
from workers.modes.sync import SyncMode


def build_mode(options: AnyMode, rooms: Rooms) -> Mode:
    match options:
        case SyncOptions():
            return SyncMode(rooms)
        case StreamingOptions(minibatches=minibatches):
            return StreamingMode(rooms, minibatches=minibatches)
        case AsyncOptions():
            return AsyncMode(rooms, options)
        case _:
            assert_never(options)
