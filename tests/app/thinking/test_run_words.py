from app.thinking import run_words
from engine.protocol.messages import Link, Seconds
from tests.app.fake_engine import answer, loaded, verdict


def test_an_iteration_is_one_line() -> None:
    done = verdict(1, 41)
    assert run_words.iteration_line(done, None) == "iteration 41: 2 of 6 accepted, 0.10 s"
    disk = Link(kind="disk", limit_gb_per_s=3.2)
    assert run_words.iteration_line(done, disk).endswith("0.10 s, waited 0.01 s for the disk")
    assert "PCIe" in run_words.iteration_line(done, Link(kind="PCIe", limit_gb_per_s=None))


def test_a_speed_up_is_only_said_against_what_was_measured() -> None:
    said = " ".join(run_words.why(answer(1), loaded(1), None))
    assert "times as fast" not in said
    said = " ".join(run_words.why(answer(1), loaded(1), 5.0))
    assert "5.00 tokens/s. This answer was 2.50 times as fast" in said


def test_the_figures_of_the_sentences_multiply_to_the_speed() -> None:
    told = answer(1)
    told.tokens_per_pass, told.target_passes = 4.0, 2
    told.seconds = Seconds(draft=0.5, target=1.0, stream_wait=0.4, other=0.1)
    sentences = run_words.why(told, loaded(1), None)
    assert "4.00 tokens per pass ÷ 1.00 s = 4.00 tokens/s." in sentences
    assert "0.25 s drafting, 0.50 s computing the target, 0.20 s waiting, 0.05 s" in sentences[1]


def test_what_took_the_most_time_is_named() -> None:
    told = answer(1)
    for phase, word in (("draft", "Drafting"), ("target", "Computing"), ("stream_wait", "disk")):
        told.seconds = Seconds(**{phase: 3.0})
        assert word in run_words.why(told, loaded(1), None)[2]


def test_an_answer_without_a_pass_has_no_figures() -> None:
    told = answer(1)
    told.tokens_per_pass = None
    assert len(run_words.why(told, loaded(1), 5.0)) == 1


def test_the_link_is_told_against_its_limit() -> None:
    assert run_words.link_use(2.1, Link(kind="disk", limit_gb_per_s=3.2)) == "disk: 2.10 of 3.20 GB/s"
    assert "not measured" in run_words.link_use(2.1, Link(kind="PCIe", limit_gb_per_s=None))
