import pytest
from msgspec import structs
from PySide6.QtCore import QLocale

from app import formatting
from app.store import AnswerReport, ChatSettings, ModelPair, StoredMessage
from engine.protocol.messages import LoadProgress, LoadStage
from tests.app.fake_engine import MODEL, answer, loaded


@pytest.fixture(autouse=True)
def english() -> None:
    QLocale.setDefault(QLocale.c())


@pytest.mark.parametrize(
    ("value", "shown"), [(0.123, "0.12"), (6.42, "6.42"), (12.34, "12.3"), (123.4, "123")]
)
def test_numbers_have_only_significant_digits(value: float, shown: str) -> None:
    assert formatting.decimal(value) == shown


def stored(state: str = "complete", **figures: object) -> StoredMessage:
    """Return an answer of a model without a draft as it is stored."""
    report = AnswerReport.of(answer(1), ChatSettings(), ModelPair.of(loaded(1)))
    report = structs.replace(report, **figures)
    return StoredMessage(
        id=2, parent=1, role="assistant", text="x", created_at=0, state=state, reports=(report,)
    )


def test_unknown_figures_of_an_answer_are_left_out() -> None:
    unknown = {"tokens_per_second": None, "tokens_per_pass": None, "time_to_first_token_s": None}
    assert formatting.message_figures(stored(tokens=1, stop_reason="cancelled", **unknown)) == [
        ("Tokens", "1"),
        ("Seed", "7"),
        ("End", "stopped by you"),
        ("Model", MODEL.name),
    ]
    assert formatting.message_figures(stored("interrupted")) == []
    assert (
        formatting.message_speed(stored(**unknown)) == formatting.message_speed(stored("interrupted")) == ""
    )
    assert formatting.message_speed(stored()) == "12.5 tokens/s"


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("end_of_sequence", ""),
        ("stop_string", ""),
        ("cancelled", "Stopped by you"),
        ("max_new_tokens", "Ended at the token limit"),
        ("context_full", "The context is full; start a new chat (Ctrl+N)"),
    ],
)
def test_only_an_answer_that_is_not_whole_says_why(reason: str, ending: str) -> None:
    assert formatting.message_ending(stored(stop_reason=reason)) == ending
    assert formatting.message_ending(stored("interrupted", stop_reason=reason)) == "Incomplete"


def test_a_stored_answer_names_its_models() -> None:
    with_draft = structs.replace(loaded(1), draft=structs.replace(MODEL, name="Tiny-1M"))
    figures = dict(formatting.message_figures(stored(pair=ModelPair.of(with_draft))))
    assert figures["Model"] == f"{MODEL.name} with Tiny-1M"


def test_a_stage_without_bytes_has_no_count() -> None:
    progress = LoadProgress(request=1, stage="libraries", done=0, total=0)
    assert formatting.load_stage(progress) == "Starting the libraries…"


def test_loading_counts_bytes() -> None:
    progress = LoadProgress(request=1, stage="target", done=1 << 30, total=4 << 30, layer=7, layers=28)
    assert formatting.load_stage(progress) == "Loading the model: 1.0 GB of 4.0 GB"


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("kernels", "Preparing the model; this takes longer the first time"),
        ("compiling", "Preparing your graphics card"),
    ],
)
def test_kernels_are_counted(stage: LoadStage, words: str) -> None:
    progress = LoadProgress(request=1, stage=stage, done=3, total=12)
    assert formatting.load_stage(progress) == f"{words}: 3 of 12"


def test_a_missing_draft_is_mentioned() -> None:
    assert "no draft model" in formatting.model_details(loaded(1))


def test_heads_are_named_by_their_kind_and_their_folder_is_a_detail() -> None:
    heads = structs.replace(MODEL, name="smollm2-135m-eagle", architecture="eagle3")
    pair = structs.replace(loaded(0), draft=heads)
    assert formatting.draft_name(pair) == "draft EAGLE-3 heads"
    assert "draft smollm2-135m-eagle" in formatting.model_details(pair)
    model = structs.replace(loaded(0), draft=structs.replace(MODEL, name="Small 1B"))
    assert formatting.draft_name(model) == "draft Small 1B"


def test_an_excerpt_is_one_short_line() -> None:
    assert formatting.excerpt("one\n\n  two") == "one two"
    long = formatting.excerpt("word " * 100, length=20)
    assert len(long) <= 20
    assert long.endswith("word…")


def test_a_number_too_large_for_qt_is_shown() -> None:
    assert formatting.number(1 << 63) == "9223372036854775808"
    assert formatting.number(-(1 << 64)) == "-18446744073709551616"
    assert formatting.nbytes(1 << 64) == formatting.nbytes((1 << 63) - 1) == "8.0 EB"


def test_drafters_have_the_names_that_the_settings_use() -> None:
    assert formatting.drafter("specexec") == "SpecExec"
    assert formatting.drafter("recycling+pld") == "Token Recycling + Prompt lookup"
    assert formatting.drafter("of a later version") == "of a later version"
