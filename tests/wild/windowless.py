"""Runs a program that opens a window without one: `windowless.py PROGRAM FRAMES`. The program itself is not edited.

A DIRECT client stands in for the window. Each frame the mouse is clicked and a step is made; the last one ends the
program. Bodies whose colour the program changes, such as picked ones, are printed.
"""

import math
import runpy
import sys
import time

import pybullet as p

own_connect, own_change, frames = p.connect, p.changeVisualShape, iter(range(int(sys.argv[2])))


def connect(mode, *_):
    return -1 if mode == p.SHARED_MEMORY else own_connect(p.DIRECT)


def frame(*_):
    k = next(frames, None)
    if k is None:
        sys.exit()
    p.stepSimulation()
    x, y = 320 + 90 * math.sin(0.1 * k), 240 + 60 * math.cos(0.17 * k)
    return [(2, x, y, 0, p.KEY_WAS_TRIGGERED)]


def camera():
    matrix = (0.0,) * 16
    return 640, 480, matrix, matrix, (0, 0, 1), (0, 1, 0), (1e4, 0, 0), (0, 0, 1e4), 0.0, 0.0, 3.0, (0, 0, 0.15)


def change(body, *arguments, **keywords):
    print("\npicked", body)
    own_change(body, *arguments, **keywords)


p.connect, p.getDebugVisualizerCamera, p.changeVisualShape = connect, camera, change
p.getMouseEvents = time.sleep = frame
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
