from app.thinking.history import MOST, History
from engine.protocol.messages import IterationDone
from tests.app.fake_engine import verdict


def filled(count: int) -> History:
    history = History()
    for iteration in range(1, count + 1):
        history.add(verdict(1, iteration))
    return history


def number(history: History) -> int | None:
    return history.current.iteration if isinstance(history.current, IterationDone) else None


def test_live_the_newest_is_looked_at() -> None:
    history = filled(3)
    assert (number(history), history.is_live) == (3, True)


def test_steps_lead_back_and_forth_and_stop_at_the_ends() -> None:
    history = filled(5)
    seen = []
    for by in (-1, -1, 1, -3, -1, 9):
        history.step(by)
        seen.append(number(history))
    assert seen == [4, 3, 4, 1, 1, 5]
    assert not history.is_live


def test_what_is_held_stays_while_others_come_and_when_it_is_dropped() -> None:
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


def test_an_iteration_is_found_by_its_number_where_it_is_kept() -> None:
    history = filled(4)
    assert history.show(2)
    assert number(history) == 2
    assert not history.show(9)
    assert number(history) == 2


def test_nothing_is_held_where_there_is_nothing() -> None:
    history = History()
    history.pause()
    history.step(-1)
    assert history.current is None
    assert history.is_live
