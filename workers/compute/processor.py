"""Describes the processor and libraries on which the bits of a floating-point result depend.

Two machines with the same description compute the same bits; two with different ones may not,
because vector width and code path determine the order in which a product is summed. Must not know
the computation. Loads torch with the first call, not with the module: runs import it.
"""

import platform
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.domain.models.compute_choices import ComputeChoice
from app.settings.environment import set_variables

if TYPE_CHECKING:
    import torch

_CPUINFO = Path("/proc/cpuinfo")
_LIMITS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR")
"""Environment variables that make the libraries use fewer instructions than the processor has."""


@cache
def describe_processor() -> str:
    """Returns the processor's name, torch's instruction set, limits set in the environment, and
    torch's version.
    """
    import torch  # noqa: PLC0415 - see the header

    limits = [f"{name}={value}" for name, value in set_variables(_LIMITS).items()]
    capability = torch.backends.cpu.get_cpu_capability()
    return ", ".join([_name(), capability, *limits, f"torch {torch.__version__}"])


def describe_computation(choice: ComputeChoice) -> str:
    """Returns all that the bits of a result depend on: processor, libraries, products, threads."""
    return f"{describe_processor()}, {choice}"


def attends(dtype: "torch.dtype") -> bool:
    """Returns whether torch's attention computes a type here.

    It cannot compute bf16 on a processor that has instructions for bf16 products if it was told to
    use no vectors wide enough for them; fewer than 64 rows do not show that.
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
    """Returns the device on which a trainer computes here, unless it is given another one."""
    import torch  # noqa: PLC0415 - see the header

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def is_accelerated() -> bool:
    """Returns whether a trainer computes on an accelerator here."""
    return default_device().type != "cpu"


def _name() -> str:
    """Returns the processor's name: from `/proc/cpuinfo` on Linux, elsewhere from `platform`."""
    if _CPUINFO.exists():
        for line in _CPUINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
