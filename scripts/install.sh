#!/usr/bin/env bash
# install.sh PROGRAM PREFIX: puts the built command below PREFIX, with manual pages and completions that it prints itself, and what lies beside it:
# fastsock with its library, the command strata, and the C interfaces of strata, of Active Messages and of fast sockets.
set -euo pipefail
program=$1 prefix=$2
man=$prefix/share/man/man1

# Without its symbols the command is a fifth as large; they help with profiles of the built one only.
strip=(-s)
command -v strip >/dev/null || { strip=() && echo "note: not stripped of its symbols, as binutils' strip is not installed"; }
install -D -m 755 "${strip[@]}" "$program" "$prefix/bin/pipegauge"
beside=$(dirname "$program")
if [ -e "$beside/libfastsock.so" ] && [ -e "$beside/fastsock" ]; then
  install -D -m 755 "${strip[@]}" "$beside/fastsock" "$prefix/bin/fastsock"
  # What is loaded keeps the symbols that the loader needs.
  install -D -m 644 "${strip[@]}" "$beside/libfastsock.so" "$prefix/lib/libfastsock.so.part"
  mv "$prefix/lib/libfastsock.so.part" "$prefix/lib/libfastsock.so"
else
  echo "note: fastsock is not installed, as it is not beside $program ('make build' puts it there)"
fi
root=$(dirname "$0")/..
if [ -e "$beside/strata" ]; then
  install -D -m 755 "${strip[@]}" "$beside/strata" "$prefix/bin/strata"
else
  echo "note: strata is not installed, as it is not beside $program ('make build' puts it there)"
fi
for interface in strata_c:strata-c/include/strata.h am_c:am/include/am.h fastsock_native:fastsock/include/fastsock.h; do
  library=lib${interface%%:*}.so header=$root/systems/${interface#*:}
  name=$(basename "$header" .h)
  if [ -e "$beside/$library" ]; then
    install -D -m 644 "${strip[@]}" "$beside/$library" "$prefix/lib/$library.part"
    mv "$prefix/lib/$library.part" "$prefix/lib/$library"
    install -D -m 644 "$header" "$prefix/include/$(basename "$header")"
  else
    echo "note: the C interface of $name is not installed, as $library is not beside $program ('make build' puts it there)"
  fi
done
# put FILE COMMAND...: what COMMAND prints becomes FILE, whole or not at all.
put() {
  local file=$1
  shift
  mkdir -p "$(dirname "$file")"
  "$program" "$@" >"$file.part" || { rm -f "$file.part"; exit 1; }
  mv "$file.part" "$file"
  chmod 644 "$file"
}
put "$man/pipegauge.1" man
# Each command of the help has a page.
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' | grep -vx help); do
  put "$man/pipegauge-$command.1" man "$command"
done
# What a module in C needs.
install -D -m 644 "$(dirname "$0")/../include/pipegauge.h" "$prefix/include/pipegauge.h"
"$(dirname "$0")/modules.sh" "$prefix/lib/pipegauge/modules"
put "$prefix/share/bash-completion/completions/pipegauge" completions bash
put "$prefix/share/zsh/site-functions/_pipegauge" completions zsh
put "$prefix/share/fish/vendor_completions.d/pipegauge.fish" completions fish
echo "installed: $prefix/bin/pipegauge"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "note: $prefix/bin is not on your PATH" ;; esac
