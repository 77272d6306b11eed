"""A first job with the unmodified `openai` client: upload, train, follow, report, talk.

Needs OPENAI_BASE_URL and OPENAI_API_KEY (as `agent-rft up` prints them) and the address of the
records agent's server. Run it as `python -m examples.first_job --endpoint http://127.0.0.1:8900`.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import openai
from openai import OpenAI

from examples.records_agent.dataset import write_dataset

FINAL = {"succeeded", "failed", "cancelled"}
MAX_TURNS = 8


def upload(client: OpenAI, path: Path) -> str:
    with path.open("rb") as file:
        return client.files.create(file=file, purpose="fine-tune").id


def create_job(client: OpenAI, endpoint: str, files: tuple[str, str], model: str) -> str:
    method: Any = {
        "type": "reinforcement",
        "reinforcement": {
            "tools": [
                {"name": "lookup", "server_url": f"{endpoint}/tools"},
                {"name": "calculator", "server_url": f"{endpoint}/tools"},
            ],
            "grader": {"type": "endpoint", "name": "records", "url": f"{endpoint}/grade"},
            "max_episode_steps": 12,
            "hyperparameters": {
                "n_epochs": 1,
                "batch_size": 8,
                "compute_multiplier": 1,
                "eval_interval": 10,
                "eval_samples": 1,
                # So the base model has one figure, in the events and in the report.
                "eval_temperature": 0,
            },
        },
    }
    job = client.fine_tuning.jobs.create(
        model=model,
        training_file=files[0],
        validation_file=files[1],
        seed=42,
        suffix="records",
        method=method,
    )
    print(f"created {job.id}")
    return job.id


def follow(client: OpenAI, job_id: str) -> Any:
    """Print events as they come, with a progress bar on a terminal."""
    seen: set[str] = set()
    while True:
        job = client.fine_tuning.jobs.retrieve(job_id)
        fresh = []
        for event in client.fine_tuning.jobs.list_events(job_id, limit=100):
            if event.id in seen:
                break
            fresh.append(event)
        for event in reversed(fresh):
            seen.add(event.id)
            show(event)
        if job.status in FINAL:
            return job
        time.sleep(0.5)


def show(event: Any) -> None:
    data = event.data if isinstance(event.data, dict) else {}
    if event.type != "metrics" or "step" not in data:
        print(f"  {event.message}")
        return
    step, total = int(data["step"]), int(data["total_steps"])
    filled = round(30 * step / total)
    end = "\n" if step == total or data.get("full_valid_mean_reward") is not None else "\r"
    line = f"  [{'#' * filled}{'.' * (30 - filled)}] {event.message}"
    if end == "\n" or sys.stdout.isatty():
        print(f"{line:<118}", end=end, flush=True)


def curves(base_url: str, key: str, job_id: str) -> dict[tuple[str, str], list[tuple[int, float]]]:
    reply = httpx.get(
        f"{base_url}/fine_tuning/jobs/{job_id}/metrics",
        params={"names": "reward/mean,tool_calls/mean,reward/component/wasted_calls"},
        headers={"Authorization": f"Bearer {key}"},
    ).raise_for_status()
    return {
        (curve["split"], curve["name"]): [(p["step"], p["value"]) for p in curve["points"]]
        for curve in reply.json()["data"]
    }


def plot(title: str, series: dict[str, list[tuple[int, float]]], *, top: float = 0.0) -> None:
    """Prints some points of each curve as bars, up to `top` or the largest value."""
    for label, points in series.items():
        print(f"{title}, {label}")
        most = max([top, *(value for _, value in points)]) or 1.0
        for step, value in points[:: max(1, len(points) // 8)]:
            print(f"  step {step:>4}  {'█' * round(40 * value / most):<40}  {value:.3f}")


def print_report(base_url: str, key: str, job_id: str) -> None:
    report = (
        httpx.get(
            f"{base_url}/fine_tuning/jobs/{job_id}/report",
            headers={"Authorization": f"Bearer {key}"},
        )
        .raise_for_status()
        .json()
    )
    reward, calls = report["reward"], report["tool_calls"]
    interval = reward["difference_ci95"]
    print(f"Paired report on {report['rows']} held-out rows, start against tuned:")
    print(f"  mean reward          {reward['start_mean']:.3f} -> {reward['tuned_mean']:.3f}")
    print(f"  mean difference      {reward['difference']:+.3f}")
    if interval is not None:  # fewer than 6 rows have none
        print(f"  95 % interval        {interval[0]:+.3f} to {interval[1]:+.3f}")
    print(f"  wins / ties / losses {report['wins']} / {report['ties']} / {report['losses']}")
    print(f"  tool calls a rollout {calls['start_mean']:.2f} -> {calls['tuned_mean']:.2f}")
    for name, values in report["components"].items():
        if not values["rows"]:  # no row has it before and after training
            continue
        print(f"  {name:<20} {values['start_mean']:.2f} -> {values['tuned_mean']:.2f}")


def chat_with_tools(client: OpenAI, model: str, endpoint: str, row: dict[str, Any]) -> str:
    """Asks the tuned model a held-out question, running its tool calls ourselves."""
    messages: list[Any] = list(row["messages"])
    print(f"  user       {messages[-1]['content']}")
    for _ in range(MAX_TURNS):
        reply = client.chat.completions.create(
            model=model, messages=messages, tools=row["tools"], temperature=0
        )
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        broken = (message.model_extra or {}).get("tool_call_error")
        if broken is not None:  # a call that cannot be parsed: the model reads why and continues
            print(f"  tool       {broken['message']}")
            reply_to = broken["tool_call_id"]
            messages.append(
                {"role": "tool", "tool_call_id": reply_to, "content": broken["message"]}
            )
            continue
        if not message.tool_calls:
            print(f"  assistant  {message.content}")
            return message.content or ""
        for call in message.tool_calls:
            if call.type != "function":
                continue
            output = run_tool(endpoint, call)
            print(f"  tool       {call.function.name}({call.function.arguments}) = {output}")
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
    return ""


def run_tool(endpoint: str, call: Any) -> str:
    body = {
        "type": "function_call",
        "id": f"fc_{call.id}",
        "call_id": call.id,
        "name": call.function.name,
        "arguments": call.function.arguments,
        "trace_id": "trace_talk",
        "item": {},
    }
    return str(httpx.post(f"{endpoint}/tools", json=body).raise_for_status().json()["output"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--endpoint", required=True, help="address of the records agent's server")
    parser.add_argument("--model", default="tiny-agent")
    parser.add_argument("--train", type=int, default=320)
    parser.add_argument("--valid", type=int, default=100)
    given = parser.parse_args(arguments)
    client = OpenAI()
    base_url, key = str(client.base_url).rstrip("/"), os.environ["OPENAI_API_KEY"]
    with tempfile.TemporaryDirectory() as directory:
        paths = write_dataset(Path(directory), train=given.train, valid=given.valid, seed=1)
        files = (upload(client, paths[0]), upload(client, paths[1]))
        held_out = [json.loads(line) for line in paths[1].read_text().splitlines()]
    try:
        job_id = create_job(client, given.endpoint, files, given.model)
    except openai.BadRequestError as error:
        print(f"the job was refused: {error.message}", file=sys.stderr)
        return 1
    job = follow(client, job_id)
    if job.status != "succeeded":
        print(f"job {job.status}: {job.error}", file=sys.stderr)
        return 1
    print("checkpoints:")
    for checkpoint in client.fine_tuning.jobs.checkpoints.list(job_id):
        print(f"  {checkpoint.fine_tuned_model_checkpoint}")
    found = curves(base_url, key, job_id)
    rewards = {split: points for (split, name), points in found.items() if name == "reward/mean"}
    calls = {split: points for (split, name), points in found.items() if name == "tool_calls/mean"}
    plot("Mean reward", rewards, top=1.0)
    plot("Tool calls per rollout", calls)
    print_report(base_url, key, job_id)
    print(f"A held-out question, asked of {job.fine_tuned_model}:")
    answer = chat_with_tools(client, job.fine_tuned_model, given.endpoint, held_out[0])
    print(f"  reference  {held_out[0]['reference_answer']}")
    return 0 if answer.strip() == held_out[0]["reference_answer"] else 2


if __name__ == "__main__":
    sys.exit(main())
