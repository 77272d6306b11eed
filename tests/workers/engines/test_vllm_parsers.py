"""Turns are read in vLLM as in training with our plugin, and as recorded without it."""

import os
from pathlib import Path

import pytest

from tests.support.rendering.sampled_turns import read_whole
from tests.support.rendering.vllm_parsers import (
    THOUGHT_TURNS,
    TURNS,
    read_by_plugin,
    read_by_vllm,
    recorded,
    write_recorded,
)
from tests.support.rendering.vllm_reasoning import (
    REASONING_TURNS,
    reasoning_of_vllm,
    record_reasoning,
    recorded_reasoning,
)

pytestmark = pytest.mark.vllm


def test_vllm_reads_the_turns_as_recorded(tmp_path: Path) -> None:
    readings = read_by_vllm(TURNS, tmp_path)
    if os.environ.get("RECORD_VLLM_READINGS"):
        write_recorded(readings)
    assert readings == recorded()


def test_vllm_reads_reasoning_as_recorded(tmp_path: Path) -> None:
    readings = reasoning_of_vllm(REASONING_TURNS, tmp_path)
    if os.environ.get("RECORD_VLLM_READINGS"):
        record_reasoning(readings)
    assert readings == recorded_reasoning()


def test_our_plugin_reads_the_turns_as_training_does(tmp_path: Path) -> None:
    read = read_by_plugin(THOUGHT_TURNS, tmp_path)
    for turn, found in zip(THOUGHT_TURNS, read, strict=True):
        ours = read_whole(turn, tmp_path)
        assert found == {"whole": ours, "streamed": ours}, turn
