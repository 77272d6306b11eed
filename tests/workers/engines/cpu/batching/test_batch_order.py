"""The order of batches: counted steps, no clock."""

from collections import Counter

from workers.engines.cpu.batching.scheduler import (
    CHAT_STEPS,
    NEAR_STEPS,
    SMALL,
    BatchKind,
    BatchOrder,
)
from workers.engines.cpu.batching.version_batch import WHOLE

CHATS, OTHER_CHATS = BatchKind(1, background=False), BatchKind(2, background=False)
ROLLOUTS, OTHER_ROLLOUTS = BatchKind(1, background=True), BatchKind(3, background=True)


def test_a_chat_is_next_whatever_rollouts_do() -> None:
    order = BatchOrder()
    for _ in range(10):
        assert order.next([ROLLOUTS, OTHER_ROLLOUTS])[1] == WHOLE
    assert order.next([ROLLOUTS, OTHER_ROLLOUTS, CHATS]) == (CHATS, WHOLE)


def test_rollouts_get_one_small_step_for_some_of_chats() -> None:
    order, working = BatchOrder(), [ROLLOUTS, CHATS]
    taken = [order.next(working) for _ in range(3 * (CHAT_STEPS + 1))]
    assert taken == 3 * [*(CHAT_STEPS * [(CHATS, WHOLE)]), (ROLLOUTS, SMALL)]


def test_steps_of_rollouts_stay_small_for_a_while_after_a_chat() -> None:
    order = BatchOrder()
    order.next([ROLLOUTS, CHATS])
    limits = [order.next([ROLLOUTS])[1] for _ in range(NEAR_STEPS + 5)]
    assert limits == [*(NEAR_STEPS * [SMALL]), *(5 * [WHOLE])]


def test_batches_of_a_kind_alternate_and_a_new_one_goes_first() -> None:
    order = BatchOrder()
    first = [order.next([ROLLOUTS, OTHER_ROLLOUTS])[0] for _ in range(4)]
    assert first == 2 * [ROLLOUTS, OTHER_ROLLOUTS]
    for _ in range(5):
        assert order.next([CHATS])[0] == CHATS
    assert [order.next([CHATS, OTHER_CHATS])[0] for _ in range(3)] == [
        OTHER_CHATS,
        CHATS,
        OTHER_CHATS,
    ]


def test_an_owner_with_many_versions_gets_no_more_steps_than_another() -> None:
    many = [BatchKind(number, background=True) for number in range(20)]
    shared, alone = BatchKind(20, background=True), BatchKind(21, background=True)
    owners = {**{kind: {"many"} for kind in many}, shared: {"many", "third"}, alone: {"one"}}
    order = BatchOrder()
    for _ in range(7):
        order.next(many, owners.__getitem__)
    working = [*many, shared, alone]
    taken = [order.next(working, owners.__getitem__)[0] for _ in range(42 * 3)]
    steps = Counter(taken)
    assert min(steps[alone], steps[shared], sum(steps[kind] for kind in many)) >= 42
    assert steps.keys() == set(working)  # each version advances


def test_owners_that_come_and_go_do_not_keep_another_waiting() -> None:
    shared, alone = BatchKind(1, background=False), BatchKind(2, background=False)
    order, taken = BatchOrder(), list[BatchKind]()
    for number in range(40):
        owners = {shared: {f"visitor {number}", f"visitor {number + 1}"}, alone: {"one"}}
        taken.append(order.next([shared, alone], owners.__getitem__)[0])
    assert taken.count(alone) == 20
