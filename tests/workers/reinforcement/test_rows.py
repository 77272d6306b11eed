import json
from pathlib import Path

import pytest

from app.files.rows import MAX_ROW_BYTES, DatasetError
from app.graders.kinds.tool_call import ToolCallGrader
from app.jobs.preflight import row_needs
from workers.methods.reinforcement.rows import RowFile


def _line(question: str) -> bytes:
    row = {"messages": [{"role": "user", "content": question}], "answer": question.upper()}
    return json.dumps(row).encode()


def _file(path: Path, content: bytes, *, most: int = 100) -> RowFile:
    path.write_bytes(content)
    return RowFile(path, job_tools=set(), max_rows=most)


def test_rows_are_read_again_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    bom = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()
    rows = _file(path, bom + _line("a") + b"\r\n\n  \n" + _line("ü") + b"\n" + _line("c"))
    path.unlink()  # a running job keeps its rows
    assert len(rows) == 3
    assert [(row.index, row.item["answer"]) for row in rows] == [(0, "A"), (1, "Ü"), (2, "C")]
    assert rows[2].messages == [{"role": "user", "content": "c"}]
    assert [row.index for row in rows[1:]] == [1, 2]
    assert rows[-1].index == 2
    with pytest.raises(IndexError):
        rows[3]


def test_the_first_fault_is_named_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as broken:
        _file(tmp_path / "rows", _line("a") + b"\n\n{broken\n" + _line("b"))
    assert broken.value.line == 3
    with pytest.raises(DatasetError, match="more than 2 examples"):
        _file(tmp_path / "rows", b"\n".join([_line("a")] * 3), most=2)


def test_a_line_without_end_is_refused_by_its_first_piece(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    with path.open("wb") as file:
        file.write(_line("a") + b"\n")
        file.truncate(1 << 40)  # a terabyte of one line, none of it on the disk
    with pytest.raises(DatasetError, match=f"larger than {MAX_ROW_BYTES} bytes") as refused:
        RowFile(path, job_tools=set(), max_rows=10)
    assert refused.value.line == 2


def test_rows_that_a_grader_cannot_read_are_counted_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    grader = ToolCallGrader(type="tool_call", reference="{{item.answer}}")
    path.write_bytes(b"\n".join([_line("[]"), _line("a"), _line("b")]))
    needs = row_needs({"grader": grader}, "m")
    (fault,) = RowFile(path, job_tools=set(), max_rows=9, needs=needs).unmet.found("training")
    assert (fault.code, fault.param, fault.line) == ("unreadable_row", "m.grader.reference", 2)
    assert "2 of 3 rows of the training file have none that can be used (lines 2, 3)" in (
        fault.message
    )
