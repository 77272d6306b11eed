"""Describes the processor and libraries on which the bits of a floating-point result depend.
Loads torch with the first call, not with the module: runs import it.
"""

import asyncio
import contextvars
import os
import platform
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from app.models.compute import ComputeChoice
from app.models.models import BaseModelSpec
from app.rollouts.chat_template import ModelFiles
from app.settings import set_variables
from workers.progress import PROGRESS

if TYPE_CHECKING:
    import torch


_CPUINFO = Path("/proc/cpuinfo")
_LIMITS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR")
"""Environment variables that make the libraries use fewer instructions than the processor has."""


@cache
def describe_processor() -> str:
    """The processor's name, torch's instruction set, limits of the environment, torch's version."""
    import torch  # noqa: PLC0415 - see the header

    limits = [f"{name}={value}" for name, value in set_variables(_LIMITS).items()]
    capability = torch.backends.cpu.get_cpu_capability()
    return ", ".join([_name(), capability, *limits, f"torch {torch.__version__}"])


def describe_computation(choice: ComputeChoice) -> str:
    """Returns all that the bits of a result depend on: processor, libraries, products, threads."""
    return f"{describe_processor()}, {choice}"


def attends(dtype: "torch.dtype") -> bool:
    """Returns whether torch's attention computes a type here: not bf16 on a processor with bf16
    products that was told to use narrow vectors. Fewer than 64 rows do not show it.
    """
    import torch  # noqa: PLC0415 - see the header
    from torch.nn.functional import scaled_dot_product_attention  # noqa: PLC0415 - as above

    query_1HQD = torch.zeros(1, 2, 64, 16, dtype=dtype)
    mask_QQ = torch.zeros(64, 64, dtype=dtype)
    try:
        scaled_dot_product_attention(query_1HQD, query_1HQD, query_1HQD, attn_mask=mask_QQ)
    except RuntimeError:
        return False
    return True


def default_device() -> "torch.device":
    import torch  # noqa: PLC0415 - see the header

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def is_accelerated() -> bool:
    return default_device().type != "cpu"


def _name() -> str:
    if _CPUINFO.exists():
        for line in _CPUINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


P = ParamSpec("P")
R = TypeVar("R")
NICENESS: Final = 10
_NICEST: Final = 19


def _lower_priority() -> None:
    # This loads torch, while the start of a run continues beside it.
    # Only Linux has priorities per thread. With a GPU the thread hardly computes, and a delay would
    # postpone the next kernel.
    if sys.platform == "linux" and not is_accelerated():
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(niceness + NICENESS, _NICEST))


_THREAD: Final = ThreadPoolExecutor(1, "compute", _lower_priority)
_calls: set[Future[Any]] = set()


async def run_on_compute_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """As with `asyncio.to_thread`, cancelling the caller does not stop the call."""
    context = contextvars.copy_context()
    call = _THREAD.submit(lambda: context.run(work, *args, **kwargs))
    _calls.add(call)
    call.add_done_callback(_calls.discard)
    result = await asyncio.wrap_future(call)
    PROGRESS.mark("computation done")
    return result


def is_computing() -> bool:
    return bool(_calls)


_USUAL: Final = (512, 1536)
_LARGEST: Final = (2048, 6144)
"""Wider products take longer to measure, and rank the ways alike."""


def model_widths(spec: BaseModelSpec) -> tuple[int, int]:
    config = ModelFiles(spec.path).json("config.json")
    text = config.get("text_config") or config
    widths = [text.get(name) for name in ("hidden_size", "intermediate_size")]
    known = [
        width if isinstance(width, int) and width > 0 else usual
        for width, usual in zip(widths, _USUAL, strict=True)
    ]
    return min(known[0], _LARGEST[0]), min(known[1], _LARGEST[1])
