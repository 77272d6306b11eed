"""The command of the runner: `python -m workers.sandbox`. Reads `AGENT_RFT_SANDBOX__…` and
`AGENT_RFT_DATA_DIR` and no other setting; its environment should hold no secret. Ends with
`SANDBOX_BELOW_FLOOR` where this machine does not reach the floor.
"""

import argparse
import asyncio
import signal
import sys
from contextlib import suppress

import structlog

from app.kit.processes import SANDBOX_BELOW_FLOOR
from app.settings import ConfiguredSandbox
from app.tools.programs import ALWAYS, LAYERS, Layer
from workers.sandbox.execution import ForkServerFailed
from workers.sandbox.runner import BelowFloor, Runner, serve

log = structlog.get_logger()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m workers.sandbox", description=__doc__)
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=[layer for layer in LAYERS if layer not in ALWAYS],
        help="leave a layer out, as a kernel without it would; the floor still holds",
    )
    without: tuple[Layer, ...] = tuple(parser.parse_args().without)
    configured = ConfiguredSandbox()
    if sys.platform != "linux":
        print("the sandbox needs Linux", file=sys.stderr)  # noqa: T201 - for the log
        return SANDBOX_BELOW_FLOOR
    try:
        asyncio.run(_run(configured, without))
    except (BelowFloor, ForkServerFailed) as error:
        print(error, file=sys.stderr)  # noqa: T201 - for the log
        return SANDBOX_BELOW_FLOOR
    return 0


async def _run(configured: ConfiguredSandbox, without: tuple[Layer, ...]) -> None:
    runner, socket = Runner(configured.sandbox, without=without), configured.sandbox_socket
    try:
        level = await runner.start()
        log.info("sandbox_ready", layers=list(level.layers), modules=len(level.modules))
        socket.unlink(missing_ok=True)
        serving = asyncio.create_task(serve(runner, socket))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        runner.close()
        socket.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
