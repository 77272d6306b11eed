"""Original open questions for a judge: a topic, a reader and a form, put together."""

from typing import Final

from app.domain.environments.task_numbers import task_digits

_TOPICS: Final = (
    "why the sky is blue",
    "how a bicycle stays upright",
    "what a database index is for",
    "how yeast makes dough rise",
    "why ships made of steel float",
    "how a vaccine works",
    "what inflation means for savings",
    "why leaves change colour in autumn",
    "how a refrigerator cools",
    "what a hash function does",
    "why tides come twice a day",
    "how noise-cancelling headphones work",
    "what makes a password strong",
    "how a lock on a canal lifts a boat",
    "why bread goes stale",
    "how glasses correct short sight",
    "what a leap year is for",
    "how a search engine ranks pages",
    "why mountains are cold at the top",
    "how compound interest grows",
    "what a version control system keeps",
    "why salt melts ice on roads",
    "how bees find their way home",
    "what an opinion poll can and cannot say",
    "how a thermos keeps tea hot",
    "why echoes happen in valleys",
    "what a prime number is",
    "how a rainbow forms",
    "why old films flicker",
    "how a heat pump warms a house",
)
_READERS: Final = (
    "a child of ten",
    "a new colleague",
    "somebody who reads it on a phone",
    "a sceptical neighbour",
    "a student before an exam",
    "a visitor who speaks little English",
)
_FORMS: Final = (
    "in one paragraph",
    "in three short sentences",
    "with one everyday example",
    "as a list of four points",
    "and name one common mistake about it",
)
_SIZES: Final = (len(_TOPICS), len(_READERS), len(_FORMS))
TASKS: Final = len(_TOPICS) * len(_READERS) * len(_FORMS)


def writing_task(number: int) -> str:
    topic, reader, form = task_digits(number, _SIZES)
    return f"Explain {_TOPICS[topic]} to {_READERS[reader]}, {_FORMS[form]}."
