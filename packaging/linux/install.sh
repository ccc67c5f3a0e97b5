#!/bin/sh
# Installs for the current user only; the .run file runs this in the folder it unpacked.
#
# Each version has a folder of its own, app-VERSION; the file "current" names the one that is used. With UPDATE=1,
# only that folder is written, while another version runs: engine.updates does the rest.
set -eu
prefix="${PREFIX:-$HOME/.local}"
place="$prefix/lib/specexec-desktop"
name="app-$(cat version)"
mkdir -p "$place" "$prefix/bin" "$prefix/share"
new="$place/$name.new.$$"
cp -a app "$new"
if [ -e "$place/$name" ]; then
    mv -T "$place/$name" "$place/$name.old.$$"
fi
mv -T "$new" "$place/$name"  # -T: never into a folder that another process has put there meanwhile
if [ "${UPDATE:-}" = 1 ]; then exit 0; fi
for launcher in specexec-desktop specexec; do
    cp launch.sh "$place/$launcher.new"
    chmod 755 "$place/$launcher.new"
    mv "$place/$launcher.new" "$place/$launcher"
    ln -sf "$place/$launcher" "$prefix/bin/$launcher"
done
cp uninstall.sh "$place/uninstall"
chmod 755 "$place/uninstall"
printf %s "$name" > "$place/current.new"
mv "$place/current.new" "$place/current"
for other in "$place"/app-*; do
    if [ "$other" != "$place/$name" ]; then rm -rf "$other"; fi
done
rm -rf "$place/update"
escaped=$(printf '%s' "$place/specexec-desktop" | sed 's/[\\&#]/\\&/g')
sed -i "s#@COMMAND@#\"$escaped\"#" share/applications/specexec-desktop.desktop
(cd share && find . -type f) > "$place/installed-files"
cp -a share/. "$prefix/share/"
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$prefix/share/applications" || true; fi
if command -v update-mime-database >/dev/null; then update-mime-database "$prefix/share/mime" || true; fi
echo "Installed in $place. To uninstall, run: $place/uninstall"
