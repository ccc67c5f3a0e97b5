"""The chats that were had: listed by date, in folders, found by what was said, exported and imported."""
