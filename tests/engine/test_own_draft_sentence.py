"""The sentence about a target that should draft for itself."""

import pytest

from engine.cli.own_draft import about_own_draft
from engine.protocol import OwnDraft


@pytest.mark.parametrize(
    ("nbytes", "said"), [(3 << 29, "takes 1.5 GiB of the disk."), (0, "is on the disk.")]
)
def test_copies_that_the_disk_has_take_no_room(nbytes, said):
    sentence = about_own_draft(OwnDraft(speedup=1.8, nbytes=nbytes))
    assert sentence.endswith(f"the copy in fewer bits {said}")
    assert "1.8 times as fast" in sentence
