"""Answers and reports for the tests."""

from app.store import AnswerReport, ChatSettings, ModelPair, SavedOptions
from engine.protocol.messages import Answer, Memory, Seconds, StopReason
from tests.app import fake_engine

PAIR = ModelPair.of(fake_engine.loaded(1))
SETTINGS = ChatSettings(system="Be brief.", options=SavedOptions(temperature=0.6, top_p=0.9))


def answer(text: str, seed: int = 7, stop_reason: StopReason = "end_of_sequence") -> Answer:
    return Answer(
        request=1,
        text=text,
        token_ids=[1, 2, 3, 4, 5],
        log_probs=None,
        stop_reason=stop_reason,
        seed=seed,
        prompt_tokens=12,
        reused_tokens=2,
        tokens=5,
        target_passes=2,
        tokens_per_pass=2.0,
        tokens_per_second=12.5,
        time_to_first_token_s=0.25,
        seconds=Seconds(draft=0.2, target=0.6, stream_wait=0.1, other=0.1),
        bytes_streamed=4096,
        link_gb_per_s=None,
        memory=Memory(vram=0, ram=98_000_000, peak=700_000_000),
        drafter="recycling",
        budget=64,
        budgets=[64, 32],
    )


def report(seed: int = 7) -> AnswerReport:
    return AnswerReport.of(answer("", seed), SETTINGS, PAIR)
