#!/bin/sh
# Installs for the current user only; the .run file runs this in the folder it unpacked.
set -eu
prefix="${PREFIX:-$HOME/.local}"
app="$prefix/lib/specexec-desktop"
mkdir -p "$prefix/lib" "$prefix/bin" "$prefix/share"
rm -rf "$app.new"
cp -a app "$app.new"
rm -rf "$app"
mv "$app.new" "$app"
for name in specexec-desktop specexec; do ln -sf "$app/$name" "$prefix/bin/$name"; done
escaped=$(printf '%s' "$app/specexec-desktop" | sed 's/[\\&#]/\\&/g')
sed -i "s#@COMMAND@#\"$escaped\"#" share/applications/specexec-desktop.desktop
(cd share && find . -type f) > "$app/installed-files"
cp -a share/. "$prefix/share/"
cat > "$app/uninstall" <<'U'
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
U
chmod +x "$app/uninstall"
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$prefix/share/applications" || true; fi
if command -v update-mime-database >/dev/null; then update-mime-database "$prefix/share/mime" || true; fi
echo "Installed in $app. To uninstall, run: $app/uninstall"
