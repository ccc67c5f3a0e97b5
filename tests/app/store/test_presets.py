from pathlib import Path

import pytest

from app.store import BadImport, ChatSettings, Preset, SavedOptions, Store, presets
from tests.app.store.made import SETTINGS

NAMES = ["Brief", "brief", "a/b: *?", "번역"]


def test_presets_are_stored_by_name(store: Store) -> None:
    for name in NAMES:
        store.presets.save(Preset(name, SETTINGS))
    store.presets.save(Preset("Brief", ChatSettings(system="new")))
    store.presets.delete("번역")
    assert [preset.name for preset in store.presets.all()] == ["a/b: *?", "Brief", "brief"]
    assert store.presets.all()[1].settings.system == "new"


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_survives_export_and_import(tmp_path: Path, name: str) -> None:
    settings = ChatSettings(
        system="s", draft="none", context=4096, options=SavedOptions(budget=64, logit_bias={5: -1.0})
    )
    (tmp_path / "a.json").write_bytes(presets.to_file(Preset(name, settings)))
    assert presets.from_file(tmp_path / "a.json") == Preset(name, settings)


def test_a_setting_of_a_later_version_is_ignored(tmp_path: Path) -> None:
    content = presets.to_file(Preset("a", SETTINGS)).replace(
        b'"options": {', b'"mood": 1, "options": {"mood": 2,'
    )
    (tmp_path / "a.json").write_bytes(content)
    assert presets.from_file(tmp_path / "a.json").settings == SETTINGS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a preset"),
        (b"\xff", "not a preset"),
        (b"[]", "not a preset"),
        (b'{"format": "specexec-preset", "version": 9, "name": "a", "settings": {}}', "newer version"),
        (b'{"format": "specexec-chats", "name": "a", "settings": {}}', "not a preset"),
        (b'{"name": "a", "settings": {"options": {"temperature": -1}}}', "temperature"),
    ],
)
def test_a_file_that_is_not_a_preset_is_reported(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(BadImport, match=reason):
        presets.from_file(tmp_path / "a.json")
    with pytest.raises(BadImport, match="cannot be read"):
        presets.from_file(tmp_path / "absent.json")
