"""The prompt library: saved texts, their variables, and its file."""

from pathlib import Path

import pytest

from app.store import BadImport, NotInStore, Store
from app.store.prompts import SavedPrompt, filled, from_file, matching, to_file, variables

TRANSLATE = SavedPrompt("Translate", "Translate into {{language}}, {{ tone }}; again {{language}}: {x}")


def test_prompts_are_saved_replaced_and_deleted(store: Store) -> None:
    store.prompts.save([TRANSLATE, SavedPrompt("brief", "Be brief.")])
    store.prompts.save([SavedPrompt("brief", "Be \ud800brief.")])
    assert store.prompts.all() == [SavedPrompt("brief", "Be ?brief."), TRANSLATE]
    store.prompts.delete("brief")
    assert store.prompts.all() == [TRANSLATE]
    with pytest.raises(NotInStore):
        store.prompts.delete("brief")


def test_variables_are_filled_once_and_values_are_not_read_again() -> None:
    assert variables(TRANSLATE.text) == ["language", "tone"]
    values = {"language": "{{tone}}", "tone": "formal"}
    assert filled(TRANSLATE.text, values) == "Translate into {{tone}}, formal; again {{tone}}: {x}"
    assert filled("{{a}} {{b}}", {"a": "1"}) == "1 {{b}}"


def test_names_that_begin_with_what_is_typed_come_first() -> None:
    found = matching(
        [SavedPrompt("A tone", ""), SavedPrompt("Tone down", ""), SavedPrompt("other", "")], "TON"
    )
    assert [prompt.name for prompt in found] == ["Tone down", "A tone"]


def test_a_library_survives_export_and_import(tmp_path: Path) -> None:
    path = tmp_path / "prompts.json"
    path.write_bytes(to_file([TRANSLATE]))
    assert from_file(path) == [TRANSLATE]


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        '{"format": "specexec-preset", "prompts": []}',
        '{"format": "specexec-prompts", "version": 9, "prompts": []}',
        '{"format": "specexec-prompts", "prompts": [{"name": "", "text": "x"}]}',
        '{"format": "specexec-prompts", "prompts": [{"name": 5, "text": "x"}]}',
        "{",
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(content)
    with pytest.raises(BadImport):
        from_file(path)
    with pytest.raises(BadImport, match="cannot be read"):
        from_file(tmp_path / "none.json")
