from pytestqt.qtbot import QtBot

from app.panel.bars import SplitBar, shares
from engine.protocol.messages import Seconds


def test_shares_add_up_to_one() -> None:
    assert shares(Seconds(draft=1, target=2, stream_wait=1, other=0)) == (0.25, 0.5, 0.25, 0.0)
    assert shares(Seconds()) == (0.0, 0.0, 0.0, 0.0)


def test_the_accessible_description_names_the_shares(qtbot: QtBot) -> None:
    bar = SplitBar()
    qtbot.addWidget(bar)
    bar.show_seconds(Seconds(draft=1, target=2, stream_wait=1))
    assert bar.accessibleDescription() == "draft 25%, target 50%, waiting 25%, other 0%"
    bar.grab()
