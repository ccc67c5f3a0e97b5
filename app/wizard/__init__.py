"""The wizard that sets the engine up and gets a model: what this machine can do, which model, where to, its
download, loading it.

`EngineSetup` and `Downloads` go on while the `Wizard` is closed; `DownloadIndicator` shows the latter in the
chat. Plain data and arithmetic lie in `offers`, `choice`, `drafts`, `examination` and `stages`, which know no
Qt.
"""

from app.wizard.downloads import Downloads, Entry
from app.wizard.engine_setup import EngineSetup
from app.wizard.indicator import DownloadIndicator
from app.wizard.progress_view import ProgressView
from app.wizard.stages import Shown, Stage
from app.wizard.wizard import Wizard

__all__ = [
    "DownloadIndicator",
    "Downloads",
    "EngineSetup",
    "Entry",
    "ProgressView",
    "Shown",
    "Stage",
    "Wizard",
]
