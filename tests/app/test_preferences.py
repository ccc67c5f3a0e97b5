from pathlib import Path

import msgspec
import pytest

from app.preferences import (
    NEW_CHATS,
    RECENT,
    LoadPreferences,
    Preferences,
    PreferencesError,
    PreferencesFile,
    RecentPair,
    WindowState,
    load_request,
)
from app.store import ChatSettings, SavedOptions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


def test_without_a_file_the_defaults_are_in_use(path: Path) -> None:
    file = PreferencesFile(path)
    assert file.now == Preferences()
    assert file.error is None
    assert not path.exists()


def test_all_preferences_survive_a_restart(path: Path) -> None:
    options = SavedOptions(temperature=0.0, seed=2**63 - 1, stop=["\n\n", "끝"], logit_bias={7: -1.5})
    chosen = {
        "theme": "dark",
        "language": "zh_CN",
        "send_key": "ctrl_enter",
        "reduced_motion": True,
        "notifications": False,
        "loading": LoadPreferences(vram_limit=8.5, device="cpu"),
        "new_chats": ChatSettings(system='Say "so".\nAlways.', context=4096, options=options),
        "recent_pairs": [RecentPair("coder", "auto"), RecentPair(None, "none")],
        "window": WindowState(geometry=b"\x00\xff", splitters={"main": [200, 600]}, sidebar=False),
    }
    PreferencesFile(path).change(**chosen)
    again = PreferencesFile(path)
    assert again.now == Preferences(**chosen)
    assert again.error is None


def test_a_value_reset_to_none_leaves_the_file(path: Path) -> None:
    PreferencesFile(path).change(loading=LoadPreferences(ram_limit=3))
    PreferencesFile(path).change(loading=LoadPreferences())
    assert PreferencesFile(path).now.loading.ram_limit is None


def test_keys_of_other_versions_are_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('theme = "dark"\ncolour = "teal"\n[loading]\nngl = 3\n[remote]\nurl = "http://x"\n')
    PreferencesFile(path).change(theme="light")
    kept = msgspec.toml.decode(path.read_text())
    assert (kept["theme"], kept["colour"], kept["remote"]) == ("light", "teal", {"url": "http://x"})
    assert kept["loading"]["ngl"] == 3


@pytest.mark.parametrize(
    "damaged",
    [
        b"theme = ",
        b'theme = "purple"',
        b"\xff\xfe",
        b"loading = 3",
        b"[loading]\nram_limit = -1.0",
        b"other = " + b"[" * 5000 + b"]" * 5000,
        b"other = " + b"[" * 100 + b"]" * 100,
        b"a" + b".a" * 3000 + b" = 1",
        b"#" * (17 << 20),
    ],
    ids=["cut off", "no theme", "no text", "no table", "negative", "deep", "less deep", "dotted", "long"],
)
def test_a_damaged_file_is_set_aside_and_reported(path: Path, damaged: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damaged)
    file = PreferencesFile(path)
    assert file.now == Preferences()
    assert file.error is not None
    (aside,) = path.parent.iterdir()
    assert aside.read_bytes() == damaged
    assert str(aside) in file.error.hint
    file.change(theme="dark")
    assert PreferencesFile(path).now.theme == "dark"


def test_a_failed_save_is_reported_and_the_change_stays_in_use(path: Path) -> None:
    path.parent.write_text("a file where the folder should be")
    file = PreferencesFile(path)
    with pytest.raises(PreferencesError, match="could not be saved"):
        file.change(theme="dark")
    assert file.now.theme == "dark"


def test_an_interrupted_write_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PreferencesFile(path)
    file.change(theme="dark")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(PreferencesError, match="No space left"):
        file.change(theme="light")
    assert [each.name for each in path.parent.iterdir()] == ["settings.toml"]
    assert PreferencesFile(path).now.theme == "dark"


def test_the_newest_pair_comes_first_without_duplicates(path: Path) -> None:
    file = PreferencesFile(path)
    for number in range(RECENT + 2):
        file.remember_pair(RecentPair(f"model-{number}"))
    file.remember_pair(RecentPair("model-5"))
    recent = [pair.target for pair in PreferencesFile(path).now.recent_pairs]
    assert recent == ["model-5", "model-7", "model-6", "model-4", "model-3", "model-2"]


def test_new_chats_start_with_the_published_settings() -> None:
    assert (NEW_CHATS.options.temperature, NEW_CHATS.options.top_p) == (0.6, 0.9)


def test_a_load_carries_the_limits() -> None:
    load = load_request(RecentPair("coder", "none"), 2048, LoadPreferences(vram_limit=6, kv_cache="q8_0"))
    assert (load.target, load.draft, load.context) == ("coder", "none", 2048)
    assert (load.vram_limit, load.ram_limit, load.kv_cache) == (6, None, "q8_0")
