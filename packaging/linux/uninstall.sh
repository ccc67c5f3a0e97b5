#!/bin/sh
# Removes the program, but keeps the user's data.
app=$(dirname "$(readlink -f "$0")")
prefix=$(dirname "$(dirname "$app")")
sed "s#^\./##" "$app/installed-files" | while read -r file; do rm -f "$prefix/share/$file"; done
rm -f "$prefix/bin/specexec-desktop" "$prefix/bin/specexec"
rm -rf "$app"
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$prefix/share/applications" || true; fi
if command -v update-mime-database >/dev/null; then update-mime-database "$prefix/share/mime" || true; fi
echo "Kept: chats, runtime and models in ~/.local/share/specexec-desktop, settings in ~/.config/specexec-desktop,"
echo "caches in ~/.cache/specexec-desktop, logs in ~/.local/state/specexec-desktop."
