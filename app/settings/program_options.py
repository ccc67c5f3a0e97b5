"""How the program looks and loads models: options of `Preferences`, in their order on the pages."""

from PySide6.QtCore import QCoreApplication

from app.settings.options import Option, Section
from engine import runtime


def _tr(text: str) -> str:
    return QCoreApplication.translate("program_options", text)


def loading_sections() -> list[Section]:
    """Of `Preferences`."""
    return [
        Section(
            _tr("Memory limits"),
            [
                Option(
                    "loading.vram_limit",
                    "fraction",
                    _tr("VRAM for the target"),
                    _tr("The target's weights take no more of it; the rest is streamed from RAM."),
                    lowest=_tr("no limit"),
                    step=0.5,
                    unit=_tr("GiB"),
                    reloads=True,
                ),
                Option(
                    "loading.ram_limit",
                    "fraction",
                    _tr("RAM for the target"),
                    _tr("The target's weights take no more RAM; the rest is streamed from the disk."),
                    lowest=_tr("no limit"),
                    step=0.5,
                    unit=_tr("GiB"),
                    reloads=True,
                ),
                Option(
                    "loading.weights",
                    "choice",
                    _tr("Weights in memory"),
                    _tr("Unpacked weights are faster and take more memory."),
                    choices=[
                        ("auto", _tr("auto")),
                        ("packed", _tr("as stored")),
                        ("unpacked", _tr("unpacked")),
                    ],
                    reloads=True,
                ),
            ],
        ),
        Section(
            _tr("Computing"),
            [
                Option(
                    "loading.device",
                    "choice",
                    _tr("Compute device"),
                    _tr("Where matrix products run."),
                    choices=[
                        ("auto", _tr("auto")),
                        ("cuda", _tr("graphics card")),
                        ("cpu", _tr("processor")),
                    ],
                    reloads=True,
                ),
                Option(
                    "loading.dtype",
                    "choice",
                    _tr("Number format"),
                    _tr("float32 is the most exact and the slowest."),
                    choices=[
                        ("auto", _tr("auto")),
                        ("bfloat16", "bfloat16"),
                        ("float16", "float16"),
                        ("float32", "float32"),
                    ],
                    reloads=True,
                ),
            ],
        ),
    ]


def appearance_sections() -> list[Section]:
    """Of `Preferences`."""
    return [
        Section(
            _tr("Appearance and language"),
            [
                Option(
                    "theme",
                    "choice",
                    _tr("Theme"),
                    _tr("Light or dark."),
                    choices=[
                        ("system", _tr("as the desktop is")),
                        ("light", _tr("light")),
                        ("dark", _tr("dark")),
                    ],
                ),
                Option(
                    "language",
                    "choice",
                    _tr("Language"),
                    _tr("Of the window. Models answer in the language you write in."),
                    choices=[
                        ("system", _tr("as the desktop is")),
                        ("en", "English"),
                        ("ko", "한국어"),
                        ("zh_CN", "简体中文"),
                    ],
                ),
                Option(
                    "reduced_motion",
                    "switch",
                    _tr("Less motion"),
                    _tr("Nothing glides or fades; the token tree shows each iteration's end only."),
                ),
            ],
        ),
        Section(
            _tr("Habits"),
            [
                Option(
                    "send_key",
                    "choice",
                    _tr("Send with"),
                    _tr("The other one begins a new line."),
                    choices=[("enter", _tr("Enter")), ("ctrl_enter", _tr("Ctrl+Enter"))],
                ),
                Option(
                    "notifications",
                    "switch",
                    _tr("Notifications"),
                    _tr("Say when a long answer is complete and the window is not in front."),
                ),
                *_updates(),
            ],
        ),
    ]


def _updates() -> list[Option]:
    """Only of a release is it known where newer ones appear."""
    if runtime.repository() is None:
        return []
    return [
        Option(
            "updates",
            "switch",
            _tr("New versions"),
            _tr("Ask GitHub once a day whether there is a newer version, and say so. Nothing is downloaded."),
        )
    ]
