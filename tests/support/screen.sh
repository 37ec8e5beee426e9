# Sourced by what shows the program on a virtual screen: installs what that needs, builds the program, starts the
# screen. Sets `program`, `work` (a temporary folder, removed at the end) and DISPLAY.

# Installs packages when root, or names them: `need xdotool:xdotool` is satisfied by the command before the colon,
# `need libEGL:libegl1` by the library, `need /some/file:package` by the file. More packages follow after commas.
need() {
  local pair
  local missing=()
  for pair in "$@"; do
    case $pair in
      /*) [ -e "${pair%%:*}" ] && continue ;;
      lib*) ldconfig -p | grep -q "${pair%%:*}" && continue ;;
      *) command -v "${pair%%:*}" >/dev/null && continue ;;
    esac
    missing+=(${pair#*:})
  done
  missing=(${missing[*]//,/ })
  ((${#missing[@]})) || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -q >/dev/null
    apt-get install -qy --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "please install: ${missing[*]}" >&2
    exit 2
  fi
}

# Starts a screen of the size `$1`, such as 1500x1000, for the program as it is built.
start_screen() {
  need Xvfb:xvfb libxkbcommon-x11:libxkbcommon-x11-0 libXcursor:libxcursor1 libXi:libxi6 libEGL:libegl1 \
    libGL:libgl1,libgl1-mesa-dri
  cargo build --release
  program=$(realpath "${CARGO_TARGET_DIR:-target}/release/gigafringe")
  work=$(mktemp -d)
  # A display number that is free, told by Xvfb itself.
  exec 3<>"$work/display"
  Xvfb -displayfd 3 -screen 0 "$1x24" -nolisten tcp >/dev/null 2>&1 &
  server=$!
  trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
  for _ in $(seq 100); do [ -s "$work/display" ] && break; sleep 0.1; done
  DISPLAY=":$(head -n 1 "$work/display")"
  export DISPLAY
}

# Runs `tests/support/$1` with the rest of the arguments beside a session bus of its own, on which the program says
# what a screen reader would hear; nothing of the user's folders is read or written.
with_accessibility() {
  need xdotool:xdotool import:imagemagick dbus-run-session:dbus \
    /usr/libexec/at-spi-bus-launcher:at-spi2-core \
    /usr/lib/python3/dist-packages/gi/__init__.py:python3-gi
  need "$(find /usr/lib -name Atspi-2.0.typelib -print -quit | grep . || echo /none):gir1.2-atspi-2.0"
  local folder
  for folder in home config state data cache run; do mkdir -m 700 "$work/$folder"; done
  HOME="$work/home" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" XDG_DATA_HOME="$work/data" \
    XDG_CACHE_HOME="$work/cache" XDG_RUNTIME_DIR="$work/run" PYTHONDONTWRITEBYTECODE=1 \
    dbus-run-session -- /usr/bin/python3 "tests/support/$1" "$program" "$work" "${@:2}" 2>"$work/errors" ||
    { local status=$?; grep -A 99 '^Traceback' "$work/errors" >&2; return $status; }
}
