"""The set-up of the engine's packages, as the wizard and the settings show it."""
