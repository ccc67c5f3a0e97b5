import pytest
from msgspec import structs

from app.panel import run_figures
from app.panel.run_figures import Rates, link_gb_per_s, seconds_of
from engine.protocol.messages import ExpertFigures, IterationDone, Link, Seconds
from tests.app.fake_engine import answer, loaded, verdict


def at(t: float, tokens: int) -> IterationDone:
    done = verdict(1)
    done.tokens, done.tokens_per_second = tokens, (tokens - 1) / t
    return done


def test_speed_of_the_last_30_seconds_and_of_the_whole_answer() -> None:
    rates = Rates()
    for t, tokens in ((10.0, 101), (50.0, 141), (80.0, 291)):
        rates.add(at(t, tokens))
    assert [moment.t for moment in rates.moments] == pytest.approx([10, 50, 80])
    assert [moment.whole for moment in rates.moments] == pytest.approx([10, 2.8, 290 / 80])
    # The first 30 s before 50 s begin after the iteration at 10 s; then only the step from 50 s counts.
    assert rates.moments[0].recent == pytest.approx(10)
    assert rates.moments[2].recent == pytest.approx(150 / 30)


def test_lengths_are_counted() -> None:
    rates = Rates()
    for accepted in ((0, 2), (0, 2), ()):
        rates.add(verdict(1, accepted=accepted))
    assert rates.lengths == {2: 2, 0: 1}


def test_use_of_the_link_is_bytes_per_duration_of_the_iteration() -> None:
    done = verdict(1)
    assert link_gb_per_s(done) is None
    done.bytes_streamed = 2_000_000_000
    assert link_gb_per_s(done) == pytest.approx(2.0 / seconds_of(done)) == pytest.approx(20.0)


def test_an_iteration_is_one_line() -> None:
    done = verdict(1, 41)
    assert run_figures.iteration_line(done, None) == "iteration 41: 2 of 6 accepted, 0.10 s"
    disk = Link(kind="disk", limit_gb_per_s=3.2)
    assert run_figures.iteration_line(done, disk).endswith("0.10 s, waited 0.01 s for the disk")
    assert "PCIe" in run_figures.iteration_line(done, Link(kind="PCIe", limit_gb_per_s=None))
    done.ahead_s, done.survivors = 0.25, 1042
    line = run_figures.iteration_line(done, disk)
    assert line.endswith("for the disk, drafted 0.25 s meanwhile, 1042 nodes from the pass before")


def test_a_speed_up_is_only_shown_against_a_measurement() -> None:
    text = " ".join(run_figures.why(answer(1), loaded(1), None))
    assert "times as fast" not in text
    text = " ".join(run_figures.why(answer(1), loaded(1), 5.0))
    assert "5.00 tokens/s. This answer was 2.50 times as fast" in text


@pytest.mark.parametrize(
    ("per_pass", "drafter", "reason"),
    [
        (2.7, "recycling", "2.70 tokens on average, because it verifies a whole tree"),
        (1.02, "recycling", "1.02 tokens on average, hardly more than plain decoding"),
        (1.0, "none", "No drafter is in use"),
    ],
)
def test_the_reason_fits_what_the_guesses_brought(per_pass: float, drafter: str, reason: str) -> None:
    complete = structs.replace(answer(1), tokens_per_pass=per_pass, drafter=drafter)
    assert reason in run_figures.why(complete, loaded(1), None)[0]


def test_the_line_below_an_answer_compares_only_what_was_measured() -> None:
    complete = structs.replace(answer(1), tokens_per_pass=2.7, tokens_per_second=12.6)
    assert run_figures.speed_line(complete, None) == "2.7 tokens per pass: see why"
    assert run_figures.speed_line(complete, 6.0) == "2.7 tokens per pass, 2.1 × plain: see why"
    assert run_figures.speed_line(structs.replace(complete, tokens_per_pass=None), 6.0) == ""


def test_the_figures_in_the_sentences_multiply_to_the_speed() -> None:
    complete = answer(1)
    complete.tokens_per_pass, complete.target_passes = 4.0, 2
    complete.seconds = Seconds(draft=0.5, target=1.0, stream_wait=0.4, other=0.1)
    sentences = run_figures.why(complete, loaded(1), None)
    assert "4.00 tokens per pass ÷ 1.00 s = 4.00 tokens/s." in sentences
    assert "0.25 s drafting, 0.50 s computing the target, 0.20 s waiting for weights, 0.05 s" in sentences[1]


def test_the_bottleneck_is_named() -> None:
    complete = answer(1)
    for phase, word in (("draft", "Drafting"), ("target", "Computing"), ("stream_wait", "disk")):
        complete.seconds = Seconds(**{phase: 3.0})
        assert word in run_figures.why(complete, loaded(1), None)[2]


def test_an_answer_without_a_pass_has_no_figures() -> None:
    complete = answer(1)
    complete.tokens_per_pass = None
    assert len(run_figures.why(complete, loaded(1), 5.0)) == 1


def test_the_use_of_the_link_is_compared_to_its_limit() -> None:
    assert run_figures.link_use(2.1, Link(kind="disk", limit_gb_per_s=3.2)) == "disk: 2.10 of 3.20 GB/s"
    assert "not measured" in run_figures.link_use(2.1, Link(kind="PCIe", limit_gb_per_s=None))


def test_what_the_cache_of_experts_did_is_said() -> None:
    figures = ExpertFigures(hits=75, misses=25, bytes_read=30 << 20, predicted=0, right=0)
    said = run_figures.experts_line(figures, tokens=10)
    assert said.startswith("75 % of the experts that the model used (75 of 100) were in memory; 3.0 MB were")
    assert "per token of the answer, reading the prompt included." in said
    assert "ahead" not in said
    assert "on their way" not in said
    said = run_figures.experts_line(structs.replace(figures, hits=55, late=20), tokens=10)
    assert said.startswith("55 % of the experts that the model used (55 of 100) were in memory;")
    assert "20 % were still on their way when the model chose them." in said
    on_card = structs.replace(figures, tier="vram")
    said = run_figures.experts_line(on_card, tokens=10)
    assert "(75 of 100) were on the graphics card; 3.0 MB were copied to it per token of the answer" in said
    assert "disk" not in said
    said = run_figures.experts_line(structs.replace(on_card, bytes_from_disk=10 << 20), tokens=10)
    assert "1.0 MB per token had to be read from the disk." in said
    assert "in RAM" not in said
    ram = structs.replace(figures, hits=12, late=3, misses=5, predicted=8, right=6)
    said = run_figures.experts_line(structs.replace(on_card, ram=ram), tokens=10)
    assert "(75 of 100) were on the graphics card;" in said
    assert "60 % of those copied to it were in RAM when needed, and 15 % on their way there." in said
    assert "75 % of those read ahead were the right ones." in said
    helped = structs.replace(on_card, misses=5, near=20)
    said = run_figures.experts_line(helped, tokens=10)
    assert said.startswith("75 % of the experts")
    assert "The processor multiplied by 20 % of them in RAM." in said
    assert "layer" not in said
    assert run_figures.layers_line(helped) == ""
    by_layer = structs.replace(helped, near_by_layer=[(1, 40, 4), (2, 30, 15), (3, 30, 1)])
    assert "Most in layer 3 (50 %), least in layer 4 (3 %)." in run_figures.experts_line(by_layer, tokens=10)
    assert run_figures.layers_line(by_layer).endswith("layer by layer: 2: 10 %, 3: 50 %, 4: 3 %")
    assert "40 % of those read ahead" in run_figures.experts_line(
        structs.replace(figures, predicted=10, right=4), tokens=10
    )
