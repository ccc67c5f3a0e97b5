"""The options of `Preferences`: appearance and the loading of models, in the order of the pages."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontDatabase

from app.settings.options import Choice, Option, OptionSection
from engine.updates import this_package


def _tr(text: str) -> str:
    return QCoreApplication.translate("program_options", text)


def loading_sections() -> list[OptionSection]:
    """Return the options for loading models by section."""
    return [_memory_limits(), _computation()]


def appearance_sections() -> list[OptionSection]:
    """Return the options for appearance and behaviour by section."""
    return [_appearance(), _behaviour()]


def _memory_limits() -> OptionSection:
    return OptionSection(
        _tr("Memory limits"),
        [
            Option(
                "loading.vram_limit",
                "fraction",
                _tr("VRAM for the target"),
                _tr(
                    "Maximum VRAM for the target's weights, streaming buffers included. The rest is "
                    "streamed from RAM."
                ),
                lowest=_tr("No limit"),
                step=0.5,
                unit=_tr("GiB"),
                reloads=True,
            ),
            Option(
                "loading.ram_limit",
                "fraction",
                _tr("RAM for the target"),
                _tr("Maximum RAM for the target's weights. The rest is streamed from the disk."),
                lowest=_tr("No limit"),
                step=0.5,
                unit=_tr("GiB"),
                reloads=True,
            ),
            Option(
                "loading.weights",
                "choice",
                _tr("Weights in memory"),
                _tr("Unpacked weights are faster but need more memory."),
                choices=[
                    ("auto", _tr("Automatic")),
                    ("packed", _tr("As stored")),
                    ("unpacked", _tr("Unpacked")),
                ],
                reloads=True,
            ),
            Option(
                "loading.kv_cache",
                "choice",
                _tr("Context in memory"),
                _tr(
                    "8 bits take about half the memory of 16 bits and are a little less precise. Only on "
                    "the processor."
                ),
                choices=[("f16", _tr("16 bits")), ("q8_0", _tr("8 bits"))],
                reloads=True,
            ),
            Option(
                "loading.processor_helps",
                "choice",
                _tr("Processor helps the card"),
                _tr(
                    "Weights in RAM need not all go to the graphics card in each pass: the processor "
                    "can compute with a share of them, a little less precisely. Automatic: with the experts "
                    "of a mixture, where that should be faster. Otherwise, loading measures whether it is."
                ),
                choices=[
                    ("auto", _tr("Automatic")),
                    ("never", _tr("Never")),
                    ("measured", _tr("If it is faster")),
                ],
                reloads=True,
            ),
            Option(
                "loading.prompt_cache",
                "fraction",
                _tr("Other chats in RAM"),
                _tr(
                    "What has been computed of other chats is kept in RAM, so that they are not read "
                    "anew when you return to them. 0 keeps nothing."
                ),
                lowest=_tr("Automatic"),
                step=0.5,
                unit=_tr("GiB"),
                reloads=True,
            ),
            Option(
                "loading.prompt_cache_disk",
                "fraction",
                _tr("Chats on the disk"),
                _tr(
                    "What has been computed of chats is also kept on the disk, so that they are not read "
                    "anew after a restart. It contains what you wrote; it is deleted with its chat."
                ),
                step=1.0,
                unit=_tr("GiB"),
                reloads=True,
            ),
            Option(
                "unload_after",
                "choice",
                _tr("Unload when idle"),
                _tr(
                    "Frees the memory when nothing was asked for this long. The next question loads the "
                    "model again."
                ),
                choices=[
                    ("never", _tr("Never")),
                    ("5", _tr("After 5 minutes")),
                    ("15", _tr("After 15 minutes")),
                    ("60", _tr("After an hour")),
                ],
            ),
        ],
    )


def _computation() -> OptionSection:
    return OptionSection(
        _tr("Computation"),
        [
            Option(
                "loading.threads",
                "whole",
                _tr("Threads"),
                _tr(
                    "Number of threads that compute on the processor, at most one for each physical "
                    "core. It changes the speed, never the text."
                ),
                lowest=_tr("One per core"),
                reloads=True,
            ),
            Option(
                "loading.device",
                "choice",
                _tr("Compute device"),
                _tr("The device that computes the answers."),
                choices=[
                    ("auto", _tr("Automatic")),
                    ("cuda", _tr("Graphics card")),
                    ("cpu", _tr("Processor")),
                ],
                reloads=True,
            ),
            Option(
                "loading.dtype",
                "choice",
                _tr("Number format"),
                _tr(
                    "Automatic: on the processor, weights as stored times activations in 8 bits, the "
                    "fastest. float32 is the most precise and the slowest."
                ),
                choices=[
                    ("auto", _tr("Automatic")),
                    ("bfloat16", "bfloat16"),
                    ("float16", "float16"),
                    ("float32", "float32"),
                ],
                reloads=True,
            ),
        ],
    )


def _appearance() -> OptionSection:
    return OptionSection(
        _tr("Appearance and language"),
        [
            Option(
                "theme",
                "choice",
                _tr("Theme"),
                _tr("The colours of the window."),
                choices=[
                    ("system", _tr("Same as desktop")),
                    ("light", _tr("Light")),
                    ("dark", _tr("Dark")),
                    ("contrast", _tr("High contrast")),
                ],
            ),
            Option(
                "language",
                "choice",
                _tr("Language"),
                _tr("The language of the window. Models answer in the language you write in."),
                choices=[
                    ("system", _tr("Same as desktop")),
                    ("en", "English"),
                    ("ko", "한국어"),
                    ("zh_CN", "简体中文"),
                ],
            ),
            Option(
                "zoom",
                "whole",
                _tr("Text size"),
                _tr("The size of all text; 100% is the desktop's. Ctrl and the wheel change it too."),
                step=10,
                unit="%",
            ),
            Option(
                "chat_font",
                "choice",
                _tr("Font of messages"),
                _tr("The font of questions and answers."),
                choices=_fonts(are_fixed=False),
            ),
            Option(
                "code_font",
                "choice",
                _tr("Font of code"),
                _tr("The font of code in answers."),
                choices=_fonts(are_fixed=True),
            ),
            Option(
                "wrap_code",
                "switch",
                _tr("Wrap code"),
                _tr("Break long lines of code instead of scrolling them sideways."),
            ),
            Option(
                "reduced_motion",
                "switch",
                _tr("Reduce motion"),
                _tr("Turn animations off. The token tree shows only the end of each iteration."),
            ),
        ],
    )


def _behaviour() -> OptionSection:
    return OptionSection(
        _tr("Behaviour"),
        [
            Option(
                "send_key",
                "choice",
                _tr("Send with"),
                _tr("The other key starts a new line."),
                choices=[("enter", _tr("Enter")), ("ctrl_enter", _tr("Ctrl+Enter"))],
            ),
            Option(
                "notifications",
                "switch",
                _tr("Notifications"),
                _tr("Show a notification when a long answer is complete and the window is not in front."),
            ),
            *_updates(),
        ],
    )


def _fonts(*, are_fixed: bool) -> list[Choice]:
    """Return the installed fonts, or only those whose letters are equally wide."""
    known = [family for family in QFontDatabase.families() if not QFontDatabase.isPrivateFamily(family)]
    chosen = [family for family in known if not are_fixed or QFontDatabase.isFixedPitch(family)]
    return [("", _tr("Same as desktop")), *((family, family) for family in chosen)]


def _updates() -> list[Option]:
    """Return the option for updates, which only released builds have."""
    package = this_package()
    if package is None or not package.can_look:
        return []
    return [
        Option(
            "updates",
            "switch",
            _tr("Updates"),
            _tr(
                "Look once a day for a newer version. It is downloaded when you ask for it, and opens at "
                "the next start."
            ),
        )
    ]
