"""The soak: one real window in use for a long time, to see what grows.

    python -m tests.soak [--minutes 40] [--questions 200] [--seed 1]

A person asks the questions in one chat, in a real window with a real engine and the embedded model, and does
something else after each of them (`acts.py`). After each question `samples.py` measures the window's and the
engine's processes; `judge.py` says what grew by more than the store of that question explains. The end is a
table. Needs a display, such as `xvfb-run -a -s "-screen 0 1600x1000x24"`, or QT_QPA_PLATFORM=offscreen.

A client of the HTTP server belongs beside the window, as soon as the program has that server: `__main__.soak`
starts it before the first question, and its process is one more for `samples.Meter`.
"""
