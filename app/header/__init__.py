"""The head of the window: the model, what it is doing, and how long it may take."""

from app.header.header import Header as Header
