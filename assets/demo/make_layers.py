"""Makes the three layers of the demo project from photographs that come with scikit-image.

    pip install scikit-image pillow
    python make_layers.py

Each layer is a black square with one photograph in a place of its own, so that in a reconstruction
at one layer's depth that photograph is sharp and the blur of the others lies elsewhere.
"""

from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data

SIDE = 1024
FEATHER = 14  # pixels over which a photograph's border fades to black


def gray(photograph, box, size):
    """The box (left, top, right, bottom) of a photograph in gray, scaled to size (width, height)."""
    image = Image.fromarray(photograph).convert("L").crop(box)
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS), dtype=float)


def inside(size, round_):
    """Distance from the border of a rectangle, or of the ellipse in it, in pixels; negative outside."""
    width, height = size
    x = np.arange(width) + 0.5
    y = (np.arange(height) + 0.5)[:, None]
    if round_:
        radius = np.hypot((x - width / 2) / (width / 2), (y - height / 2) / (height / 2))
        return (1 - radius) * min(width, height) / 2
    return np.minimum(np.minimum(x, width - x), np.minimum(y, height - y))


def layer(name, photograph, box, size, corner, round_=False):
    """Saves one layer: the photograph's box at `corner` (left, top) of the square."""
    fade = np.clip(inside(size, round_) / FEATHER, 0, 1)
    pixels = gray(photograph, box, size) * (fade * fade * (3 - 2 * fade))
    square = np.zeros((SIDE, SIDE), dtype=np.uint8)
    left, top = corner
    square[top : top + size[1], left : left + size[0]] = np.round(pixels)
    path = Path(__file__).parent / f"{name}.png"
    Image.fromarray(square).save(path, optimize=True)
    print(path.name, path.stat().st_size, "bytes")


layer("camera", data.camera(), (0, 0, 512, 512), (460, 460), (70, 60))
layer("cat", data.chelsea(), (95, 0, 395, 300), (430, 430), (550, 290), round_=True)
layer("coffee", data.coffee(), (70, 0, 500, 400), (473, 440), (80, 545))
