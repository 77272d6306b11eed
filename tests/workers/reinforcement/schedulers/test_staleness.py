"""The staleness queue under every order in which groups may finish, with kills and requeues."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import cases
from workers.methods.schedulers.asynchronous import Dispatch, StalenessQueue


def make_queue(sizes: list[int], *, bound: int = 1, requeues: int = 2) -> StalenessQueue:
    return StalenessQueue(
        lambda step: sizes[step - 1],
        total_steps=len(sizes),
        max_staleness=bound,
        max_requeues=requeues,
    )


def dispatch_all(queue: StalenessQueue, version: int) -> list[Dispatch]:
    dispatches = []
    while (dispatch := queue.dispatch_next(version)) is not None:
        dispatches.append(dispatch)
    return dispatches


def positions(dispatches: list[Dispatch]) -> list[tuple[int, int]]:
    return [(dispatch.step, dispatch.row_index) for dispatch in dispatches]


def test_capacity_is_k_plus_one_steps_beyond_the_served_version() -> None:
    queue = make_queue([2, 2, 2, 1], bound=1)
    assert positions(dispatch_all(queue, 0)) == [(1, 0), (1, 1), (2, 0), (2, 1)]
    for dispatch in queue.in_flight:
        queue.finish(dispatch, version=0)
    assert dispatch_all(queue, 0) == [], "finished groups that no step took count as capacity"
    assert positions(queue.take(1) or []) == [(1, 0), (1, 1)]
    assert dispatch_all(queue, 0) == [], "a new version makes capacity, not a step that took groups"
    assert positions(dispatch_all(queue, 1)) == [(3, 0), (3, 1)]
    assert positions(dispatch_all(queue, 3)) == [(4, 0)], "a last, shorter step; nothing follows it"


def test_no_prompt_is_dispatched_for_a_step_beyond_the_caps() -> None:
    beginning = {1}
    queue = StalenessQueue(
        lambda _step: 2,
        total_steps=4,
        max_staleness=2,
        max_requeues=0,
        within_caps=lambda step: step in beginning,
    )
    assert positions(dispatch_all(queue, 0)) == [(1, 0), (1, 1)]
    beginning.add(2)
    assert positions(dispatch_all(queue, 0)) == [(2, 0), (2, 1)]


def test_a_fast_group_overtakes_a_slow_one_only_while_the_bound_holds() -> None:
    queue = make_queue([1, 1, 1], bound=1)
    slow, fast = dispatch_all(queue, 0)
    queue.finish(fast, version=0)
    assert queue.take(1) == [fast]
    (late,) = dispatch_all(queue, 1)
    queue.finish(late, version=1)
    assert queue.take(2) is None, "left for step 3, `slow` would be two versions old"
    queue.finish(slow, version=0)
    assert queue.take(2) == [slow]
    assert queue.take(3) == [late]


def test_a_straggler_is_requeued_and_in_the_end_waited_for() -> None:
    queue = make_queue([1] * 6, bound=1, requeues=1)
    slow, first = dispatch_all(queue, 0)
    queue.finish(first, version=0)
    assert queue.take(1) == [first]
    (second,) = dispatch_all(queue, 1)
    assert queue.requeue_stragglers(2) == [], "no other group is finished"
    queue.finish(second, version=1)
    ((straggler, again),) = queue.requeue_stragglers(2)
    assert (straggler, again) == (slow, Dispatch(1, slow.step, slow.row_index, 1))
    assert queue.take(2) == [second]
    (third,) = dispatch_all(queue, 2)
    queue.finish(third, version=2)
    assert queue.take(3) is None
    assert queue.requeue_stragglers(3) == [], "it was requeued as often as allowed"
    queue.finish(again, version=1)
    assert queue.take(3) == [again]


def test_every_group_that_is_too_old_is_requeued() -> None:
    queue = make_queue([2, 2, 2, 2, 2], bound=1)
    for dispatch in dispatch_all(queue, 3):
        queue.finish(dispatch, version=0)  # as a replay after a kill may find
    pairs = queue.expire(3)
    assert len(pairs) == 10
    assert queue.take(3) is None
    assert queue.depth == 0
    for old, fresh in pairs:
        assert (fresh.version, fresh.attempt) == (2, old.attempt + 1)
        queue.finish(fresh, version=2)
    assert len(queue.take(3) or []) == 2


@cases("bound", [1, 2, 4])
def test_the_state_is_whole(bound: int) -> None:
    queue = make_queue([3] * 5, bound=bound)
    dispatches = dispatch_all(queue, 0)
    for dispatch in dispatches[:4]:
        queue.finish(dispatch, version=0)
    queue.take(1)
    twin = make_queue([3] * 5, bound=bound)
    twin.restore(queue.state())
    assert twin.in_flight == dispatches[3:]
    assert twin.state() == queue.state()
    assert dispatch_all(twin, 1) == dispatch_all(queue, 1)


class Run:
    """A queue, its state at the last commit, and the events that may still happen to it."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.bound, self.requeues = self.draw(st.integers(1, 4)), self.draw(st.integers(0, 2))
        self.sizes = self.draw(st.lists(st.integers(1, 4), min_size=1, max_size=7))
        self.queue = self.fresh()
        self.saved = self.queue.state()
        self.found_older = 0

    def fresh(self) -> StalenessQueue:
        return make_queue(self.sizes, bound=self.bound, requeues=self.requeues)

    def step(self, step: int) -> list[Dispatch]:
        """Dispatches some, draws events until the step has its groups, commits."""
        for _ in range(self.draw(st.integers(0, 30))):
            if self.queue.dispatch_next(step - 1) is None:
                break
        assert all(dispatch.step <= step + self.bound for dispatch in self.queue.in_flight)
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
        event = self.draw(st.sampled_from(["finish", "finish", "finish", "requeue", "kill"]))
        if event == "requeue":
            for old, fresh in self.queue.requeue_stragglers(step):
                assert old.attempt < self.requeues + self.found_older
                assert fresh.attempt == old.attempt + 1
        elif event == "kill" and self.draw(st.integers(0, 3)) == 0:
            self.queue = self.fresh()
            self.queue.restore(self.saved)
        elif self.queue.in_flight:
            dispatch = self.draw(st.sampled_from(self.queue.in_flight))
            older = self.draw(st.integers(0, 9)) == 0
            self.found_older += older
            self.queue.finish(dispatch, version=max(0, dispatch.version - older))
        else:
            assert self.queue.dispatch_next(step - 1) is not None, "a deadlock"


@given(data=st.data())
def test_every_prompt_is_taken_once_within_the_bound_whatever_happens(data: st.DataObject) -> None:
    """Draws sizes, orders of arrival, partial dispatch, requeues, versions older than expected, and
    kills that restore the state of the last commit. The test ends, so there is no deadlock.
    """
    run = Run(data)
    taken: list[Dispatch] = []
    for step, size in enumerate(run.sizes, start=1):
        chosen = run.step(step)
        assert len(chosen) == size
        assert all(0 <= step - 1 - dispatch.version <= run.bound for dispatch in chosen)
        assert chosen == sorted(chosen), "oldest first"
        taken += chosen
    expected = {(s + 1, p) for s, size in enumerate(run.sizes) for p in range(size)}
    assert Counter(positions(taken)) == Counter(expected), "lost or doubled"
    assert run.queue.state()["tickets"] == []
    assert run.queue.dispatch_next(len(run.sizes)) is None
