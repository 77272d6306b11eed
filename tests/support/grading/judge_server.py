"""A scripted judge behind an OpenAI-compatible endpoint: it scores by the letters of the answer."""

import json
import re

from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.grading.judges import CODED, judged_reply

KEY = "Bearer canary-judge-key"


def score_of(answer: str) -> int:
    """Returns a score from 0 to 10 that depends on every letter of the answer."""
    return sum(answer.encode()) % 11


def judges(received: ReceivedRequest) -> Reply:
    """Scores the answer that it is asked about."""
    if received.headers.get("authorization") != KEY:
        return Reply(401, json={"error": {"message": "no key"}})
    asked = received.json["messages"][-1]["content"]
    found = re.search(r"<answer>\n(.*)\n</answer>", asked, re.DOTALL)
    assert found is not None
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    said = f"It is so.\n{json.dumps({CODED: score_of(found.group(1))})}"
    return judged_reply(received, said, usage=usage)
