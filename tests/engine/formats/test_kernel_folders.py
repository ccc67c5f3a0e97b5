"""Kernels compiled from several states of the sources lie side by side, within bounds."""

import os
import time

import pytest

from engine.formats.kernel_folders import MOST, UNUSED_S, state_of, use_folder


def used(parent, state, ago_s):
    """Make the folder of a state that was last used so many seconds ago, with a kernel in it."""
    folder = parent / state
    folder.mkdir(parents=True)
    (folder / "kernel.nbc").write_bytes(b"code")
    then = time.time() - ago_s
    os.utime(folder, (then, then))


def states(parent):
    return {folder.name for folder in parent.iterdir()}


@pytest.mark.parametrize("change", ["text", "new file", "compiler"])
def test_another_state_of_the_sources_has_another_name(tmp_path, change):
    sources = [tmp_path / "loops.py", tmp_path / "helpers.py"]
    for file in sources:
        file.write_text("x = 1\n")
    before = state_of(sources, "0.68")
    assert state_of(sources, "0.68") == before
    if change == "text":
        sources[1].write_text("x = 2\n")
    elif change == "new file":
        sources.append(sources[0])
    assert state_of(sources, "0.69" if change == "compiler" else "0.68") != before


def test_checkouts_that_take_turns_keep_their_kernels(tmp_path):
    for state in ("ours", "theirs"):
        (use_folder(tmp_path, state) / "kernel.nbc").write_bytes(state.encode())
    for state in ("ours", "theirs", "ours"):
        assert (use_folder(tmp_path, state) / "kernel.nbc").read_bytes() == state.encode()


def test_what_was_not_used_for_long_is_deleted(tmp_path):
    used(tmp_path, "forgotten", UNUSED_S + 60)
    used(tmp_path, "rare", UNUSED_S - 60)
    use_folder(tmp_path, "ours")
    assert states(tmp_path) == {"ours", "rare"}


def test_the_states_used_last_are_kept_of_many(tmp_path):
    for hours in range(1, MOST + 3):
        used(tmp_path, f"used {hours} h ago", 3600 * hours)
    use_folder(tmp_path, "ours")
    assert states(tmp_path) == {"ours", *(f"used {hours} h ago" for hours in range(1, MOST))}


def test_a_state_that_is_used_again_is_the_newest(tmp_path):
    used(tmp_path, "ours", 2 * UNUSED_S)
    for hours in range(1, MOST):
        used(tmp_path, f"used {hours} h ago", 3600 * hours)
    assert (use_folder(tmp_path, "ours") / "kernel.nbc").read_bytes() == b"code"
    use_folder(tmp_path, "another")
    assert "ours" in states(tmp_path)
    assert f"used {MOST - 1} h ago" not in states(tmp_path)


def test_a_folder_that_another_process_deletes_meanwhile_is_no_error(tmp_path):
    (tmp_path / "gone").symlink_to(tmp_path / "deleted")  # listed, and not found when it is looked at
    used(tmp_path, "forgotten", 2 * UNUSED_S)
    assert use_folder(tmp_path, "ours").is_dir()
    assert "forgotten" not in states(tmp_path)
