from app.panel.history import MOST_NODES, RunHistory
from engine.protocol.messages import IterationDone, TreeNodes
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
    add_large(history, 3, MOST_NODES // 1000 + 1)
    assert number(history) == 2
    assert history.place == -1
    assert sum(1 + len(done.tree.tokens) for done in history.iterations) <= MOST_NODES
    history.step(1)
    assert number(history) == history.iterations[0].iteration > 2
    history.go_live()
    assert number(history) == history.iterations[-1].iteration


def add_large(history: RunHistory, first: int, count: int) -> None:
    """Add iterations with trees of 1,000 nodes."""
    size = 1000
    for iteration in range(first, first + count):
        done = verdict(1, iteration, ())
        done.tree = TreeNodes(
            root_text="",
            tokens=[0] * size,
            parents=[-1] * size,
            log_probs=[-1.0] * size,
            sources=[1] * size,
            texts=["x"] * size,
        )
        history.add(done)


def test_all_iterations_of_a_long_answer_with_small_trees_are_kept() -> None:
    history = filled(4000)
    assert len(history.iterations) == 4000
    history.hold(1234)
    assert (number(history), history.place) == (1235, 1234)
    history.clear()
    add_large(history, 1, 3)
    assert len(history.iterations) == 3, "what was cleared no longer counts"


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
