"""Export of chats as Markdown, plain text or JSON; import of such JSON and of ChatGPT's data export."""

from app.store.exchange.files import Imported as Imported
from app.store.exchange.files import export_file as export_file
from app.store.exchange.files import import_file as import_file
