"""Folders of chats. A folder holds no folders."""

from app.store import rows, whole_chats
from app.store.database import Database
from app.store.errors import StoreError
from app.store.records import Folder, well_formed


class Folders:
    """No two have one name. Methods that take a folder raise NotInStore where it is not there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Folder]:
        """By name."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT id, name FROM folders ORDER BY name COLLATE NOCASE, name")
            return [Folder(id, name) for id, name in found]

    def create(self, name: str) -> int:
        """Returns its id; where there is one of this name, that one's."""
        with self._database.writing() as connection:
            return whole_chats.folder_named(connection, name)

    def rename(self, folder: int, name: str) -> None:
        """Raises StoreError where another folder has the name."""
        name = well_formed(name)
        with self._database.writing() as connection:
            if connection.execute(
                "SELECT 1 FROM folders WHERE name = ? AND id <> ?", (name, folder)
            ).fetchone():
                raise StoreError(f"There is a folder “{name}” already.", "Choose another name.")
            if not connection.execute("UPDATE folders SET name = ? WHERE id = ?", (name, folder)).rowcount:
                raise rows.gone("folder")

    def delete(self, folder: int) -> None:
        """Its chats are kept, outside any folder."""
        with self._database.writing() as connection:
            if not connection.execute("DELETE FROM folders WHERE id = ?", (folder,)).rowcount:
                raise rows.gone("folder")
