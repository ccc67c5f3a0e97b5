"""Chats to files and back: Markdown, plain text, JSON; and the data export of ChatGPT."""

from app.store.exchange.files import Imported as Imported
from app.store.exchange.files import export_file as export_file
from app.store.exchange.files import import_file as import_file
