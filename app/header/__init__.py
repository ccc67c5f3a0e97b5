"""Header of the window: the loaded model, its activity and the expected end of an answer."""

from app.header.header import Header as Header
