"""The order of batches: counted steps, no clock."""

from workers.engines.cpu.batching.parts import WHOLE
from workers.engines.cpu.batching.turns import CHAT_STEPS, NEAR_STEPS, SMALL, Turn, Turns

CHATS, OTHER_CHATS = Turn(1, background=False), Turn(2, background=False)
ROLLOUTS, OTHER_ROLLOUTS = Turn(1, background=True), Turn(3, background=True)


def test_a_chat_is_next_whatever_rollouts_do() -> None:
    turns = Turns()
    for _ in range(10):
        assert turns.next([ROLLOUTS, OTHER_ROLLOUTS])[1] == WHOLE
    assert turns.next([ROLLOUTS, OTHER_ROLLOUTS, CHATS]) == (CHATS, WHOLE)


def test_rollouts_get_one_small_step_for_some_of_chats() -> None:
    turns, working = Turns(), [ROLLOUTS, CHATS]
    taken = [turns.next(working) for _ in range(3 * (CHAT_STEPS + 1))]
    assert taken == 3 * [*(CHAT_STEPS * [(CHATS, WHOLE)]), (ROLLOUTS, SMALL)]


def test_steps_of_rollouts_stay_small_for_a_while_after_a_chat() -> None:
    turns = Turns()
    turns.next([ROLLOUTS, CHATS])
    limits = [turns.next([ROLLOUTS])[1] for _ in range(NEAR_STEPS + 5)]
    assert limits == [*(NEAR_STEPS * [SMALL]), *(5 * [WHOLE])]


def test_batches_of_a_kind_alternate_and_a_new_one_goes_first() -> None:
    turns = Turns()
    first = [turns.next([ROLLOUTS, OTHER_ROLLOUTS])[0] for _ in range(4)]
    assert first == 2 * [ROLLOUTS, OTHER_ROLLOUTS]
    for _ in range(5):
        assert turns.next([CHATS])[0] == CHATS
    assert [turns.next([CHATS, OTHER_CHATS])[0] for _ in range(3)] == [
        OTHER_CHATS,
        CHATS,
        OTHER_CHATS,
    ]
