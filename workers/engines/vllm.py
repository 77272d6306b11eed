"""Launches vLLM 0.32 with options under which it meets the same contract as the CPU engine. `make
test-vllm` tests the contract against it. Development mode is always off: its control endpoints
ignore the API key, as do others that `vllm_plugins` hides. vLLM reads turns with the parsers that
training uses.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from app.models.models import BaseModelSpec
from app.rollouts.renderer import tool_use
from app.settings import HostSettings, inherited_environment

PLUGINS: Final = Path(__file__).with_name("vllm_plugins")
_MIB: Final = 1 << 20
_CPU_CACHE_MIB: Final = 1024


@dataclass(frozen=True, slots=True)
class VllmOptions:
    """Machine-dependent options. Sizes are in tokens unless noted."""

    host: str = "127.0.0.1"
    port: int = 8300
    dtype: str = "auto"
    """Precision; `auto` is the checkpoint's. Only `float32` agrees with an fp32 trainer to 1e-4."""
    block_size: int = 32
    """Tokens per block. Prefix caching reuses whole blocks: short transcripts need small ones."""
    max_loras: int = 8
    max_cpu_loras: int = 64
    gpu_memory_utilization: float = 0.9
    """Share of the GPU's memory to use if `kv_cache_mib` is not set."""
    kv_cache_mib: int | None = None
    """In MiB. `None` is 1,024 for the CPU build, whose default is most of the machine's memory."""
    tensor_parallel: int = 1
    cpu: bool = False
    """True for the CPU build. It crashes when the prompt of a request with a seed is computed in
    parts ("CPU Generator does not use offset"), so chunked prefill is disabled for it.
    """


def vllm_command(spec: BaseModelSpec, options: VllmOptions, *, python: str) -> tuple[str, ...]:
    """The module form also works for the CPU wheel, unlike its `vllm serve`."""
    return (*(python, "-m", "vllm.entrypoints.openai.api_server"), *vllm_arguments(spec, options))


def vllm_arguments(
    spec: BaseModelSpec, options: VllmOptions, *, plugins: Path = PLUGINS
) -> tuple[str, ...]:
    """Returns the arguments after the program's name, the same as for `vllm serve`."""
    turns = tool_use(spec, download=True).formats
    arguments = [
        *("--model", spec.path, "--served-model-name", spec.name),
        *("--host", options.host, "--port", str(options.port)),
        *("--dtype", options.dtype),
        *("--max-model-len", str(spec.context_length)),
        # Log-probs of the distribution that was sampled from, which the trainer expects.
        *("--logprobs-mode", "processed_logprobs"),
        # Sampling defaults are vLLM's, not those of the model's generation_config.json.
        *("--generation-config", "vllm"),
        *("--enable-prefix-caching", "--block-size", str(options.block_size)),
        *("--enable-lora", "--max-lora-rank", str(_lora_rank(spec.lora_rank))),
        *("--max-loras", str(options.max_loras), "--max-cpu-loras", str(options.max_cpu_loras)),
        *("--enable-auto-tool-choice", "--tool-call-parser", turns.name),
        *("--tool-parser-plugin", str(plugins / "agent_rft_turns.py")),
        *("--tensor-parallel-size", str(options.tensor_parallel)),
        # Requests of jobs have a priority behind that of chats (`app.models.engine_http`).
        *("--scheduling-policy", "priority"),
        *("--middleware", "agent_rft_access.AccessControl"),
        "--disable-uvicorn-access-log",
    ]
    if spec.reasoning_parser is not None:
        arguments += ["--reasoning-parser", spec.reasoning_parser]
    if spec.chat_template is not None:
        arguments += ["--chat-template", str(spec.chat_template)]
    kv_cache_mib = options.kv_cache_mib or (_CPU_CACHE_MIB if options.cpu else None)
    if kv_cache_mib is not None:
        arguments += ["--kv-cache-memory-bytes", str(kv_cache_mib * _MIB)]
    else:
        arguments += ["--gpu-memory-utilization", str(options.gpu_memory_utilization)]
    if options.cpu:
        arguments.append("--no-enable-chunked-prefill")
    return tuple(arguments)


def vllm_environment(*, api_key: str, cache_dir: Path, plugins: Path = PLUGINS) -> dict[str, str]:
    """Returns variables to add to the inherited ones. Argv would expose the key."""
    return {
        "VLLM_API_KEY": api_key,
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        "VLLM_SERVER_DEV_MODE": "0",
        "VLLM_NO_USAGE_STATS": "1",
        # Longer than the clients' timeout: a request on a connection that just closed is lost.
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "75",
        "VLLM_CACHE_ROOT": str(cache_dir),
        "PYTHONPATH": str(plugins),
        # As `-P`, and for each process that vLLM starts: no file of the working directory runs.
        "PYTHONSAFEPATH": "1",
    }


def _lora_rank(rank: int) -> int:
    allowed = (8, 16, 32, 64, 128, 256, 320, 512)
    fitting = [value for value in allowed if value >= rank]
    if not fitting:
        raise ValueError(f"vLLM serves LoRA ranks up to {allowed[-1]}, not {rank}")
    return fitting[0]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers.engines.vllm", description=__doc__)
    parser.add_argument("--python", required=True, help="interpreter of vLLM's environment")
    parser.add_argument("--models-json", type=Path, required=True)
    parser.add_argument("--model", help="name of the model to serve, if the file lists several")
    parser.add_argument("--cache-dir", type=Path, default=Path("~/.cache/agent-rft/vllm"))
    for option in fields(VllmOptions):
        flag = "--" + option.name.replace("_", "-")
        if option.name == "cpu":
            parser.add_argument(flag, action="store_true", help="vLLM's CPU build")
        else:
            kind = int if option.default is None else type(option.default)
            parser.add_argument(flag, type=kind, default=option.default)
    return parser.parse_args(argv)


def _spec(models_json: Path, name: str | None) -> BaseModelSpec:
    specs = TypeAdapter(list[BaseModelSpec]).validate_json(models_json.read_bytes())
    named = [spec for spec in specs if name is None or spec.answers_to(name)]
    if len(named) != 1:
        offered = ", ".join(spec.name for spec in specs)
        raise SystemExit(f"--model: vLLM serves one model; name one of {offered}")
    return named[0]


def main(argv: Sequence[str] | None = None) -> None:
    """Replaces this process by vLLM. An empty AGENT_RFT_ENGINE_API_KEY disables the key check."""
    arguments = vars(_arguments(argv))
    python, cache_dir = arguments.pop("python"), arguments.pop("cache_dir")
    spec = _spec(arguments.pop("models_json"), arguments.pop("model"))
    command = vllm_command(spec, VllmOptions(**arguments), python=python)
    key = HostSettings().engine_api_key
    environment = vllm_environment(
        api_key="" if key is None else key.get_secret_value(), cache_dir=cache_dir.expanduser()
    )
    os.execve(python, command, {**inherited_environment(), **environment})  # noqa: S606 - no shell


if __name__ == "__main__":
    main()
