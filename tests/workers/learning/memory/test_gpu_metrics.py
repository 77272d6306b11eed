"""The gauges of a GPU's memory, with a driver that answers in place of the real one."""

import pytest
import torch
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from workers.learning.lora_trainer import show_memory
from workers.telemetry.process_metrics import WORK

GAUGE = "agent_rft_gpu_memory_bytes"


def shown() -> dict[tuple[str, str], float]:
    """Returns the bytes by device and state."""
    text = generate_latest(WORK).decode()
    return {
        (sample.labels["device"], sample.labels["state"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == GAUGE
    }


def test_the_memory_of_the_trainers_gpu_is_shown_by_state(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[torch.device]()

    def driver(device: torch.device) -> tuple[int, int]:
        asked.append(device)
        return 3 * 1024**3, 80 * 1024**3

    monkeypatch.setattr(torch.cuda, "mem_get_info", driver)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 1000 + device.index)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 2000 + device.index)
    show_memory(torch.device("cpu"))
    assert asked == []
    show_memory(torch.device("cuda", 7))
    assert asked == [torch.device("cuda", 7)]
    found = {state: size for (device, state), size in shown().items() if device == "7"}
    assert found == {
        "total": 80 * 1024**3,
        "free": 3 * 1024**3,
        "allocated": 1007,
        "reserved": 2007,
    }
