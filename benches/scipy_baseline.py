#!/usr/bin/env python3
"""The zero-padded angular spectrum in memory, as it is written with scipy: a baseline.

Propagates an N × M complex64 plane (.npy) over a distance and writes the result. Planes are padded to
twice their size; everything is float32/complex64 but the phase of the transfer function, which is formed
in float64 a row at a time. Nothing is prepared outside the time but the imports. Prints one JSON line with
the median of the repeats, with and without loading and saving.
"""

import argparse
import json
import os
import statistics
import time

import numpy as np
import scipy.fft


def multiply_transfer(spectrum, wavelength, distance, pitch_y, pitch_x):
    """Multiplies a padded spectrum by H = exp(2πi·z·sqrt(1/λ² − fx² − fy²)), in place.

    H is even in fy, so a row serves two; evanescent waves decay.
    """
    rows, columns = spectrum.shape
    half = columns // 2 + 1
    fx2 = np.fft.fftfreq(columns, pitch_x)[:half] ** 2
    fy2 = np.fft.fftfreq(rows, pitch_y) ** 2
    line = np.empty(columns, np.complex64)
    for y in range(rows // 2 + 1):
        square = wavelength**-2 - fy2[y] - fx2
        turns = distance * np.sqrt(np.maximum(square, 0.0))
        turns -= np.round(turns)
        phase = (2 * np.pi * turns).astype(np.float32)
        line.real[:half] = np.cos(phase)
        line.imag[:half] = np.sin(phase)
        evanescent = square < 0
        if evanescent.any():
            line[:half][evanescent] = np.exp(-2 * np.pi * abs(distance) * np.sqrt(-square[evanescent]))
        line[half:] = line[1 : columns - half + 1][::-1]
        spectrum[y] *= line
        if 0 < y < rows - y:
            spectrum[rows - y] *= line


def propagate(source, arguments):
    """The propagated plane, and the seconds of each part."""
    height, width = source.shape
    seconds = {}
    started = time.perf_counter()

    def part(name):
        nonlocal started
        now = time.perf_counter()
        seconds[name] = now - started
        started = now

    padded = np.zeros((2 * height, 2 * width), np.complex64)
    padded[:height, :width] = source
    part("pad")
    spectrum = scipy.fft.fft2(padded, overwrite_x=True, workers=arguments.workers)
    del padded
    part("forward")
    multiply_transfer(spectrum, arguments.wavelength, arguments.distance, arguments.pitch, arguments.pitch)
    part("transfer")
    result = scipy.fft.ifft2(spectrum, overwrite_x=True, workers=arguments.workers)
    del spectrum
    part("inverse")
    return result[:height, :width], seconds


def once(arguments):
    """Seconds of one run, from the file to the file."""
    started = time.perf_counter()
    source = np.load(arguments.input)
    if source.ndim != 2:
        raise SystemExit(f"{arguments.input}: has {source.ndim} dimensions; give a plane of two")
    source = source.astype(np.complex64, copy=False)
    loaded = time.perf_counter()
    result, parts = propagate(source, arguments)
    computed = time.perf_counter()
    with open(arguments.output, "wb") as file:
        np.save(file, np.ascontiguousarray(result))
        if arguments.sync:
            file.flush()
            os.fsync(file.fileno())
    saved = time.perf_counter()
    return {
        "load": loaded - started,
        "compute": computed - loaded,
        "save": saved - computed,
        "total": saved - started,
        **parts,
    }


def peak_memory():
    """The process's largest resident size in bytes, where the system tells."""
    try:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    except ImportError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", help="IN.npy, two-dimensional")
    parser.add_argument("output", help="OUT.npy, complex64; replaced")
    parser.add_argument("--wavelength", type=float, required=True, help="metres")
    parser.add_argument("--pitch", type=float, required=True, help="metres")
    parser.add_argument("--distance", type=float, required=True, help="metres, signed")
    parser.add_argument("--workers", type=int, default=2, help="threads of the transforms")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sync", action="store_true", help="wait until the output is on the drive")
    arguments = parser.parse_args()
    if arguments.repeat < 1 or arguments.workers < 1:
        parser.error("--repeat and --workers are at least 1")
    runs = [once(arguments) for _ in range(arguments.repeat)]
    medians = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    height, width = np.load(arguments.input, mmap_mode="r").shape
    print(
        json.dumps(
            {
                "program": "scipy",
                "scipy": scipy.__version__,
                "numpy": np.__version__,
                "height": height,
                "width": width,
                "workers": arguments.workers,
                "repeat": arguments.repeat,
                "seconds": medians["total"],
                "seconds_without_io": medians["compute"],
                "parts": medians,
                "runs": [run["total"] for run in runs],
                "peak_memory": peak_memory(),
            }
        )
    )


if __name__ == "__main__":
    main()
