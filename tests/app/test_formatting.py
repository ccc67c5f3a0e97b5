import pytest
from msgspec import structs
from PySide6.QtCore import QLocale

from app import formatting
from app.store import AnswerReport, ChatSettings, ModelPair
from engine.protocol.messages import LoadProgress
from tests.app.fake_engine import MODEL, answer, loaded


@pytest.fixture(autouse=True)
def english() -> None:
    QLocale.setDefault(QLocale.c())


@pytest.mark.parametrize(
    ("value", "shown"), [(0.123, "0.12"), (6.42, "6.42"), (12.34, "12.3"), (123.4, "123")]
)
def test_numbers_have_only_significant_digits(value: float, shown: str) -> None:
    assert formatting.decimal(value) == shown


def test_unknown_figures_of_an_answer_are_omitted() -> None:
    short = answer(1, "")
    short.tokens, short.tokens_per_second, short.tokens_per_pass = 1, None, None
    short.time_to_first_token_s = None
    short.stop_reason = "cancelled"
    assert formatting.answer_summary(short) == "1\u00a0token\u00a0· seed\u00a07\u00a0· stopped by you"


def test_a_stored_answer_names_its_models() -> None:
    draft = structs.replace(MODEL, name="Tiny-1M")
    for pair, named in (
        (loaded(1), MODEL.name),
        (structs.replace(loaded(1), draft=draft), f"{MODEL.name} with Tiny-1M"),
    ):
        report = AnswerReport.of(answer(1), ChatSettings(), ModelPair.of(pair))
        assert formatting.answer_summary(report).endswith(f"\u00a0· {named}")


def test_a_stage_without_bytes_has_no_count() -> None:
    progress = LoadProgress(request=1, stage="libraries", done=0, total=0)
    assert formatting.load_stage(progress) == "Starting the libraries…"


def test_loading_counts_layers() -> None:
    progress = LoadProgress(request=1, stage="target", done=1 << 30, total=4 << 30, layer=7, layers=28)
    assert formatting.load_stage(progress) == "Loading the target: layer 7 of 28, 1.0 GB of 4.0 GB"


def test_a_missing_draft_is_mentioned() -> None:
    assert "no draft model" in formatting.model_details(loaded(1))


def test_an_excerpt_is_one_short_line() -> None:
    assert formatting.excerpt("one\n\n  two") == "one two"
    long = formatting.excerpt("word " * 100, length=20)
    assert len(long) <= 20
    assert long.endswith("word…")


def test_a_number_too_large_for_qt_is_shown() -> None:
    assert formatting.number(1 << 63) == "9223372036854775808"
    assert formatting.number(-(1 << 64)) == "-18446744073709551616"
