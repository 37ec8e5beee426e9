"""What a run takes while its window cannot be seen; see `tests/hidden`."""

import json
import pathlib
import shutil
import statistics
import subprocess

from desk import Desk, Failure, pictures_folder, say, start_bus, sys, until, xdotool

ROUNDS = 3
SIDE = 8192
# The two layers' reconstructions and the hologram.
FILES = ["hologram.npy", "hologram-layer1.png", "hologram-layer2.png"]
# How much more a hidden run may take: what single runs differ by.
SLOWER, LARGER = 1.15, 1.10


def prepare(folder):
    """A folder with a project whose run takes some seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    layers = []
    for image, distance in (("camera.png", "3mm"), ("coffee.png", "5mm")):
        shutil.copy(pathlib.Path("assets/demo") / image, folder)
        layers.append({"image": image, "distance": distance})
    project = {"grid": {"width": SIDE, "height": SIDE, "pitch": "2um"}, "wavelength": "532nm", "layers": layers,
               "method": "padded", "memory": "200MiB", "output": {"path": FILES[0]}}
    (folder / "project.json").write_text(json.dumps(project), encoding="utf-8")


def measure(program, folder, way, picture):
    """Seconds and largest resident memory in MiB of a run with the window `way`."""
    prepare(folder)
    desk = Desk(program, folder, "project.json")
    cover = None
    try:
        until("a project that can be run", lambda: desk.wait("push button", "Run").has("enabled"))
        desk.click("push button", "Run")
        desk.wait("push button", "Cancel")
        if way == "unmapped":
            xdotool("windowunmap", "--sync", desk.window)
        elif way == "covered":
            cover = subprocess.Popen(["display", "-size", "1500x1000", "-title", "cover", "xc:gray40"],
                                     stderr=subprocess.DEVNULL)
            over = until("a window over it", lambda: xdotool("search", "--onlyvisible", "--name", "^cover$"))
            xdotool("windowmove", over.split("\n")[0], 0, 0, "windowraise", over.split("\n")[0])
        until("the run's files", lambda: all((folder / name).exists() for name in FILES), 300)
        desk.picture(picture)
        if cover:
            cover.terminate()
            cover.wait()
        if way == "unmapped":
            xdotool("windowmap", "--sync", desk.window)
        words = desk.wait("label", "Finished in *").name
        return float(words.removeprefix("Finished in ").split()[0]), desk.memory()
    finally:
        if cover and cover.poll() is None:
            cover.terminate()
        desk.end()


def main():
    program, work = map(pathlib.Path, sys.argv[1:3])
    launcher = start_bus()
    pictures = pictures_folder("hidden")
    ways = ["shown", "unmapped", "covered"]
    taken = {way: [] for way in ways}
    try:
        for number in range(1, ROUNDS + 1):
            for way in ways:
                seconds, memory = measure(program, work / "hidden", way, pictures / f"{number}-{way}.png")
                taken[way].append((seconds, memory))
                say(f"round {number}, {way}: {seconds:.2f} s, at most {memory:.0f} MiB resident")
    except Failure as failure:
        say(f"{failure}\nhidden: not measured; pictures in {pictures}")
        return 1
    finally:
        launcher.terminate()
    shown = [statistics.median(values) for values in zip(*taken["shown"])]
    passed = True
    words = []
    for way in ways[1:]:
        time, memory = (statistics.median(values) / one for values, one in zip(zip(*taken[way]), shown))
        passed &= time <= SLOWER and memory <= LARGER
        words.append(f"{way} {time:.2f} of the time, {memory:.2f} of the memory")
    say(f"hidden: {'passed' if passed else 'FAILED'}; medians of {ROUNDS}, over the shown window's: {'; '.join(words)}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
