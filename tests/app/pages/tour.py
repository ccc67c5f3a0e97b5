"""A tour of every page of the program: opens one after another, in each state that has widgets of its own."""

from dataclasses import replace
from unittest.mock import Mock

from msgspec import structs
from PySide6.QtWidgets import QWidget

from app.downloads.downloads import Entry
from app.local_server.local_server import LocalServer, ServerState
from app.runtime_setup.backends_view import BackendsView
from app.settings.dialog import SettingsDialog
from app.settings.models_page import ModelsPage
from app.startup import failure
from app.store import ChatSettings, Preset, SavedOptions
from app.widgets.progress_view import ProgressState
from app.widgets.progress_view import Stage as Part
from app.window.window import Window
from app.wizard.wizard import Wizard
from engine import catalog, hub
from engine.errors import DiskProblem
from engine.hub import RemoteFile, Repository, SearchHit, TokenNeeded
from tests.app.pages.stage import AWAY, SERVED, Stage, until
from tests.app.pages.window_tour import LONG_NAME, WindowTour
from tests.app.runtime_setup.packaged import put_runtime
from tests.app.shared_fixtures import place
from tests.app.tools.servers import reference

MB, GB = 1_000_000, 1_000_000_000
ERROR = DiskProblem(
    "The disk with the models folder cannot be written.",
    "Check the disk and its permissions, or choose a folder on another disk.",
)
REPOSITORY = "somebody-with-a-long-name/" + LONG_NAME + "-GGUF"
PARTS = tuple(
    Part(f"{LONG_NAME}-{number:05}-of-00004.gguf", state, number * GB, 5 * GB, note)
    for number, (state, note) in enumerate(
        (
            ("done", ""),
            ("running", ""),
            ("error", "The connection broke; it is tried again."),
            ("waiting", ""),
        )
    )
)
PROGRESS = ProgressState(
    LONG_NAME,
    "running",
    7 * GB,
    20 * GB,
    bytes_per_s=12.0 * MB,
    seconds_left=1_100.0,
    stages=PARTS,
    deletes=True,
)
FAILED = replace(
    PROGRESS, state="failed", bytes_per_s=0.0, seconds_left=None, error=ERROR.message, hint=ERROR.hint
)


def visit(stage: Stage) -> None:
    """Look at every page."""
    _wizard(stage)
    put_runtime("cpu")
    window_tour = WindowTour(stage)
    window = window_tour.visit()
    _settings(stage, window)
    window_tour.close()
    stage.show_modal(
        "box: the program cannot start",
        lambda: failure.ask("The chats cannot be opened.", ERROR, stage.folder, "Start without the chats"),
    )


def _settings(stage: Stage, window: Window) -> None:
    stage.store.presets.save(Preset("Brief answers for my work", ChatSettings(system="Be brief.")))
    options = SavedOptions(temperature=0.7, top_p=0.9, stop=["END"], seed=7)
    chat = ChatSettings(system="You are a careful reviewer.", options=options)
    for id in ("smollm2-360m-q8_0", "qwen2.5-1.5b-q4_k_m"):
        place(catalog.entries()[id])
    drafters = ("merged", "specexec", "eagle", "recycling", "none")
    dialog = SettingsDialog(stage.preferences, stage.store, chat, window.core.server, drafters, window)
    dialog.open()
    dialog.reload.show()
    dialog.error.setText(f"{ERROR.message} {ERROR.hint}")
    dialog.error.show()
    for index in range(dialog.tabs.count()):
        dialog.tabs.setCurrentIndex(index)
        until(lambda: _is_filled(dialog.tabs.currentWidget()))
        stage.show(f"settings: {dialog.tabs.tabText(index)}", dialog)
    _server(stage, dialog, window.core.server)
    _engines(stage, dialog)
    _tools(stage, dialog)
    page = dialog.models_page
    dialog.tabs.setCurrentIndex(5)
    page.models.setCurrentRow(0)
    page.problem.show_error(ERROR)
    stage.show("settings: models, after a failure", dialog)
    stage.show_modal("box: delete a model", page.delete.click)
    dialog.tabs.setCurrentIndex(1)
    stage.show_modal("box: name of a preset", dialog.presets_page.save.click)
    stage.show_modal("box: delete a preset", dialog.presets_page.delete.click)
    stage.show_modal("import a preset", dialog.presets_page.import_.click)
    dialog.close()
    dialog.deleteLater()


def _engines(stage: Stage, dialog: SettingsDialog) -> None:
    dialog.show_page("engines_page")
    page = dialog.engines_page
    page.edit(None)
    page.editor.address.setText("http://inference.laboratory.example.org:8000/v1")
    page.editor.problem.show_error(ERROR)
    stage.show("settings: an engine is added", dialog)
    page.edit(AWAY)
    page.editor.test.click()
    until(lambda: SERVED[0].id in page.editor.outcome.text())
    stage.show("settings: an engine is tested", dialog)
    page.editor.leave.click()
    page.list.setCurrentRow(0)
    stage.show_modal("box: remove an engine", page.remove.click)


def _tools(stage: Stage, dialog: SettingsDialog) -> None:
    dialog.show_page("tools_page")
    page = dialog.tools_page
    page.built_in.click()
    page.editor.edit(reference())
    page.editor.is_on.setChecked(True)
    page.editor.save.click()
    stage.show("settings: tools, with a server", dialog)
    page.edit(reference())
    page.editor.problem.show_error(ERROR)
    stage.show("settings: a tool server is changed", dialog)
    page.editor.leave.click()


def _server(stage: Stage, dialog: SettingsDialog, server: LocalServer) -> None:
    dialog.show_page("server_page")
    server.address, server.key = "http://127.0.0.1:8484/v1", "sk-a-key-of-thirty-two-characters"
    server.is_key_in_file = True
    server.state = ServerState.RUNNING
    server.running_with = structs.replace(server.running_with, port=9000)
    server.changed.emit()
    stage.show("settings: the server runs", dialog)
    server.address = server.key = ""
    server.error, server.state = ERROR, ServerState.FAILED
    server.changed.emit()
    stage.show("settings: the server has failed", dialog)
    server.stop()


def _is_filled(page: QWidget) -> bool:
    """Whether the lists of this page have arrived that jobs fill."""
    filled_later = [*page.findChildren(BackendsView), *(m.models for m in page.findChildren(ModelsPage))]
    return all(each.count() for each in filled_later)


def _wizard(stage: Stage) -> None:
    wizard = Wizard(stage.downloads, stage.setup, stage.preferences)
    wizard.begin_setup()
    until(lambda: wizard.engine.view.chosen is not None)
    wizard.engine.view.network.setChecked(True)
    stage.show("wizard: set up the engine", wizard)
    wizard.engine.view.sources.proxy.setText("no address")
    wizard.engine.view.begin()
    stage.show("wizard: an address that is not valid", wizard)
    wizard.engine.view.sources.proxy.clear()
    wizard.engine.view.begin()
    until(lambda: bool(stage.setups.made))
    stage.setups.last.say(
        stage="torch", done_nbytes=500 * MB, nbytes=1000 * MB, bytes_per_s=10.0 * MB, seconds_left=50.0
    )
    until(lambda: stage.setup.progress is not None and stage.setup.progress.done > 0)
    stage.show("wizard: the set-up runs", wizard)
    stage.setups.last.finish()
    until(lambda: not stage.setup.is_running)
    wizard.main.click()
    until(lambda: wizard.page is wizard.choose and wizard.choose.catalogue.offer is not None)
    stage.show("wizard: catalogue", wizard)
    catalogue = wizard.choose.catalogue
    catalogue.search.setText("Gemma 4")
    until(lambda: bool(wizard.choose.remark))
    stage.show("wizard: a model with its maker's draft", wizard)
    catalogue.search.clear()
    catalogue.table.selectRow(0)
    wizard.back.click()
    stage.show("wizard: this machine", wizard)
    wizard.main.click()
    _hub(stage, wizard)
    wizard.choose.tabs.setCurrentIndex(0)
    wizard.main.click()
    until(lambda: wizard.page is wizard.where and wizard.where.has_room)
    wizard.where.problem.show_error(ERROR, "Try again")
    other = stage.folder / "another folder for models"
    wizard.where.use_folder(other)
    # The downloads are looked for anew once the folder is another one; none may have been added before.
    until(lambda: wizard.where.place.folder == other or wizard.where.move_here.isVisible())
    stage.show("wizard: folder", wizard)
    _downloads(stage, wizard)


def _hub(stage: Stage, wizard: Wizard) -> None:
    search = wizard.choose.hub_search
    wizard.choose.tabs.setCurrentWidget(search)
    stage.show("wizard: search the Hub", wizard)
    hits = [SearchHit(f"{REPOSITORY}-{number}", 12_345, 67, "apache-2.0", gated=True) for number in range(5)]
    search._show_found(hits)
    stage.show("wizard: found on the Hub", wizard)
    search._clear()
    file = RemoteFile("model-q4_k_m.gguf", 20 * GB)
    repository = Repository(REPOSITORY, "0" * 40, "apache-2.0", True, "https://example.org", (file,))
    search._show_repository(repository, hub.offers(repository))
    stage.show("wizard: a repository of the Hub", wizard)
    search.problem.show_error(ERROR, "Try again")
    stage.show("wizard: the Hub cannot be reached", wizard)


def _downloads(stage: Stage, wizard: Wizard) -> None:
    wizard.access.show_gate(
        TokenNeeded(f"{REPOSITORY} requires an account.", "Accept its licence.", "https://example.org/model")
    )
    wizard.access.show_failure(ERROR)
    wizard.go_to(wizard.access)
    stage.show("wizard: access", wizard)
    wizard.go_to(wizard.download)
    stage.show("wizard: no download", wizard)
    for progress in (PROGRESS, FAILED):
        stage.downloads.entries.append(_entry(progress))
    stage.downloads.changed.emit()
    wizard.download.show_notice("The token is stored in a file, because this system has no keyring.")
    stage.show("wizard: downloads", wizard)
    view = wizard.download.views[stage.downloads.entries[0]]
    stage.show_modal("box: cancel a download", view.cancel.click)
    wizard.ready.show_entry(stage.downloads.entries[0])
    wizard.go_to(wizard.ready)
    stage.show("wizard: ready", wizard)
    wizard.shut_down()
    wizard.deleteLater()


def _entry(progress: ProgressState) -> Entry:
    """Return a download that only shows this progress."""
    return Entry(Mock(error=None), "target", "draft", progress)
