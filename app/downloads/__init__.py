"""The downloads of models, which continue while the wizard is closed."""
