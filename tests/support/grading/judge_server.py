"""A scripted judge behind an OpenAI-compatible endpoint: it scores by the letters of the answer."""

import re

from tests.support.endpoints import ReceivedRequest, Reply

KEY = "Bearer canary-judge-key"


def score_of(answer: str) -> int:
    """Returns a score from 0 to 10 that depends on every letter of the answer."""
    return sum(answer.encode()) % 11


def judges(received: ReceivedRequest) -> Reply:
    """Answers in another form of a score for each answer that it is asked about."""
    if received.headers.get("authorization") != KEY:
        return Reply(401, json={"error": {"message": "no key"}})
    asked = received.json["messages"][-1]["content"]
    found = re.search(r"<answer>\n(.*)\n</answer>", asked, re.DOTALL)
    assert found is not None
    answer = found.group(1)
    score = score_of(answer)
    forms = (f'{{"score": {score}}}', f"[[{score}]]", f"Score: {score}", f"{score} out of 10")
    message = {"role": "assistant", "content": forms[len(answer) % len(forms)]}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return Reply(json={"choices": [{"index": 0, "message": message}], "usage": usage})
