from app.panel.history import MOST, RunHistory
from engine.protocol.messages import IterationDone
from tests.app.fake_engine import verdict


def filled(count: int) -> RunHistory:
    history = RunHistory()
    for iteration in range(1, count + 1):
        history.add(verdict(1, iteration))
    return history


def number(history: RunHistory) -> int | None:
    return history.current.iteration if isinstance(history.current, IterationDone) else None


def test_the_newest_iteration_is_in_view_while_live() -> None:
    history = filled(3)
    assert (number(history), history.is_live) == (3, True)


def test_steps_go_back_and_forth_and_stop_at_the_ends() -> None:
    history = filled(5)
    seen = []
    for by in (-1, -1, 1, -3, -1, 9):
        history.step(by)
        seen.append(number(history))
    assert seen == [4, 3, 4, 1, 1, 5]
    assert not history.is_live


def test_a_held_iteration_stays_when_others_arrive_and_when_it_is_dropped() -> None:
    history = filled(2)
    history.pause()
    for iteration in range(3, MOST + 10):
        history.add(verdict(1, iteration))
    assert number(history) == 2
    assert len(history.iterations) == MOST
    history.step(1)
    assert number(history) == history.iterations[0].iteration == 10
    history.go_live()
    assert number(history) == MOST + 9


def test_an_iteration_is_found_by_its_number_if_it_is_kept() -> None:
    history = filled(4)
    assert history.show(2)
    assert number(history) == 2
    assert not history.show(9)
    assert number(history) == 2


def test_nothing_is_held_in_an_empty_history() -> None:
    history = RunHistory()
    history.pause()
    history.step(-1)
    assert history.current is None
    assert history.is_live
