"""Measures whether feedback teaches: thumbs of simulated people, a share of them wrong, become
pairs, and a DPO job on the pairs prefers held-out answers as the people do.

The whole installation runs as a user starts it. In each session somebody asks the shipped model a
question of the records agent, the answer is stored, and gets thumbs up if it is longer than the
median answer; every tenth of the thumbs is the wrong one. Held-out pairs are of other questions
and have no wrong judgement. Prints, per seed: pairs, the share of held-out pairs whose better
answer has the higher log-prob, before and after, and the same share by implicit reward (by chance:
0.5). Last line: the same as JSON.

    python benchmarks/feedback.py [--seeds 3] [--sessions 300] [--wrong 0.1]
"""

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import httpx
from openai import OpenAI

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.embedded.installation import Installation, installation, wait_until_final

_ATTRIBUTES = ("weight", "price", "material", "colour", "supplier", "stock", "length", "width")
_QUESTIONS = 60
_HELD_OUT_QUESTIONS = 40
_CALIBRATION = 40
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Answer:
    completion_id: str
    question: str
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--wrong", type=float, default=0.1, help="share of wrong thumbs")
    options = parser.parse_args()
    results = []
    for seed in range(options.seeds):
        with (
            tempfile.TemporaryDirectory() as directory,
            installation(Path(directory) / "data", allow=()) as running,
        ):
            found = measured(running, Path(directory), seed, options)
        print(json.dumps(found), flush=True)
        results.append(found)
    gains = [one["after"] - one["before"] for one in results]
    print(json.dumps({"seeds": results, "mean_gain": mean(gains), "least_gain": min(gains)}))


def measured(
    running: Installation, directory: Path, seed: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Runs the sessions, the build and the job of one seed."""
    chance, client = random.Random(seed), running.client()
    asked = [question(number) for number in range(_QUESTIONS)]
    others = [question(number) for number in range(_QUESTIONS, _QUESTIONS + _HELD_OUT_QUESTIONS)]
    sessions = answers(client, [chance.choice(asked) for _ in range(options.sessions)], seed)
    usual = median(len(answer.text) for answer in sessions[:_CALIBRATION])
    for number, answer in enumerate(sessions):
        is_good = len(answer.text) > usual
        is_wrong = chance.random() < options.wrong
        sent = {
            "type": "thumbs",
            "completion_id": answer.completion_id,
            "rating": "up" if is_good != is_wrong else "down",
            "author": f"person-{number}",
        }
        post(running, "/feedback", sent)
    wanted = {"method": "dpo", "name": f"thumbs-{seed}", "validation_share": 0}
    build = post(running, "/feedback/builds", wanted)
    held_out = answers(client, [one for one in others for _ in range(4)], seed + 1000)
    pairs = list(true_pairs(held_out, usual))
    file_id = uploaded(client, directory, pairs)
    curriculum = running.get(f"/curricula/{build['curriculum_id']}")
    job = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=curriculum["training_file"],
        validation_file=file_id,
        seed=seed,
        method={
            "type": "dpo",
            "dpo": {"hyperparameters": {"n_epochs": 3, "batch_size": 8, "beta": 0.1}},
        },
    )
    ended = wait_until_final(client, job.id)
    if ended.status != "succeeded":
        raise SystemExit(f"seed {seed}: {ended.error}")
    report = running.get(f"/fine_tuning/jobs/{job.id}/report")
    return {
        "seed": seed,
        "pairs": build["training_rows"],
        "dropped": {one["reason"]: one["feedback"] for one in build["dropped"]},
        "held_out_pairs": len(pairs),
        "before": report["full_valid_preference_accuracy"]["base"],
        "after": report["full_valid_preference_accuracy"]["tuned"],
        "by_implicit_reward": report["implicit_rewards"]["accuracy"],
    }


def question(number: int) -> str:
    attribute = _ATTRIBUTES[number % len(_ATTRIBUTES)]
    return f"What is the {attribute} of part P{number:03}?"


def answers(client: OpenAI, questions: list[str], seed: int) -> list[Answer]:
    """Asks each question once, with a seed of its own, and stores the answer."""

    def ask(numbered: tuple[int, str]) -> Answer:
        number, text = numbered
        reply = client.chat.completions.create(
            model="tiny-agent",
            messages=[{"role": "user", "content": text}],
            seed=seed * 10_000 + number,
            temperature=1.0,
            max_completion_tokens=48,
            store=True,
        )
        return Answer(reply.id, text, reply.choices[0].message.content or "")

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return list(threads.map(ask, enumerate(questions)))


def true_pairs(found: list[Answer], usual: float) -> Iterator[dict[str, Any]]:
    """Yields one pair of each question that has a long and a short answer."""
    by_question = defaultdict[str, list[Answer]](list)
    for answer in found:
        by_question[answer.question].append(answer)
    for text, group in by_question.items():
        long = [one.text for one in group if len(one.text) > usual]
        short = [one.text for one in group if len(one.text) <= usual and one.text]
        if long and short:
            yield {
                "input": {"messages": [{"role": "user", "content": text}]},
                "preferred_output": [{"role": "assistant", "content": long[0]}],
                "non_preferred_output": [{"role": "assistant", "content": short[0]}],
            }


def uploaded(client: OpenAI, directory: Path, rows: list[dict[str, Any]]) -> str:
    path = directory / "held_out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with path.open("rb") as content:
        return client.files.create(file=content, purpose="fine-tune").id


def post(running: Installation, path: str, sent: dict[str, Any]) -> Any:
    reply = httpx.post(
        f"{running.base_url}{path}",
        json=sent,
        headers={"Authorization": f"Bearer {running.api_key}"},
        timeout=60,
    )
    if not reply.is_success:
        raise SystemExit(f"{path}: {reply.text}")
    return reply.json()


if __name__ == "__main__":
    main()
