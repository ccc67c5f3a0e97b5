"""Recordings are read back as they were; what is not one is refused with a reason."""

import json
from pathlib import Path

import pytest

from app.race import race_record, race_words
from app.race.race_record import BadRace
from engine.errors import DiskProblem
from tests.app.race.made import WORDS, lane, race


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "sea.race.json"
    race_record.save(path, race())
    assert race_record.read(path) == race()
    assert path.stat().st_mode & 0o077 == 0, "a question is private"


def test_an_answer_is_known_at_any_time() -> None:
    one = lane(1.2, 1)
    assert one.text == " ".join(WORDS)
    assert [one.tokens_at(one.passes_at(t)) for t in (0.0, 0.05, 0.1, 1.2, 9.0)] == [1, 1, 2, 13, 13]
    assert one.text[: one.length_at(one.passes_at(0.1))] == "The sea"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d["lanes"].pop(), "damaged"),
        (lambda d: d["lanes"][0]["passes"].reverse(), "first token"),
        (lambda d: d["lanes"][0].update(passes=[]), "first token"),
        (lambda d: d["lanes"][1]["passes"][1].update(t=9.0), "order"),
        (lambda d: d["lanes"][1]["passes"][1].update(t=-1.0), "damaged"),
        (lambda d: d["lanes"][1]["passes"][1].update(tokens=1), "order"),
        (lambda d: d["lanes"][1]["token_ids"].pop(), "as many tokens"),
        (lambda d: d["lanes"][0].update(target=7), "damaged"),
        (lambda d: d.update(recorded_at=1e300), "damaged"),
        (lambda d: d.update(specexec_race=99), "another version"),
        (lambda d: d.pop("specexec_race"), "not a recorded race"),
    ],
)
def test_a_damaged_recording_is_refused(tmp_path: Path, change, says: str) -> None:
    path = tmp_path / "sea.race.json"
    race_record.save(path, race())
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(BadRace, match=says) as refused:
        race_record.read(path)
    assert "sea.race.json" in refused.value.message


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\x00", b"[" * 100_000, b'{"specexec_race": "1"}'])
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(BadRace, match="not a recorded race"):
        race_record.read(path)


def test_folders_that_refuse_are_named(tmp_path: Path) -> None:
    with pytest.raises(DiskProblem, match="nowhere"):
        race_record.save(tmp_path / "nowhere" / "a.race.json", race())
    with pytest.raises(DiskProblem, match="nowhere"):
        race_record.read(tmp_path / "nowhere" / "a.race.json")


def test_the_same_tokens_are_the_same_text() -> None:
    assert race_words.sameness(race()) == "Same text: yes, all 13 tokens."
    assert race_words.why_they_part(race()) == ""
    assert race_words.factor(race()) == "SpecExec was 3.00 times as fast"
    assert (
        race_words.finishes(race()) == "Plain decoding: 13 tokens in 1.20 s · SpecExec: 13 tokens in 0.40 s"
    )


def test_the_place_where_texts_part_is_shown() -> None:
    other = [*WORDS[:4], "or", "shallow"]
    parted = race(lane(1.0), lane(0.5, 3, other))
    assert race_words.sameness(parted) == (
        "Same text: no. After 4 tokens, “and deep and blue and ol…” stands against “or shallow”."
    )
    assert "16-bit" in race_words.why_they_part(parted)


def test_a_shorter_answer_that_agrees_has_the_same_text_so_far() -> None:
    shorter = race(lane(1.0), lane(0.5, 3, WORDS[:7]))
    assert race_words.sameness(shorter) == "Same text: yes, up to the 7 tokens of the shorter answer."


def test_two_models_are_compared_by_name() -> None:
    both = race(lane(0.5, 3), lane(2.0, 3, WORDS[:9], target="Large"))
    assert race_words.sameness(both) == "Two models, two texts."
    assert race_words.factor(both) == "Tiny was 6.00 times as fast as Large"


def test_a_slower_tree_is_said_to_be_slower() -> None:
    assert (
        race_words.factor(race(lane(1.0), lane(2.0, 3)))
        == "Plain decoding was 2.00 times as fast as SpecExec"
    )
