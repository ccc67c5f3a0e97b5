"""The wizard, which leads page by page from a new installation to a loaded model."""
