"""The early check of a python grader's source: what it refuses with its line, what it lets by."""

import tracemalloc

import pytest

from app.graders.kinds.python import MAX_READ, MAX_SOURCE, PythonGrader, SourceFault, check_source
from tests.support.cases import cases

GRADE = "def grade(sample, item):\n    return 1.0\n"


@cases(
    ("source", "fault"),
    [
        ("", "it defines no function 'grade'"),
        ("def score(sample, item): pass", "write 'def grade(sample, item)'"),
        ("x = 1\ndef grade(sample): pass", "line 2: 'grade' takes two values"),
        ("def grade(sample, item, *, k): pass", "line 1: 'grade' takes two values"),
        ("async def grade(sample, item): pass", "line 1: 'grade' is async"),
        ("def grade(sample, item:\n  pass", "line 1: "),
        ("x = '\x00'\n" + GRADE, "null bytes"),
        ("x = '\ud800'\n" + GRADE, "half of a surrogate pair"),
        ("x = " + "-" * 20_000 + "1\n" + GRADE, "it cannot be read"),
        ("x = " + "(" * 1_000 + ")" * 1_000 + GRADE, "too many nested parentheses"),
        ("#" * MAX_SOURCE + "\n" + GRADE, f"more than the limit of {MAX_SOURCE}"),
        ("import socket\n" + GRADE, "line 1: 'socket' cannot work: the sandbox has no network"),
        ("from http.client import HTTPConnection\n" + GRADE, "'http.client' cannot work"),
        (GRADE + "def late():\n    import subprocess\n", "line 4: 'subprocess' cannot work"),
        ("import ctypes.util\n" + GRADE, "'ctypes' cannot work: the sandbox loads no native code"),
        ("import os\nos.fork()\n" + GRADE, "line 2: 'os.fork' cannot work"),
        ("import os\nos.execv('a', [])\n" + GRADE, "line 2: 'os.execv' cannot work"),
        (GRADE + "x = open('a')\n", "line 3: 'open' cannot work: the sandbox has no files"),
    ],
)
def test_what_can_never_work_is_refused(source: str, fault: str) -> None:
    with pytest.raises(SourceFault) as caught:
        check_source(source)
    assert fault in str(caught.value)


@cases(
    "source",
    [
        GRADE,
        "def grade(*values): return 1",
        "grade = lambda sample, item: 1",
        "class Grade:\n    def __call__(self, sample, item): return 1\ngrade = Grade()",
        "if True:\n    def grade(sample, item): return 1",
        "import os.path, json, urllib.parse, numpy as np\n" + GRADE,
        "def open(x): return x\nopen(1)\n" + GRADE,
        "x = getattr(__import__('o' + 's'), 'fork')\n" + GRADE,  # no protection: a courtesy
    ],
)
def test_what_may_work_passes(source: str) -> None:
    check_source(source)


@cases("dot", [".", "\\\n."])
@cases("name", ["a", "\u2118", "a\u00b7"])
def test_a_long_dotted_name_takes_little_memory(name: str, dot: str) -> None:
    """The parser alone takes 1 GB for the longest of these."""
    names = MAX_READ // len((name + dot).encode()) // 4
    source = "import " + dot.join([name] * names) + "\n" + GRADE
    tracemalloc.start()
    try:
        check_source(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * MAX_READ


def test_the_hosted_fields_are_echoed() -> None:
    sent = {"type": "python", "name": "p", "source": GRADE, "image_tag": "2025-05-08"}
    assert PythonGrader.model_validate(sent).model_dump() == sent
    bare = PythonGrader.model_validate({"type": "python", "source": GRADE})
    assert bare.model_dump() == {"type": "python", "name": "python", "source": GRADE}
