"""Runs schemathesis with every check against a running service, as two tenants.

The specification is that of the running code. Each call is made as a tenant's key or without one,
and what one tenant reads is asked for by the other.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.web.api_server import ApiServer
from tests.support.web.application import specification

# A body may be all that its schema says and still name a file, a model or an address that is not
# there, or stand in the wrong state: the hosted API answers 400, and so does this one.
_UNMET = '["2xx", "400", "401", "403", "404", "503"]'

# One worker: hypothesis parses Python, and CPython 3.11 cannot do that on two threads
# (see app/kit/texts.py).
_CONFIG = """
continue-on-failure = true
request-timeout = 30
workers = 1

[auth.wfc]
path = "{keys}"
user = "first"
peers = ["first", "second"]

[generation]
mode = "all"
max-examples = {examples}
deterministic = true
no-shrink = true
database = "none"

[checks]
{checks}
positive_data_acceptance.expected-statuses = {unmet}

# A preflight reports the faults of a call; finding them is its success, and its answer 200.
[[operations]]
include-path = "/v1/fine_tuning/jobs/validate"
checks.negative_data_rejection.enabled = false
# GET of this path is GET of a job named "validate", so the reply names it in `Allow`.
checks.allow_header_conformance.enabled = false

# The stream of a job ends with the job, and the jobs of these calls never end.
[[operations]]
include-path = "/v1/fine_tuning/jobs/{{job_id}}/stream"
enabled = false

# A text in a query string is a list of one, so it does not violate the list that is asked for.
[[operations]]
include-path = "/v1/fine_tuning/jobs/{{job_id}}/metrics"
checks.negative_data_rejection.enabled = false

[phases.stateful]
max-steps = 6
generation.max-examples = {scenarios}

{dictionaries}
"""
_KNOWN = """
[dictionaries.{name}]
values = {values}
[parameters."{location}"]
dictionary = "{name}"
probability = 0.6
"""
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
    "object_level_authorization",
)
_PHASES = ("fuzzing", "stateful")
_ALL_PHASES = ("examples", "coverage", *_PHASES)


@dataclass(frozen=True, slots=True)
class Findings:
    cases: int
    failures: list[str]
    unfinished: str
    """Reason of an early end, if any."""
    output: str


def fuzz(
    api: ApiServer,
    directory: Path,
    *,
    known: Mapping[str, Sequence[str]],
    examples: int,
    every_phase: bool = False,
) -> Findings:
    """`known` maps places (`path.job_id`, `body.model`) to values that exist there, so that calls
    get past the first look-up. `examples` is the most cases of an operation in a phase.
    """
    keys, config = directory / "keys.json", directory / "schemathesis.toml"
    keys.write_text(json.dumps({"auth": [_peer("first", api.key), _peer("second", api.other_key)]}))
    dictionaries = "".join(
        _KNOWN.format(name=f"known{number}", values=json.dumps(list(values)), location=location)
        for number, (location, values) in enumerate(known.items())
    )
    config.write_text(
        _CONFIG.format(
            keys=keys,
            examples=examples,
            scenarios=4 * examples,
            unmet=_UNMET,
            checks="\n".join(f"{name}.enabled = true" for name in _CHECKS),
            dictionaries=dictionaries,
        )
    )
    document, report = directory / "openapi.json", directory / "report.json"
    document.write_text(json.dumps(specification()))
    phases = ",".join(_ALL_PHASES if every_phase else _PHASES)
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)),
        *("run", str(document), "--url", api.base_url.removesuffix("/v1")),
        *("--phases", phases, "--no-color"),
        *("--report", "json", "--report-json-path", str(report)),
    ]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    (directory / "output.txt").write_text(done.stdout)
    assert report.is_file(), done.stdout[-4000:] + done.stderr[-4000:]
    found = json.loads(report.read_text())
    return Findings(
        cases=found["test_cases"]["generated"],
        failures=[
            *(
                f"{failure['title']}: {', '.join(failure['operations'])}"
                for failure in found["failures"]
            ),
            *(json.dumps(error) for error in found["errors"]),
        ],
        unfinished="" if found["complete"] else str(found["stop_reason"]),
        output=done.stdout,
    )


def _peer(name: str, key: str) -> dict[str, Any]:
    return {"name": name, "fixedHeaders": [{"name": "Authorization", "value": f"Bearer {key}"}]}
