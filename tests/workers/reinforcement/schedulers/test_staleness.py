"""The staleness queue under every order in which groups may finish, kills and give-ups included."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.reinforcement.schedulers.staleness import StalenessQueue, Ticket


def make_queue(sizes: list[int], *, bound: int = 1, requeues: int = 2) -> StalenessQueue:
    return StalenessQueue(
        lambda step: sizes[step - 1],
        total_steps=len(sizes),
        max_staleness=bound,
        max_requeues=requeues,
    )


def admit_all(queue: StalenessQueue, version: int) -> list[Ticket]:
    tickets = []
    while (ticket := queue.admit(version)) is not None:
        tickets.append(ticket)
    return tickets


def places(tickets: list[Ticket]) -> list[tuple[int, int]]:
    return [(ticket.step, ticket.place) for ticket in tickets]


def test_capacity_is_k_plus_one_steps_beyond_the_served_version() -> None:
    queue = make_queue([2, 2, 2, 1], bound=1)
    assert places(admit_all(queue, 0)) == [(1, 0), (1, 1), (2, 0), (2, 1)]
    for ticket in queue.in_flight:
        queue.finish(ticket, version=0)
    assert admit_all(queue, 0) == [], "what is finished and not taken holds its place"
    assert places(queue.take(1) or []) == [(1, 0), (1, 1)]
    assert admit_all(queue, 0) == [], "room is made by a version, not by a step that took"
    assert places(admit_all(queue, 1)) == [(3, 0), (3, 1)]
    assert places(admit_all(queue, 3)) == [(4, 0)], "a last, shorter step; nothing follows it"


def test_nothing_is_admitted_of_a_step_that_will_not_begin() -> None:
    beginning = {1}
    queue = StalenessQueue(
        lambda _step: 2,
        total_steps=4,
        max_staleness=2,
        max_requeues=0,
        within_caps=lambda step: step in beginning,
    )
    assert places(admit_all(queue, 0)) == [(1, 0), (1, 1)]
    beginning.add(2)
    assert places(admit_all(queue, 0)) == [(2, 0), (2, 1)]


def test_a_fast_group_overtakes_a_slow_one_only_while_the_bound_holds() -> None:
    queue = make_queue([1, 1, 1], bound=1)
    slow, fast = admit_all(queue, 0)
    queue.finish(fast, version=0)
    assert queue.take(1) == [fast]
    (late,) = admit_all(queue, 1)
    queue.finish(late, version=1)
    assert queue.take(2) is None, "left for step 3, `slow` would be two versions old"
    queue.finish(slow, version=0)
    assert queue.take(2) == [slow]
    assert queue.take(3) == [late]


def test_a_late_group_is_started_over_and_in_the_end_waited_for() -> None:
    queue = make_queue([1] * 6, bound=1, requeues=1)
    slow, first = admit_all(queue, 0)
    queue.finish(first, version=0)
    assert queue.take(1) == [first]
    (second,) = admit_all(queue, 1)
    assert queue.requeue_stragglers(2) == [], "nobody could take its place"
    queue.finish(second, version=1)
    ((given_up, again),) = queue.requeue_stragglers(2)
    assert (given_up, again) == (slow, Ticket(1, slow.step, slow.place, 1))
    assert queue.take(2) == [second]
    (third,) = admit_all(queue, 2)
    queue.finish(third, version=2)
    assert queue.take(3) is None
    assert queue.requeue_stragglers(3) == [], "it was started over as often as it may be"
    queue.finish(again, version=1)
    assert queue.take(3) == [again]


def test_what_is_found_to_be_too_old_is_started_over_even_if_that_is_everything() -> None:
    queue = make_queue([2, 2, 2, 2, 2], bound=1)
    for ticket in admit_all(queue, 3):
        queue.finish(ticket, version=0)  # as a replay after a kill may find
    pairs = queue.expire(3)
    assert len(pairs) == 10
    assert queue.take(3) is None
    assert queue.depth == 0
    for old, fresh in pairs:
        assert (fresh.version, fresh.attempt) == (2, old.attempt + 1)
        queue.finish(fresh, version=2)
    assert len(queue.take(3) or []) == 2


@pytest.mark.parametrize("bound", [1, 2, 4])
def test_the_state_is_whole(bound: int) -> None:
    queue = make_queue([3] * 5, bound=bound)
    tickets = admit_all(queue, 0)
    for ticket in tickets[:4]:
        queue.finish(ticket, version=0)
    queue.take(1)
    twin = make_queue([3] * 5, bound=bound)
    twin.restore(queue.state())
    assert twin.in_flight == tickets[3:]
    assert twin.state() == queue.state()
    assert admit_all(twin, 1) == admit_all(queue, 1)


class Run:
    """A queue, what the last commit saved of it, and what may still happen to it."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.bound, self.requeues = self.draw(st.integers(1, 4)), self.draw(st.integers(0, 2))
        self.sizes = self.draw(st.lists(st.integers(1, 4), min_size=1, max_size=7))
        self.queue = self.fresh()
        self.saved = self.queue.state()
        self.found_older = 0

    def fresh(self) -> StalenessQueue:
        return make_queue(self.sizes, bound=self.bound, requeues=self.requeues)

    def step(self, step: int) -> list[Ticket]:
        """Admit some, let things happen until the step has its groups, commit."""
        for _ in range(self.draw(st.integers(0, 30))):
            if self.queue.admit(step - 1) is None:
                break
        assert all(ticket.step <= step + self.bound for ticket in self.queue.in_flight)
        while True:
            for old, fresh in self.queue.expire(step):
                assert step - 1 - old.version > self.bound
                assert fresh.version == step - 1
            chosen = self.queue.take(step)
            if chosen is not None:
                self.saved = self.queue.state()
                return chosen
            self.happen(step)

    def happen(self, step: int) -> None:
        event = self.draw(st.sampled_from(["finish", "finish", "finish", "give up", "kill"]))
        if event == "give up":
            for old, fresh in self.queue.requeue_stragglers(step):
                assert old.attempt < self.requeues + self.found_older
                assert fresh.attempt == old.attempt + 1
        elif event == "kill" and self.draw(st.integers(0, 3)) == 0:
            self.queue = self.fresh()
            self.queue.restore(self.saved)
        elif self.queue.in_flight:
            ticket = self.draw(st.sampled_from(self.queue.in_flight))
            older = self.draw(st.integers(0, 9)) == 0
            self.found_older += older
            self.queue.finish(ticket, version=max(0, ticket.version - older))
        else:
            assert self.queue.admit(step - 1) is not None, "a deadlock"


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_every_prompt_is_taken_once_within_the_bound_whatever_happens(data: st.DataObject) -> None:
    """Random sizes, orders of arrival, partial admission, impatience, versions found older than
    thought, and kills that restore the state of the last commit. Ends, so nothing deadlocks.
    """
    run = Run(data)
    taken: list[Ticket] = []
    for step, size in enumerate(run.sizes, start=1):
        chosen = run.step(step)
        assert len(chosen) == size
        assert all(0 <= step - 1 - ticket.version <= run.bound for ticket in chosen)
        assert chosen == sorted(chosen), "oldest first"
        taken += chosen
    expected = {(s + 1, p) for s, size in enumerate(run.sizes) for p in range(size)}
    assert Counter(places(taken)) == Counter(expected), "lost or doubled"
    assert run.queue.state()["tickets"] == []
    assert run.queue.admit(len(run.sizes)) is None
