"""Original word problems: stories with numbers to fill in, each with its worked solution.

Owns the stories. Each story has the number of values of each blank, so that the number of different
problems is known. Must not know prompts or rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.domain.environments.task_numbers import task_digits, task_number

_NAMES: Final = ("Ada", "Bela", "Chidi", "Dara", "Emre", "Farah", "Goro", "Hana")


@dataclass(frozen=True, slots=True)
class WordProblem:
    question: str
    steps: tuple[str, ...]
    """Sentences of the solution, one for each step."""
    answer: int


@dataclass(frozen=True, slots=True)
class Story:
    sizes: tuple[int, ...]
    """Number of values of each blank, the name's first."""
    write: Callable[..., WordProblem]
    """Takes a name and the value of each other blank, from 0."""

    @property
    def problems(self) -> int:
        total = len(_NAMES)
        for size in self.sizes:
            total *= size
        return total

    def problem(self, number: int) -> WordProblem:
        name, *values = task_digits(number, (len(_NAMES), *self.sizes))
        return self.write(_NAMES[name], *values)


def _shelves(name: str, a: int, b: int) -> WordProblem:
    shelves, books = a + 2, b + 3
    total = shelves * books
    return WordProblem(
        f"{name} fills {shelves} shelves with {books} books each. How many books stand there?",
        (f"{shelves} shelves with {books} books are {shelves} * {books} = {total} books.",),
        total,
    )


def _orchard(name: str, a: int, b: int) -> WordProblem:
    picked, eaten = a + 20, b + 1
    left = picked - eaten
    return WordProblem(
        f"{name} picks {picked} plums and eats {eaten} on the way home. How many plums are left?",
        (f"{picked} - {eaten} = {left} plums are left.",),
        left,
    )


def _ferry(name: str, a: int, b: int, c: int) -> WordProblem:
    trips, people, late = a + 2, b + 4, c + 1
    carried = trips * people
    return WordProblem(
        f"{name}'s ferry crosses {trips} times with {people} people each, and once more with "
        f"{late} people. How many people does it carry?",
        (
            f"The full crossings carry {trips} * {people} = {carried} people.",
            f"With the last one it is {carried} + {late} = {carried + late} people.",
        ),
        carried + late,
    )


def _bakery(name: str, a: int, b: int, c: int) -> WordProblem:
    trays, rolls, sold = a + 3, b + 6, c + 1
    baked = trays * rolls
    return WordProblem(
        f"{name} bakes {trays} trays of {rolls} rolls and sells {sold} of them. How many rolls "
        "remain?",
        (
            f"{trays} trays are {trays} * {rolls} = {baked} rolls.",
            f"After the sale {baked} - {sold} = {baked - sold} rolls remain.",
        ),
        baked - sold,
    )


def _savings(name: str, a: int, b: int, c: int) -> WordProblem:
    weekly, weeks, price = a + 5, b + 4, c + 2
    saved = weekly * weeks
    return WordProblem(
        f"{name} saves {weekly} euros a week for {weeks} weeks and then buys a book for {price} "
        "euros. How many euros are left?",
        (
            f"In {weeks} weeks that is {weekly} * {weeks} = {saved} euros.",
            f"After the book {saved} - {price} = {saved - price} euros are left.",
        ),
        saved - price,
    )


def _garden(name: str, a: int, b: int, c: int) -> WordProblem:
    rows, plants, share = a + 2, b + 2, c + 2
    total = rows * plants * share
    return WordProblem(
        f"{name} plants {rows} beds. Each bed has {plants} rows, and each row {share} lettuces. "
        "How many lettuces are there?",
        (
            f"A bed has {plants} * {share} = {plants * share} lettuces.",
            f"{rows} beds have {rows} * {plants * share} = {total} lettuces.",
        ),
        total,
    )


def _teams(name: str, a: int, b: int, c: int) -> WordProblem:
    teams, members, spare = a + 2, b + 3, c + 1
    children = teams * members + spare
    return WordProblem(
        f"{name} splits {children} children into {teams} teams of equal size, and {spare} "
        "children keep the score. How many children are in a team?",
        (
            f"{children} - {spare} = {teams * members} children play.",
            f"A team has {teams * members} / {teams} = {members} children.",
        ),
        members,
    )


def _journey(name: str, a: int, b: int, c: int, d: int) -> WordProblem:
    speed, hours, slow, more = 10 * a + 30, b + 2, 5 * c + 10, d + 1
    fast, late = speed * hours, slow * more
    return WordProblem(
        f"{name} drives {hours} hours at {speed} km per hour and then {more} hours at {slow} km "
        "per hour. How many kilometres is that?",
        (
            f"The first part is {hours} * {speed} = {fast} km.",
            f"The second part is {more} * {slow} = {late} km.",
            f"Together that is {fast} + {late} = {fast + late} km.",
        ),
        fast + late,
    )


def _concert(name: str, a: int, b: int, c: int, d: int) -> WordProblem:
    rows, seats, empty, price = a + 8, b + 10, c + 1, d + 5
    taken = rows * seats - empty
    return WordProblem(
        f"{name}'s hall has {rows} rows of {seats} seats. {empty} seats stay empty, and a ticket "
        f"costs {price} euros. How many euros do the tickets bring?",
        (
            f"The hall has {rows} * {seats} = {rows * seats} seats.",
            f"{rows * seats} - {empty} = {taken} seats are taken.",
            f"They bring {taken} * {price} = {taken * price} euros.",
        ),
        taken * price,
    )


def _workshop(name: str, a: int, b: int, c: int, d: int) -> WordProblem:
    chairs, tables, hours, paid = a + 3, b + 2, c + 2, d + 8
    worked = chairs * hours + tables * 2 * hours
    return WordProblem(
        f"{name} makes {chairs} chairs in {hours} hours each and {tables} tables in twice that "
        f"time each, for {paid} euros an hour. How many euros does {name} earn?",
        (
            f"The chairs take {chairs} * {hours} = {chairs * hours} hours.",
            f"The tables take {tables} * {2 * hours} = {tables * 2 * hours} hours.",
            f"That is {chairs * hours} + {tables * 2 * hours} = {worked} hours.",
            f"They earn {worked} * {paid} = {worked * paid} euros.",
        ),
        worked * paid,
    )


_BY_STEPS: Final = {
    1: (Story((18, 30), _shelves), Story((60, 18), _orchard)),
    2: (
        Story((12, 20, 18), _ferry),
        Story((10, 14, 17), _bakery),
        Story((20, 12, 18), _savings),
        Story((10, 10, 10), _garden),
        Story((10, 20, 6), _teams),
    ),
    3: (Story((8, 6, 8, 5), _journey), Story((12, 15, 20, 15), _concert)),
    4: (Story((8, 6, 5, 12), _workshop),),
}
MAX_STEPS: Final = max(_BY_STEPS)


def stories(most_steps: int) -> tuple[Story, ...]:
    """Returns the stories whose solution has at most this number of steps."""
    return tuple(
        story for steps, chosen in _BY_STEPS.items() if steps <= most_steps for story in chosen
    )


def problem_count(most_steps: int) -> int:
    """Returns the number of problems, which is equal for all stories."""
    chosen = stories(most_steps)
    return len(chosen) * min(story.problems for story in chosen)


def problem(number: int, most_steps: int) -> WordProblem:
    """Returns a problem by its number, below `problem_count`."""
    chosen = stories(most_steps)
    within, position = divmod(number, len(chosen))
    story = chosen[position]
    return story.problem(task_number(within, of=story.problems, seed=position))
