"""The wizard that gets a model: what this machine can do, which model, where to, its download, loading it.

`Downloads` go on while the `Wizard` is closed; `DownloadIndicator` shows them in the chat. Plain data and
arithmetic lie in `offers`, `choice`, `drafts`, `examination` and `stages`, which know no Qt.
"""

from app.wizard.downloads import Downloads, Entry
from app.wizard.indicator import DownloadIndicator
from app.wizard.progress_view import ProgressView
from app.wizard.stages import Shown, Stage
from app.wizard.wizard import Wizard

__all__ = ["DownloadIndicator", "Downloads", "Entry", "ProgressView", "Shown", "Stage", "Wizard"]
