"""A file that claims more memory than it has bytes fails on its own, and its process continues."""

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from app.curricula.curricula import Columns, CurriculumOptions
from app.curricula.source_rows import TableFile, collect_rows
from app.curricula.split_files import CollectedRows
from app.files.row_files import Inspections
from app.files.table_formats import SourceFile
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest
from app.kit.ids import OrganizationId, ProjectId
from tests.support.cases import cases
from tests.support.objects.in_memory import in_memory_objects
from tests.support.store.kept_pools import end_processes

ME = Tenant(OrganizationId("one"), ProjectId("mine"), "one", "key")
ADDED = 256 << 20


def column_of_lists(path: Path, values: int, text: str | None) -> Path:
    """Writes one row with a list of one text many times, which takes few bytes."""
    repeated = (
        pa.nulls(values, pa.int8())
        if text is None
        else pa.DictionaryArray.from_arrays(pa.array([0] * values, pa.int32()), pa.array([text]))
    )
    lists = pa.ListArray.from_arrays(pa.array([0, values], pa.int32()), repeated)
    table = pa.table({"prompt": pa.array(["hi"]), "l": lists})
    parquet.write_table(table, path, compression="zstd")
    return path


async def gathered(inspections: Inspections, path: Path, directory: Path) -> CollectedRows:
    files = (TableFile(0, SourceFile(path, "x.parquet")),)
    return await inspections.run(
        ME, collect_rows, files, CurriculumOptions(method="reinforcement"), directory
    )


async def test_a_small_parquet_file_of_gigabytes_is_a_finding(tmp_path: Path) -> None:
    bomb = column_of_lists(tmp_path / "x.parquet", 4_000, "x" * 1_000_000)
    assert bomb.stat().st_size < 10_000
    inspections = Inspections(in_memory_objects(), tmp_path, at_once=1, max_added_bytes=ADDED)
    process = await inspections.run(ME, os.getpid)
    found = await gathered(inspections, bomb, tmp_path)
    [(code, message)] = [(each.code, each.message) for each in found.findings.listed()][:1]
    assert (code, "needs too much memory to be read" in message) == ("too_large", True), message
    assert await inspections.run(ME, os.getpid) == process
    plain = column_of_lists(tmp_path / "y.parquet", 3, "a")
    assert (await gathered(inspections, plain, tmp_path)).rows == 1


async def data_bytes(inspections: Inspections) -> int:
    """Returns what the process of reads can write to. It loads nothing of this module."""
    status = await inspections.run(ME, Path.read_text, Path("/proc/self/status"))
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if "VmData" in line)


async def test_a_small_parquet_file_takes_little_of_the_limit(tmp_path: Path) -> None:
    """Arrow's own allocator would take 1 GiB at its first use, where there is so much."""
    small = column_of_lists(tmp_path / "x.parquet", 3, "a")
    inspections = Inspections(in_memory_objects(), tmp_path, at_once=1, max_added_bytes=2 << 30)
    await end_processes()  # one that has read a table has its allocator
    before = await data_bytes(inspections)
    assert (await gathered(inspections, small, tmp_path)).rows == 1
    assert 0 < await data_bytes(inspections) - before < 3 * ADDED


async def test_the_values_of_a_nested_column_are_counted_first(tmp_path: Path) -> None:
    bomb = column_of_lists(tmp_path / "x.parquet", 16_777_217, None)
    inspections = Inspections(in_memory_objects(), tmp_path, at_once=1)
    found = await gathered(inspections, bomb, tmp_path)
    assert "more than 16777216 values" in found.findings.listed()[0].message


def repeated(path: Path, value: str, rows: int, kind: pa.DataType) -> tuple[TableFile]:
    """Writes a table of a prompt and a text, which takes the bytes of one row."""
    table = pa.table({"prompt": ["hi"] * rows, "pad": pa.array([value] * rows, kind)})
    parquet.write_table(table, path, compression="zstd")
    return (TableFile(0, SourceFile(path, "x.parquet")),)


@cases("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
async def test_rows_that_are_too_large_are_told_without_being_read(
    tmp_path: Path, kind: pa.DataType
) -> None:
    files = repeated(tmp_path / "x.parquet", "x" * (1 << 20), 120, kind)
    inspections = Inspections(in_memory_objects(), tmp_path, at_once=1, max_added_bytes=96 << 20)
    options = CurriculumOptions(method="reinforcement")
    found = await inspections.run(ME, collect_rows, files, options, tmp_path)
    told = {each.code: each for each in found.findings.listed()}
    assert told["invalid_row"].message == "Line 1: it is larger than 1048576 bytes."
    assert (told["invalid_row"].rows, found.readings[0].rows) == (100, 100)
    assert told["reading_ended"].message.startswith("No row after line 100 was read")
    skipping = CurriculumOptions(method="reinforcement", invalid_rows="skip")
    found = await inspections.run(ME, collect_rows, files, skipping, tmp_path)
    assert (found.skipped_rows, found.rows) == (120, 0)


def test_the_bytes_that_are_decoded_have_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of rows that are skipped, which no file would have."""
    monkeypatch.setattr("app.files.table_formats.MAX_FILE_BYTES", 50_000)
    files = repeated(tmp_path / "x.parquet", "x" * 1_000, 100, pa.string())
    [table] = files
    wrong = replace(table, columns=Columns(messages="pad"))
    options = CurriculumOptions(method="reinforcement", invalid_rows="skip")
    found = collect_rows((wrong,), options, tmp_path)
    assert (found.findings.error is not None, found.skipped_rows) == (True, 49)
    assert "Line 50: the rows up to this one are larger" in found.findings.listed()[0].message


def test_a_preview_ends_after_its_first_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.curricula.source_rows.PREVIEW_BYTES", 50_000)
    files = repeated(tmp_path / "x.parquet", "x" * 1_000, 100, pa.string())
    options = CurriculumOptions(method="reinforcement")
    found = collect_rows(files, options, tmp_path, preview=True)
    assert (30 < found.rows < 50, found.findings.error) == (True, None)
    assert ("preview_ended", 0) in found.findings.found
    assert collect_rows(files, options, tmp_path).rows == 100


async def test_reads_leave_the_processor_to_requests(tmp_path: Path) -> None:
    inspections = Inspections(in_memory_objects(), tmp_path, at_once=1)
    assert [await inspections.run(ME, os.nice, 0) for _ in range(2)] == [10, 10]


async def test_other_reads_answer_400(tmp_path: Path) -> None:
    inspections = Inspections(in_memory_objects(), tmp_path, at_once=1, max_added_bytes=ADDED)
    process = await inspections.run(ME, os.getpid)
    with pytest.raises(InvalidRequest, match="too much memory"):
        await inspections.run(ME, bytes, 2 * ADDED)
    assert await inspections.run(ME, bytes, 4) == bytes(4)
    assert await inspections.run(ME, os.getpid) == process


def test_the_rows_of_a_making_have_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = 50_000
    monkeypatch.setattr("app.curricula.source_rows.MAX_FILE_BYTES", budget)
    pad = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), pa.array(["x" * 1_000]))
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"prompt": pa.array(["hi"] * 100), "pad": pad}), path)
    files = tuple(TableFile(n, SourceFile(path, "x.parquet")) for n in range(2))
    found = collect_rows(files, CurriculumOptions(method="reinforcement"), tmp_path)
    assert [key for key in found.findings.found if key[0] == "too_many_bytes"] == [
        ("too_many_bytes", 0)
    ]
    assert 30 < found.rows < 50
    assert (tmp_path / "rows.jsonl").stat().st_size <= budget
