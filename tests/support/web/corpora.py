"""Hostile bodies by name, for tests and benchmarks: JSON, multipart forms, ranges.

Each stands for a published fault of a parser in this stack, or of one like it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

BOUNDARY = b"0123456789abcdef"
_MIB = 1 << 20

JSON_BODIES: dict[str, bytes] = {
    "deep arrays": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and closed": b'{"model":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "5,000-digit integer": b'{"seed": ' + b"9" * 5000 + b"}",
    "1,000,000-digit integer": b'{"seed": ' + b"9" * 1_000_000 + b"}",
    "number out of range": b'{"seed": 1e99999}',
    "NaN": b'{"model": NaN}',
    "Infinity": b'{"model": -Infinity}',
    "duplicate keys": b'{"model": "a", "model": "b"}',
    "NUL": b'{"model": "a\\u0000b"}',
    "raw NUL": b'{"model": "a\x00b"}',
    "lone surrogate": b'{"model": "\\ud800"}',
    "surrogate in a key": b'{"\\udfff": 1}',
    "byte order mark": b'\xef\xbb\xbf{"model": NaN}',
    "UTF-16": '{"model": NaN}'.encode("utf-16"),
    "not UTF-8": b'{"model": "\xff\xfe"}',
    "overlong UTF-8": b'{"model": "\xc0\xaf"}',
    "not JSON": b"model=tiny&seed=1",
    "cut off": b'{"model": "a',
    "two values": b"{} {}",
    "4 MB of empty lists": b'{"a": [' + b"[]," * 1_390_000 + b"[]]}",
    "4 MB of empty objects": b'{"a": [' + b"{}," * 1_390_000 + b"{}]}",
    "4 MB of numbers": b'{"a": [' + b"1.5," * 1_000_000 + b"1]}",
    "4 MB of empty strings": b'{"a": [' + b'"",' * 1_300_000 + b'""]}',
    "4 MB of strings that are not JSON": b'"" ' * 1_300_000,
    "4 MB of keys": b"{" + b",".join(b'"%d":0' % n for n in range(380_000)) + b"}",
    "4 MB of backslashes": b'{"a": "' + b"\\\\" * 1_900_000 + b'\\ud800"}',
    "4 MB of quotes that never close": b'{"a": ' + b'["' * 1_900_000,
}

RANGES: dict[str, str] = {
    "many": "bytes=" + ",".join(f"{n}-" for n in range(6000)),
    "overlapping": "bytes=" + "0-," * 10_000,
    "suffixes": "bytes=" + "-1," * 10_000,
    "zeros": "bytes=" + "0" * 30_000 + "-1",
    "backwards": "bytes=9-1",
    "spaces": "bytes=" + " " * 30_000 + "x",
    "past the end": "bytes=999999999999999999999-",
    "not bytes": "lines=1-2",
}


@dataclass(frozen=True, slots=True)
class MultipartForm:
    content_type: str
    chunks: Callable[[], Iterator[bytes]]


def _form(*chunks: bytes, boundary: bytes = BOUNDARY, times: int = 1) -> MultipartForm:
    def all_chunks() -> Iterator[bytes]:
        yield from chunks[:-1]
        for _ in range(times):
            yield chunks[-1]

    return MultipartForm(f"multipart/form-data; boundary={boundary.decode('latin-1')}", all_chunks)


def _part(name: str, more: bytes = b"") -> bytes:
    disposition = f'Content-Disposition: form-data; name="{name}"; filename="f"'.encode()
    return b"--" + BOUNDARY + b"\r\n" + disposition + b"\r\n" + more + b"\r\n"


def _many_parts(_: str) -> MultipartForm:
    tiny = b"--" + BOUNDARY + b'\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    return _form(tiny * 15_000, times=20)


def _with_type(content_type: str) -> Callable[[str], MultipartForm]:
    return lambda field: MultipartForm(content_type, lambda: iter([_part(field) + b"x"]))


FORMS: dict[str, Callable[[str], MultipartForm]] = {
    "a million tiny parts": _many_parts,
    "a huge field": lambda _: _form(_part("other"), b"x" * _MIB, times=64),
    "a huge part header": lambda _: _form(
        b"--" + BOUNDARY + b"\r\nX-Long: ", b"x" * _MIB, times=32
    ),
    "a huge header name": lambda _: _form(b"--" + BOUNDARY + b"\r\n", b"x" * _MIB, times=32),
    "many part headers": lambda _: _form(b"--" + BOUNDARY + b"\r\n", b"A: b\r\n" * 100_000),
    "a preamble of line feeds": lambda _: _form(b"\r\n" * (_MIB // 2), times=64),
    "a preamble of text": lambda _: _form(b"preamble " * 100_000, times=16),
    "an epilogue": lambda field: _form(
        _part(field) + b"x\r\n--" + BOUNDARY + b"--\r\n", b"-" * _MIB, times=64
    ),
    "invalid delimiters": lambda field: _form(
        _part(field), (b"\r\n--" + BOUNDARY + b"x") * 40_000, times=16
    ),
    "one-byte boundary": lambda field: _form(
        _part(field).replace(BOUNDARY, b"a"), b"\r\n--ab" * 150_000, boundary=b"a", times=16
    ),
    "carriage returns without an end": lambda field: _form(
        _part(field), b"\r\n--0123456789abcde" * 50_000, times=16
    ),
    "no end": lambda field: _form(_part(field) + b"x"),
    "no parts": lambda _: _form(b"--" + BOUNDARY + b"--\r\n"),
    "nothing": lambda _: _form(b""),
    "a name twice": lambda field: _form((_part(field) + b"x\r\n") * 2),
    "no name": lambda _: _form(
        b"--" + BOUNDARY + b"\r\nContent-Disposition: form-data\r\n\r\nx\r\n--" + BOUNDARY + b"--"
    ),
    "no header": lambda _: _form(b"--" + BOUNDARY + b"\r\n\r\nx\r\n--" + BOUNDARY + b"--\r\n"),
    "no boundary": _with_type("multipart/form-data"),
    "an empty boundary": _with_type("multipart/form-data; boundary="),
    "a huge boundary": _with_type("multipart/form-data; boundary=" + "b" * 5000),
    "a type for a slow pattern": _with_type("multipart/form-data; !=" + '"\\' * 4000),
    "many options": _with_type("multipart/form-data; " + "a=b; " * 4000),
    "no type": _with_type("application/json"),
    "a million urlencoded fields": lambda _: MultipartForm(
        "application/x-www-form-urlencoded", lambda: iter([b"a=b&" * 250_000] * 4)
    ),
}
