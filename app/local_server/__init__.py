"""The switch of the local server: `specexec serve` as a child process of the window."""
