"""The soak: one real window in use for a long time, to see what grows.

    python -m tests.soak [--minutes 40] [--questions 200] [--seed 1]

A person asks the questions in one chat, in a real window with a real engine and the embedded model, and does
something else after each of them (`acts.py`). `specexec serve` runs beside the window and shares its engine;
in some of the acts, other programs ask that server (`server_acts.py`). After each question `samples.py`
measures the window's, the engine's and the server's processes; `judge.py` says what grew by more than the
store of that question explains. The end is a table. Needs a display, such as
`xvfb-run -a -s "-screen 0 1600x1000x24"`, or QT_QPA_PLATFORM=offscreen.
"""
