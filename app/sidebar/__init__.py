"""The sidebar: all chats by date and in folders, full-text search, export and import."""
