"""The recorded readings are those of vLLM's own parsers."""

import os
from pathlib import Path

import pytest

from tests.support.vllm_parsers import TURNS, read_by_vllm, recorded, write_recorded


@pytest.mark.vllm
def test_vllm_reads_the_turns_as_recorded(tmp_path: Path) -> None:
    readings = read_by_vllm(TURNS, tmp_path)
    if os.environ.get("RECORD_VLLM_READINGS"):
        write_recorded(readings)
    assert readings == recorded()
