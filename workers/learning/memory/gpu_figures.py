"""Shows the memory of a trainer's GPU to the operator's Prometheus."""

import torch

from workers.telemetry.figures import show_gpu_memory


def show_memory(device: torch.device) -> None:
    """Reads the memory of a GPU; does nothing on a CPU."""
    if device.type != "cuda":
        return
    free, total = torch.cuda.mem_get_info(device)
    show_gpu_memory(
        str(device.index or 0),
        {
            "total": total,
            "free": free,
            "allocated": torch.cuda.memory_allocated(device),
            "reserved": torch.cuda.memory_reserved(device),
        },
    )
