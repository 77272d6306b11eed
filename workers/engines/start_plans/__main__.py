"""`python -m workers.engines.start_plans plan`: reads a `StartRequest`, prints one JSON object."""

import asyncio
import sys
import warnings

from app.kit.logs import log_to_stderr
from app.models.compute import StartRequest


def main(arguments: list[str]) -> None:
    log_to_stderr()
    # Later names in transformers are not news for a reader of the plan.
    warnings.filterwarnings("ignore", category=FutureWarning)
    request = StartRequest.model_validate_json(sys.stdin.read())
    match arguments:
        case ["plan"]:
            from workers.engines.start_plans.start import plan_start  # noqa: PLC0415 - slow import

            answer = plan_start(request).model_dump_json()
        case ["pace"]:
            from workers.engines.start_plans.start import pace_of  # noqa: PLC0415 - slow import

            answer = asyncio.run(pace_of(request.spec, request.memory)).model_dump_json()
        case _:
            sys.exit("usage: python -m workers.engines.start_plans plan | pace")
    sys.stdout.write(answer + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
