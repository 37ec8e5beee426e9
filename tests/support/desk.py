"""The program in a real window, found by what a screen reader hears and worked with pointer and keys."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

# What a person fills in, chooses or switches.
INPUTS = {"entry", "password text", "combo box", "slider", "spin button", "check box", "radio button", "push button",
          "toggle button"}
# Panels begin and end there in the window's first size; what lies outside is scrolled into view.
TOP, BOTTOM = 40, 866


class Failure(Exception):
    """What was expected and did not come."""


def start_bus():
    """Starts the accessibility bus and says that something listens."""
    launcher = subprocess.Popen(["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    for name in ("IsEnabled", "ScreenReaderEnabled"):
        ask = ["dbus-send", "--session", "--dest=org.a11y.Bus", "--print-reply", "/org/a11y/bus",
               "org.freedesktop.DBus.Properties.Set", "string:org.a11y.Status", f"string:{name}",
               "variant:boolean:true"]
        while subprocess.run(ask, capture_output=True, check=False).returncode:
            if time.monotonic() > deadline:
                raise Failure("the accessibility bus does not start")
            time.sleep(0.1)
    Atspi.init()
    return launcher


def xdotool(*arguments):
    """What `xdotool` prints."""
    return subprocess.run(["xdotool", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False).stdout.strip()


def until(what, look, seconds=20.0):
    """The first thing that `look` returns and is true."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {seconds:g} s")
        time.sleep(0.05)


class Node:
    """One thing in the window, as it was a moment ago."""

    def __init__(self, accessible):
        self.accessible = accessible
        self.role = accessible.get_role_name()
        # A number and its unit are held together by a no-break space, which a reader does not hear.
        self.name = (accessible.get_name() or "").replace("\u00a0", " ")

    def place(self):
        """Left, top, width and height on the screen."""
        box = self.accessible.get_extents(Atspi.CoordType.SCREEN)
        return box.x, box.y, box.width, box.height

    def has(self, state):
        """Whether it is in a state of this name, such as `enabled`."""
        return self.accessible.get_state_set().contains(getattr(Atspi.StateType, state.upper()))

    def text(self):
        """What is written in a field."""
        interface = self.accessible.get_text_iface()
        return Atspi.Text.get_text(interface, 0, Atspi.Text.get_character_count(interface)) if interface else ""


class Desk:
    """The program, running."""

    def __init__(self, program, folder, *arguments):
        self.output = open(pathlib.Path(folder) / "program.txt", "wb")
        self.process = subprocess.Popen([program, *map(str, arguments)], cwd=folder, stdout=self.output,
                                        stderr=subprocess.STDOUT)
        self.window = until("the window", self._window, 60)
        # No window manager gives the keys to it.
        xdotool("windowfocus", "--sync", self.window)
        until("the program's tree of things", lambda: len(self.nodes()) > 20, 60)

    def _window(self):
        if self.process.poll() is not None:
            raise Failure(f"the program ended with status {self.process.returncode}")
        return xdotool("search", "--onlyvisible", "--name", "^Gigafringe").split("\n")[0]

    def title(self):
        return xdotool("getwindowname", self.window)

    def end(self):
        """Ends the program, however it is."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.output.close()

    def nodes(self):
        """Everything in the window, in reading order; nothing that was seen earlier is trusted."""
        desktop = Atspi.get_desktop(0)
        desktop.set_cache_mask(Atspi.Cache.NONE)
        found = []
        for i in range(desktop.get_child_count()):
            try:
                application = desktop.get_child_at_index(i)
                if application is not None and application.get_process_id() == self.process.pid:
                    application.set_cache_mask(Atspi.Cache.NONE)
                    self._gather(application, found)
            except GLib.Error:
                continue
        return found

    def _gather(self, accessible, found):
        try:
            found.append(Node(accessible))
            for i in range(accessible.get_child_count()):
                child = accessible.get_child_at_index(i)
                if child is not None:
                    self._gather(child, found)
        except GLib.Error:
            # It went away while it was looked at.
            pass

    def find(self, role, name):
        """The first with this role (or any, if None) and a name that is, or with a star begins, so."""
        def fits(node):
            same = node.name.startswith(name[:-1]) if name.endswith("*") else node.name == name
            return same and role in (None, node.role)
        return next(filter(fits, self.nodes()), None)

    def wait(self, role, name, seconds=20.0):
        """As `find`, until it is there."""
        def look():
            if self.process.poll() is not None:
                raise Failure(f"the program ended with status {self.process.returncode}")
            return self.find(role, name)
        return until(f"{role or 'something'} “{name}”", look, seconds)

    def shown(self, role, name, fixed=False):
        """The middle of a thing that is there or comes, at rest, and scrolled into view unless it is `fixed`."""
        before = None
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            x, y, width, height = self.wait(role, name).place()
            middle = (x + min(width, 400) // 2, y + height // 2)
            if fixed or y >= TOP and y + height <= BOTTOM:
                if middle == before:
                    return middle
            else:
                wheel = 5 if y + height > BOTTOM else 4
                xdotool("mousemove", middle[0], 500, "click", "--repeat", 2, "--delay", 20, wheel)
            before = middle
            time.sleep(0.1)
        raise Failure(f"{role} “{name}” cannot be scrolled into view")

    def click(self, role, name, fixed=False):
        """Clicks it as a hand would."""
        x, y = self.shown(role, name, fixed)
        xdotool("mousemove", x, y, "sleep", 0.1, "click", 1)

    def type(self, name, text, fixed=False):
        """Writes `text` in the field `name` and presses Enter."""
        self.click("entry", name, fixed)
        until(f"the caret in “{name}”", lambda: self.wait("entry", name).has("focused"))
        xdotool("key", "ctrl+a", "sleep", 0.05, "type", "--delay", 8, text)
        until(f"“{text}” in “{name}”", lambda: self.wait("entry", name).text() == text)
        xdotool("key", "Return")

    def picture(self, path):
        """The whole screen, as it is."""
        subprocess.run(["import", "-window", "root", str(path)], check=False, timeout=60)

    def memory(self, key="VmHWM"):
        """A line of the process's status in the system, in MiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(key)) / 1024


def pictures_folder(name):
    """Where pictures of a failure are kept; it stays."""
    folder = pathlib.Path(os.environ.get("PICTURES", f"target/{name}-pictures")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def say(text):
    print(text, flush=True)


__all__ = ["INPUTS", "Desk", "Failure", "pictures_folder", "say", "start_bus", "sys", "until", "xdotool"]
