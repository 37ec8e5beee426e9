"""One journey through the window; see `tests/journey`."""

import ast
import json
import pathlib
import shutil
import struct
import time

from desk import INPUTS, Desk, Failure, pictures_folder, say, start_bus, sys, until, xdotool

PAGES = ["Charts", "Scene", "Drives", "Timeline", "History", "Inspect", "Lab"]
IMAGES = ["camera.png", "coffee.png"]
LARGE, WIDTH, HEIGHT = 8192, 1000, 700


class Journey:
    """The steps, in their order; each looks at what it has brought about."""

    def __init__(self, program, work):
        self.folder = work / "journey"
        self.folder.mkdir()
        # A copy: beside its sources the program would open the demo.
        self.program = work / "gigafringe"
        shutil.copy(program, self.program)
        for image in IMAGES:
            shutil.copy(pathlib.Path("assets/demo") / image, self.folder)
        self.project = self.folder / "project.json"
        self.hologram = self.folder / "hologram.npy"
        self.desk = None

    def open_the_window(self):
        """the window opens on an empty project"""
        self.desk = Desk(self.program, self.folder)
        until("the title", lambda: self.desk.title() == "Gigafringe — untitled")
        self.desk.wait("label", "Start here: add an image*")
        expect(not self.desk.find("push button", "Run").has("enabled"), "nothing to run, and Run can be pressed")

    def add_layers(self):
        """two images become layers by their paths"""
        for number, image in enumerate(IMAGES, 1):
            self.desk.type("Image path", str(self.folder / image))
            self.desk.wait("label", f"{number}  {image}")
        self.desk.type("Depth of layer 2", "5 mm")

    def set_optics(self):
        """optics are typed, and the saved project has them"""
        for name, text in [("Wavelength λ", "633 nm"), ("Pitch", "3 um"), ("Width", str(LARGE)),
                           ("Height", str(LARGE)), ("Memory", "200 MiB")]:
            self.desk.type(name, text)
        self.save()
        saved = json.loads(self.project.read_text(encoding="utf-8"))
        grid = saved["grid"]
        expect((grid["width"], grid["height"]) == (LARGE, LARGE), f"the saved grid is {grid}")
        expect(grid["pitch"].replace(" ", "") in ("3um", "3µm"), f"the saved pitch is {grid['pitch']}")
        expect(saved["wavelength"].replace(" ", "") == "633nm", f"the wavelength is {saved['wavelength']}")
        expect(saved["layers"][1]["distance"].replace(" ", "") == "5mm", f"the layers are {saved['layers']}")

    def save(self):
        """Saves the project under its name."""
        before = self.project.stat().st_mtime_ns if self.project.exists() else None
        if before is None:
            self.desk.type("Project", str(self.project), fixed=True)
        self.desk.click("push button", "Save", fixed=True)
        until("the project's file",
              lambda: self.project.exists() and self.project.stat().st_mtime_ns != before)
        until("the title with the project's name", lambda: self.desk.title() == "Gigafringe — project.json")

    def run(self):
        """a run begins and writes to the drive"""
        self.desk.click("push button", "Run")
        self.desk.wait("push button", "Cancel")
        until("bytes of the run on the drive", self.unfinished)

    def unfinished(self):
        """What a run that is under way keeps in the folder."""
        return [path for path in self.folder.rglob("*")
                if "gigafringe-scratch" in str(path) or "gigafringe-unfinished" in path.name]

    def cancel(self):
        """Cancel stops it within seconds, and nothing is left behind"""
        began = time.monotonic()
        self.desk.click("push button", "Cancel")
        self.desk.wait("push button", "Run", 10)
        until("an empty folder", lambda: not self.unfinished(), 5)
        say(f"      stopped after {time.monotonic() - began:.1f} s")
        expect(not self.hologram.exists(), "there is a hologram of a cancelled run")
        left = sorted(path.name for path in self.folder.iterdir())
        expect(left == sorted([*IMAGES, "program.txt", "project.json"]), f"the folder holds {left}")

    def run_to_the_end(self):
        """a smaller hologram is made to the end"""
        self.desk.type("Width", str(WIDTH))
        self.desk.type("Height", str(HEIGHT))
        until("a project that can be run", lambda: self.desk.wait("push button", "Run").has("enabled"))
        self.desk.click("push button", "Run")
        self.desk.wait("label", "Finished in *", 60)

    def look_at_the_files(self):
        """the hologram's file has the shape and the bytes, the previews are there, no scratch is"""
        with self.hologram.open("rb") as file:
            expect(file.read(6) == b"\x93NUMPY", "not an .npy file")
            major = file.read(2)[0]
            length = struct.unpack("<H" if major == 1 else "<I", file.read(2 if major == 1 else 4))[0]
            header = ast.literal_eval(file.read(length).decode())
            samples = file.read()
        expect(header["shape"] == (HEIGHT, WIDTH) and header["descr"] == "<c8", f"the header is {header}")
        expect(len(samples) == 8 * WIDTH * HEIGHT, f"{len(samples)} bytes of samples")
        parts = struct.unpack(f"<{2 * WIDTH * HEIGHT}f", samples)
        dark = sum(part == 0.0 for part in parts)
        energy = sum(part * part for part in parts)
        expect(dark < len(parts) // 100 and 0.0 < energy < 1e12, f"{dark} parts are zero, the energy is {energy}")
        for layer in (1, 2):
            preview = self.folder / f"hologram-layer{layer}.png"
            expect(preview.read_bytes()[:4] == b"\x89PNG", f"{preview} is no picture")
        expect(not self.unfinished(), f"left behind: {self.unfinished()}")

    def inspect(self):
        """a click on a reconstruction opens it for inspection"""
        self.desk.click(None, "Reconstruction of layer 2")
        until("the page Inspect", lambda: self.is_on("Inspect"))
        self.desk.wait("label", "Layer 2 of 2 at 5 mm")
        self.desk.click("push button", "Previous layer (left arrow key)")
        self.desk.wait("label", "Layer 1 of 2 at *")

    def is_on(self, page):
        """Whether the page's tab, which may have a section's name, is the pressed one."""
        tabs = [node for node in self.desk.nodes() if (node.role, node.name) == ("toggle button", page)]
        return tabs[-1].has("pressed")

    def hear_the_names(self):
        """every input on every page has a name"""
        for name in ("More optics", "Compare the plans"):
            toggle = self.desk.wait("toggle button", name)
            if not toggle.has("expanded"):
                self.desk.click("toggle button", name)
        self.desk.click("push button", "Show log", fixed=True)
        count, nameless = 0, []
        for number, page in enumerate(PAGES, 1):
            xdotool("key", f"ctrl+{number}")
            until(f"the page {page}", lambda page=page: self.is_on(page))
            inputs = [node for node in self.desk.nodes() if node.role in INPUTS]
            count += len(inputs)
            nameless += [f"{node.role} at {node.place()} on {page}" for node in inputs if not node.name.strip()]
        self.desk.click("push button", "Hide log", fixed=True)
        say(f"      {count} inputs heard on {len(PAGES)} pages")
        expect(count > 300, "that is fewer than there are")
        expect(not nameless, "without a name: " + "; ".join(nameless))

    def close(self):
        """the window closes, the program ends well"""
        self.save()
        self.desk.process.terminate()
        until("the end of the program", lambda: self.desk.process.poll() is not None)
        status = self.desk.process.returncode
        expect(status == 0, f"the exit status is {status}")
        expect(not self.unfinished(), f"left behind: {self.unfinished()}")


def expect(true, otherwise):
    """What must be so."""
    if not true:
        raise Failure(otherwise)


def main():
    journey = Journey(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    steps = [journey.open_the_window, journey.add_layers, journey.set_optics, journey.run, journey.cancel,
             journey.run_to_the_end, journey.look_at_the_files, journey.inspect, journey.hear_the_names,
             journey.close]
    pictures = pictures_folder("journey")
    every = "--pictures" in sys.argv
    launcher = start_bus()
    passed = 0
    try:
        for number, step in enumerate(steps, 1):
            picture = pictures / f"{number}-{step.__name__}.png"
            try:
                step()
            except (Failure, OSError, ValueError, KeyError) as failure:
                say(f"not ok {number}: {step.__doc__}\n      {failure}")
                if journey.desk:
                    journey.desk.picture(picture)
                    say(f"      picture: {picture}")
                break
            passed += 1
            say(f"ok {number}: {step.__doc__}")
            if every:
                journey.desk.picture(picture)
    finally:
        if journey.desk:
            journey.desk.end()
        launcher.terminate()
    say(f"journey: {passed} of {len(steps)} steps passed")
    return 0 if passed == len(steps) else 1


if __name__ == "__main__":
    sys.exit(main())
