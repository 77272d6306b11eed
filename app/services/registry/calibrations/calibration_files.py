"""Reads the samples of a calibration from a JSONL file, on threads and in short steps.

Owns the format of a line and the limits of a file. A line is parsed by one call that holds the
interpreter lock, so its size is limited: 1 MiB takes about 10 ms.
"""

from collections.abc import AsyncIterator, Collection
from functools import partial
from typing import Any, Final

from app.domain.data.chat_rows import is_blank
from app.domain.errors import InvalidRequest
from app.domain.graders.templates.template_faults import SAMPLE_KEYS
from app.domain.texts.strict_json import MAX_VALUES, TooManyValues, count_values, strict_loads
from app.grading.calibration.calibration import MAX_ITEM_VALUES, MAX_SAMPLES, Sample
from app.grading.computing import run_on_scoring_thread

MAX_FILE_BYTES: Final = 33_554_432
MAX_SAMPLE_BYTES: Final = 1_048_576
_PIECE_BYTES: Final = 65_536
_KEYS: Final = frozenset({"item", "model_sample", "sample"})
_LISTS: Final = ("choices", "output_tools", "tool_calls", "turns")
_TEXTS: Final = ("output_reasoning_summary", "stop_reason")


def check_number(count: int, param: str) -> None:
    """Raises `InvalidRequest` for no samples and for too many."""
    if not count:
        raise InvalidRequest("There are no samples.", param=param, code="no_samples")
    if count > MAX_SAMPLES:
        raise InvalidRequest(
            f"There are {count} samples, more than {MAX_SAMPLES}: send fewer.",
            param=param,
            code="too_many_samples",
        )


def check_values(count: int, param: str) -> None:
    """Raises `InvalidRequest` for too many values in the items of all samples."""
    if count > MAX_ITEM_VALUES:
        raise InvalidRequest(
            f"The items contain more than {MAX_ITEM_VALUES} values: send fewer samples.",
            param=param,
            code="too_many_values",
        )


async def read_samples(chunks: AsyncIterator[bytes]) -> list[Sample]:
    """Reads lines of `{"item", "model_sample"}`, or of `{"item", "sample"}`, whose `sample` has an
    `output_text` and any other part that graders of jobs read, such as the calls of a rollout.

    Raises `InvalidRequest`.
    """
    lines = _Lines()
    async for chunk in chunks:
        await run_on_scoring_thread(partial(lines.feed, chunk))
    return await run_on_scoring_thread(lines.samples)


class _Lines:
    """Splits chunks of a file into lines, keeps lines up to the limit, and counts the others."""

    def __init__(self) -> None:
        self._bytes = 0
        self._pending = b""
        self._number = 0
        self._count = 0
        self._kept: list[tuple[int, bytes]] = []

    def feed(self, chunk: bytes) -> None:
        self._bytes += len(chunk)
        if self._bytes > MAX_FILE_BYTES:
            message = f"The file is larger than {MAX_FILE_BYTES} bytes."
            raise _refused(message)
        for start in range(0, len(chunk), _PIECE_BYTES):
            *lines, self._pending = (self._pending + chunk[start : start + _PIECE_BYTES]).split(
                b"\n"
            )
            for line in lines:
                self._line(line)
            if len(self._pending) > MAX_SAMPLE_BYTES:
                raise _too_long(self._number + 1)

    def _line(self, line: bytes) -> None:
        self._number += 1
        if is_blank(line):
            return
        if len(line) > MAX_SAMPLE_BYTES:
            raise _too_long(self._number)
        self._count += 1
        if self._count <= MAX_SAMPLES:
            self._kept.append((self._number, line))

    def samples(self) -> list[Sample]:
        self._line(self._pending)
        check_number(self._count, "file_id")
        samples, values = list[Sample](), 0
        for number, line in self._kept:
            samples.append(_read(line, number))
            values += count_values(samples[-1].item) + count_values(samples[-1].more or {})
            check_values(values, "file_id")
        return samples


def _read(line: bytes, number: int) -> Sample:
    try:
        row: Any = strict_loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except TooManyValues:
        message = f"Line {number} of the file contains more than {MAX_VALUES} values."
        raise _refused(message) from None
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise _no_sample(number)
    _refuse_unknown(row, _KEYS, f"Line {number} of the file")
    item, text, sample = row.get("item"), row.get("model_sample"), row.get("sample")
    if not (item is None or isinstance(item, dict)):
        raise _no_sample(number)
    if sample is None and isinstance(text, str):
        return Sample(text, item or {})
    if isinstance(sample, dict):
        if text is not None:
            raise _refused(
                f"Line {number} of the file has both 'model_sample' and 'sample', which has the "
                "answer as its 'output_text': send one of them."
            )
        return _whole(sample, item or {}, number)
    raise _no_sample(number)


def _whole(sample: dict[str, Any], item: dict[str, Any], number: int) -> Sample:
    """Returns the sample with all its parts. Raises `InvalidRequest` for one that no job could
    produce.
    """
    owner = f"'sample' in line {number} of the file"
    _refuse_unknown(sample, SAMPLE_KEYS, owner)
    parts = {key: value for key, value in sample.items() if value is not None}
    text = parts.pop("output_text", None)
    if not isinstance(text, str):
        raise _refused(f"{owner} has no text 'output_text', which is the answer.")
    for key in _LISTS:
        entries = parts.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise _refused(f"{owner} has a '{key}' that is not a list of objects.")
    for key in _TEXTS:
        if not isinstance(parts.get(key, ""), str):
            raise _refused(f"{owner} has a '{key}' that is not text.")
    return Sample(text, item, parts or None)


def _refuse_unknown(holder: dict[str, Any], known: Collection[str], owner: str) -> None:
    unknown = [key for key, value in holder.items() if key not in known and value is not None]
    if unknown:
        raise _refused(f"{owner} has an unknown key {unknown[0][:80]!r}.")


def _no_sample(number: int) -> InvalidRequest:
    return _refused(
        f"Line {number} of the file is not a JSON object with a text 'model_sample' and an 'item'."
    )


def _too_long(number: int) -> InvalidRequest:
    return _refused(f"Line {number} of the file is longer than {MAX_SAMPLE_BYTES} bytes.")


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="file_id", code="invalid_file")
