"""Event files for TensorBoard, written and read back with its own library. No value is written
twice: a step is one record with a checksum, records are on the disk when `write` returns, and a
directory is read back before it is written again, so that a record which a killed process left is
kept or was never complete.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Final

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.plugins.text.metadata import create_summary_metadata
from tensorboard.summary.writer.record_writer import RecordWriter

from workers.trackers.tracker import NOTHING_NEW, Document, TrackerUpdate, WriteReport, documents_of

_VERSION: Final = "brain.Event:2"
_NAME: Final = "events.out.tfevents"

_ROLLOUTS: Final = "rollouts"
"""Beginning of the tags of rollouts, and their directory, which is removed when rollouts are."""

Values = dict[int, list[Any]]


class EventFiles:
    """The event files of one job: settings and report in its directory, all else below it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runs = dict[str, _EventDirectory]()

    def write(self, update: TrackerUpdate) -> WriteReport:
        by_split = defaultdict[str, Values](lambda: defaultdict(list))
        for point in update.points:
            value = Summary.Value(tag=point.name, simple_value=point.value)
            by_split[point.split][point.step].append(value)
        for document in documents_of(update):
            below = _ROLLOUTS if document.tag.startswith(_ROLLOUTS) else "."
            by_split[below][document.step].append(_text(document))
        for split, values in by_split.items():
            self._run(split).write(values, at=update.written_at)
        return NOTHING_NEW

    def close(self) -> None:
        for run in self._runs.values():
            run.close()

    def _run(self, split: str) -> "_EventDirectory":
        if split not in self._runs:
            self._runs[split] = _EventDirectory(self._directory / split)
        return self._runs[split]


class _EventDirectory:
    """One directory of event files. Each process that writes there adds a file."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self._steps = defaultdict[str, set[int]](set)
        self._read = dict[Path, int]()
        self._file: IO[bytes] | None = None

    def write(self, values: Values, *, at: float) -> None:
        self._read_others()
        events = [
            Event(wall_time=at, step=step, summary=Summary(value=new))
            for step, found in sorted(values.items())
            if (new := [one for one in found if step not in self._steps[one.tag]])
        ]
        if not events:
            return
        self._append(events)
        for event in events:
            for value in event.summary.value:
                self._steps[value.tag].add(event.step)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _read_others(self) -> None:
        own = None if self._file is None else Path(self._file.name)
        sizes = {
            file: file.stat().st_size
            for file in sorted(self._directory.glob(f"{_NAME}.*"))
            if file != own
        }
        for file in [file for file, size in sizes.items() if self._read.get(file) != size]:
            for event in EventFileLoader(str(file)).Load():
                for value in event.summary.value:
                    self._steps[value.tag].add(event.step)
        self._read = sizes

    def _append(self, events: Iterable[Event]) -> None:
        if self._file is None:
            self._file = (self._directory / f"{_NAME}.{time.time_ns()}.{os.getpid()}").open("xb")
            events = [Event(wall_time=time.time(), file_version=_VERSION), *events]
        writer = RecordWriter(self._file)
        for event in events:
            writer.write(event.SerializeToString())
        writer.flush()
        os.fsync(self._file.fileno())


def _text(document: Document) -> Summary.Value:
    tensor = TensorProto(
        dtype=DT_STRING,
        string_val=[document.text.encode("utf-8", "replace")],
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
    )
    metadata = create_summary_metadata(display_name=None, description=None)
    return Summary.Value(tag=document.tag, metadata=metadata, tensor=tensor)
