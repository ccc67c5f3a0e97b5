"""What failed, and what was found on the machine, in the window's language.

The engine's sentences are English and name what they are about, so they cannot be translated one by one. In
other languages, there is a sentence for the kind of error; the engine's are its details.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from PySide6.QtCore import QCoreApplication


class Failure(Protocol):
    """What can be told: a SpecExecError, the engine's message about one, or a finding about the machine."""

    @property
    def kind(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...


class FaultWords(NamedTuple):
    """What failed, in words. Attributes: `message`; `hint`: what to do, or ""; `details`: the engine's own
    sentences, where the message is in another language; else ""."""

    message: str
    hint: str = ""
    details: str = ""


def words_of(fault: Failure) -> FaultWords:
    said = sentences(_tr).get(fault.kind)
    if said is None or said == sentences(str)[fault.kind]:  # the window is English
        return FaultWords(fault.message, fault.hint)
    return FaultWords(said, details=f"{fault.message} {fault.hint}".strip())


def in_words(fault: Failure) -> tuple[str, str]:
    """Return the sentence that says what failed, and the text that stands below it where there is no place
    for details of their own."""
    words = words_of(fault)
    return words.message, words.hint or words.details


def in_one(fault: Failure) -> str:
    """Return what `in_words` returns as one text."""
    return " ".join(filter(None, in_words(fault)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("faults", text)


def sentences(_tr: Callable[[str], str]) -> dict[str, str]:
    """Return a sentence for each kind of error. `_tr` translates it."""
    return {
        "access_refused": _tr("This account has no access to the model."),
        "address_taken": _tr("Another program uses this port already."),
        "answer_broken": _tr("The answer broke off or cannot be read."),
        "bad_archive": _tr("This is not a runtime file that fits here."),
        "bad_checkpoint": _tr("The model file is damaged or incomplete."),
        "bad_constraint": _tr("The schema or grammar cannot be used."),
        "bad_download": _tr("What was downloaded is not the file that was listed."),
        "bad_import": _tr("This file has nothing that can be imported."),
        "bad_numbers": _tr("The model computes numbers that are not valid."),
        "bad_option": _tr("A setting does not fit."),
        "bad_package": _tr("A package is not the expected one, or is not available."),
        "bad_race": _tr("This is not a recorded race, or it is damaged."),
        "bad_release": _tr("The newer version cannot be trusted."),
        "bad_trace": _tr("This is not a recorded run, or it is damaged."),
        "cancelled": _tr("It was cancelled."),
        "card_failed": _tr("The graphics card has stopped."),
        "certificate_refused": _tr("The server's certificate is not trusted."),
        "dead_end": _tr("The schema or grammar allows no further word here."),
        "device_unavailable": _tr("The device cannot be used."),
        "disk": _tr("The disk or the folder cannot be used."),
        "disk_silent": _tr("The disk with the model does not answer."),
        "download_running": _tr("Another download is working on this model's files."),
        "empty_prompt": _tr("There is no text to answer."),
        "engine_busy": _tr("The server has too much to do or is still starting."),
        "engine_gone": _tr("The engine has ended or could not be started."),
        "engine_unknown": _tr("No engine was added under this name."),
        "engine_unreachable": _tr("The server cannot be reached."),
        "engines_file": _tr("The list of added engines cannot be read or written."),
        "hub_unreachable": _tr("The Hugging Face Hub cannot be reached."),
        "internal": _tr("Something went wrong."),
        "key_in_clear": _tr("The key would be sent without encryption."),
        "key_refused": _tr("The server refuses the key or asks for one."),
        "keyring_locked": _tr("The keyring stays locked."),
        "license_not_accepted": _tr("The model's licence was not accepted yet."),
        "missing_extra": _tr("Packages that this needs are not installed."),
        "model_not_found": _tr("The model is not there."),
        "no_models": _tr("The server has no model now."),
        "not_an_engine": _tr("This server is not one that this program can talk to."),
        "not_in_store": _tr("It does not exist any more."),
        "not_loaded": _tr("No model is loaded."),
        "not_measured": _tr("The machine could not be measured."),
        "only_by_xet": _tr("This file cannot be downloaded in this way."),
        "option_refused": _tr("This server lacks an option that would change the text."),
        "out_of_memory": _tr("There is not enough memory."),
        "packages_unreachable": _tr("The package server cannot be reached."),
        "preferences": _tr("The settings cannot be read or written."),
        "prompt_too_long": _tr("The conversation is too long for this model."),
        "releases_unreachable": _tr("No newer version could be looked for."),
        "request_refused": _tr("The server refuses the request."),
        "runtime_missing": _tr("PyTorch is needed and is not set up."),
        "runtime_refused": _tr("The new runtime does not work on this machine."),
        "setup_running": _tr("Another window is setting up the engine."),
        "store": _tr("The chats cannot be read or written."),
        "store_damaged": _tr("The file with the chats is damaged."),
        "store_full": _tr("The disk is full."),
        "store_locked": _tr("Another program has locked the chats."),
        "store_newer": _tr("The chats were written by a newer version."),
        "store_not_writable": _tr("The chats cannot be written."),
        "stream_broken": _tr("The model's file changed or became unreadable."),
        "system_limit": _tr("The system allows this program no more."),
        "token_needed": _tr("The model asks for an account."),
        "tool_failed": _tr("The tool cannot be used."),
        "unsafe_name": _tr("A name is not safe."),
        "unsupported_model": _tr("This kind of model cannot be run here."),
        "update_refused": _tr("The newer version cannot be applied here."),
        "vocabulary_mismatch": _tr("Draft and target have different vocabularies."),
        **findings(_tr),
    }


def findings(_tr: Callable[[str], str]) -> dict[str, str]:
    """Return a sentence for each kind of finding about the machine. `_tr` translates it."""
    return {
        "card_does_not_answer": _tr("The graphics card cannot be used now."),
        "card_not_supported": _tr("The installed PyTorch does not support the graphics card."),
        "cpu_limit": _tr("This program may use only some of the processor's cores."),
        "cpu_only_torch": _tr("The installed PyTorch cannot use the graphics card."),
        "driver_too_old": _tr("The graphics card's driver is too old."),
        "hard_disk": _tr("The models lie on a hard disk, which reads slowly."),
        "little_disk": _tr("The disk with the models is nearly full."),
        "little_ram": _tr("Little memory is free."),
        "network_share": _tr("The models lie on a network share, which reads slowly."),
        "no_card": _tr("No supported graphics card was found."),
        "no_rocm_torch": _tr("The installed PyTorch cannot use the graphics card."),
        "no_torch": _tr("PyTorch is not set up."),
        "on_battery": _tr("The computer runs on battery, which slows it down."),
        "pinning_limit": _tr("Windows lets the graphics card use only a part of the memory directly."),
        "ram_limit": _tr("This program may use only a part of the memory."),
        "remote_session": _tr("Models run on this machine, not on the one in front of you."),
        "slow_disk": _tr("The models lie on a slow disk."),
        "slow_kernels": _tr("The graphics card works more slowly than it could."),
        "windows_drive": _tr("The models lie on a Windows drive, which WSL reads slowly."),
        "wsl": _tr("Linux runs inside Windows here, with a part of the memory."),
    }
