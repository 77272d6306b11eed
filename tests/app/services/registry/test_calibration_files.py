"""The samples of a calibration, as they are read from a file and refused."""

import threading
from collections.abc import AsyncIterator

import pytest

from app.graders import calibration_service as calibration_files
from app.graders.calibration import MAX_SAMPLES, Sample
from app.graders.calibration_service import MAX_SAMPLE_BYTES, check_number, read_samples
from app.kit.errors import InvalidRequest
from tests.support.cases import cases

LINE = b'{"model_sample": "Ulm", "item": {"n": 1}}\n'


async def chunks(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 100_003):
        yield content[start : start + 100_003]


async def refused(content: bytes) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        await read_samples(chunks(content))
    assert caught.value.param == "file_id"
    return caught.value


async def test_both_forms_are_read_and_blank_lines_are_not() -> None:
    content = (
        b'\xef\xbb\xbf{"model_sample": "Ulm", "item": null}\r\n\n  \n'
        b'{"sample": {"output_text": "Bonn"}, "item": {"n": 2}, "unread": null}'
    )
    found = await read_samples(chunks(content))
    assert found == [Sample("Ulm", {}), Sample("Bonn", {"n": 2})]
    assert len(await read_samples(chunks(LINE * MAX_SAMPLES))) == MAX_SAMPLES


async def test_all_parts_of_a_sample_are_kept() -> None:
    line = (
        b'{"item": {"n": 1}, "sample": {"output_text": "Ulm", "tool_calls": [{"name": "a"}],'
        b' "turns": [], "stop_reason": "final_answer", "output_json": null, "choices": [{}]}}'
    )
    more = {"tool_calls": [{"name": "a"}], "turns": [], "stop_reason": "final_answer"}
    more |= {"choices": [{}]}
    assert await read_samples(chunks(line)) == [Sample("Ulm", {"n": 1}, more)]


async def test_too_many_samples_are_refused_with_their_number_wherever_they_are() -> None:
    with pytest.raises(InvalidRequest) as inline:
        check_number(737, "samples")
    in_file = await refused(LINE * 737)
    assert in_file.message == inline.value.message
    assert in_file.message == "There are 737 samples, more than 500: send fewer."
    assert (in_file.code, inline.value.param) == ("too_many_samples", "samples")


@cases(
    ("content", "said"),
    [
        (LINE + b"\n{", "Line 3 of the file is not a JSON object"),
        (
            LINE + b'{"model_sample": "x", "item": {"a": [' + b"0," * 25_000 + b"0]}}",
            "Line 2 of the file contains more than 25000 values.",
        ),
        (b'{"model_sample": "x", "items": {}}', "Line 1 of the file has an unknown key 'items'"),
        (
            b'{"model_sample": "x", "sample": {"output_text": "y"}}',
            "Line 1 of the file has both 'model_sample' and 'sample'",
        ),
        (
            LINE + b'{"sample": {"output_text": "y", "toolcalls": []}}',
            "'sample' in line 2 of the file has an unknown key 'toolcalls'",
        ),
        (
            b'{"sample": {"output_text": "y", "stop_reason": 7}}',
            "'sample' in line 1 of the file has a 'stop_reason' that is not text",
        ),
        (LINE + b" " * 7 + b"x" * (MAX_SAMPLE_BYTES + 1), "Line 2 of the file is longer"),
    ],
)
async def test_a_file_that_cannot_be_read_is_refused_with_its_line(
    content: bytes, said: str
) -> None:
    assert (await refused(content)).message.startswith(said)


async def test_lines_are_parsed_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def parsed(_: str) -> dict[str, str]:
        threads.append(threading.get_ident())
        return {"model_sample": "Ulm"}

    monkeypatch.setattr(calibration_files, "strict_loads", parsed)
    await read_samples(chunks(LINE * 3))
    assert len(threads) == 3
    assert threading.get_ident() not in threads
