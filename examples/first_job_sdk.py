"""A first job with agent-rft's own Python client: upload, train, follow, report.

Install the client with `pip install ./openapi/python`. Needs AGENT_RFT_BASE_URL and
AGENT_RFT_API_KEY (as `agent-rft up` prints them) and the address of the records agent's server. Run
it as `python -m examples.first_job_sdk --endpoint http://127.0.0.1:8900`.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from agent_rft import AgentRFT, BadRequestError
from agent_rft_client.api.fine_tuning import (
    create_fine_tuning_job,
    list_fine_tuning_job_checkpoints,
    retrieve_fine_tuning_job_report,
)
from agent_rft_client.models.comparison import Comparison
from agent_rft_client.models.create_fine_tuning_job import CreateFineTuningJob
from agent_rft_client.models.fine_tuning_job import FineTuningJob
from agent_rft_client.models.fine_tuning_job_checkpoint import FineTuningJobCheckpoint
from agent_rft_client.models.report import Report
from examples.records_agent.dataset import write_dataset


def job_of(endpoint: str, files: list[str], model: str) -> CreateFineTuningJob:
    method: dict[str, Any] = {
        "type": "reinforcement",
        "reinforcement": {
            "tools": [
                {"name": "lookup", "server_url": f"{endpoint}/tools"},
                {"name": "calculator", "server_url": f"{endpoint}/tools"},
            ],
            "grader": {"type": "endpoint", "name": "records", "url": f"{endpoint}/grade"},
            "max_episode_steps": 12,
            "hyperparameters": {"n_epochs": 1, "batch_size": 8, "eval_samples": 1},
        },
    }
    return CreateFineTuningJob.from_dict(
        {
            "model": model,
            "training_file": files[0],
            "validation_file": files[1],
            "seed": 42,
            "method": method,
        }
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--endpoint", required=True, help="address of the records agent's server")
    parser.add_argument("--model", default="tiny-agent")
    parser.add_argument("--train", type=int, default=320)
    parser.add_argument("--valid", type=int, default=100)
    given = parser.parse_args(arguments)
    with AgentRFT() as client:
        with tempfile.TemporaryDirectory() as directory:
            paths = write_dataset(Path(directory), train=given.train, valid=given.valid, seed=1)
            files = [client.upload(path).id for path in paths]
        try:
            body = job_of(given.endpoint, files, given.model)
            job = client.call(create_fine_tuning_job.sync, FineTuningJob, body=body)
        except BadRequestError as error:
            print(f"the job was refused: {error}", file=sys.stderr)
            return 1
        print(f"created {job.id}")
        for event in client.events(job.id, poll_s=0.5):
            print(f"  {event.message}")
        job = client.wait(job.id)
        if job.status != "succeeded":
            print(f"job {job.status}: {job.error}", file=sys.stderr)
            return 1
        print("checkpoints:")
        checkpoints = list_fine_tuning_job_checkpoints.sync
        for checkpoint in client.pages(checkpoints, FineTuningJobCheckpoint, job.id):
            print(f"  {checkpoint.fine_tuned_model_checkpoint}")
        report = client.call(retrieve_fine_tuning_job_report.sync, Report, job.id)
        if isinstance(report.reward, Comparison):
            before, after = report.reward.start_mean, report.reward.tuned_mean
            print(f"mean reward {before:.3f} -> {after:.3f}")
        print(f"model {job.fine_tuned_model}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
