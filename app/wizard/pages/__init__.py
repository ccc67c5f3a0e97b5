"""The pages of the wizard, one file each."""
