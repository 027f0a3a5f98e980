"""policy_kit: a trained network for a bot in Python, with the standard library only: bots may have no numpy.

    network = policy_kit.Network("policy.npz")
    outputs = network.outputs(encode(view))        one number for each action of encoding.ACTIONS
    policy_kit.number_of(action)                   the number of a legal action

policy.npz has the layers: w0 (inputs x units) and b0 (units), w1, b1 and so on, float32 or float64. Between layers
stands relu. `numpy.savez("policy.npz", w0=..., b0=..., w1=..., b1=...)` writes it.
"""

import ast
import sys
import zipfile
from array import array

from encoding import ACTIONS

_KINDS = {"<f4": "f", "<f8": "d"}


class Network:
    """Layers of numbers: each is multiplied, its bias added; relu between them."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as file:
            arrays = {name.removesuffix(".npy"): _array(name, file.read(name)) for name in file.namelist()}
        self.layers = [(arrays[f"w{depth}"], arrays[f"b{depth}"]) for depth in range(len(arrays) // 2)]

    def outputs(self, numbers):
        """Return the outputs for the numbers of a view, in lists of any depth."""
        values = list(_flat(numbers))
        for depth, (weights, bias) in enumerate(self.layers):
            if depth:
                values = [max(value, 0.0) for value in values]
            sums = bias
            for value, row in zip(values, weights):
                if value:
                    sums = [total + value * weight for total, weight in zip(sums, row)]
            values = sums
        return values


def number_of(action):
    """Return the index of the action in ACTIONS; further fields of it, such as a text, do not count."""
    if action in ACTIONS:
        return ACTIONS.index(action)
    return next(number for number, known in enumerate(ACTIONS) if known.items() <= action.items())


def _flat(numbers):
    """Yield the numbers in lists of any depth, one after the other."""
    for each in numbers:
        if isinstance(each, (list, tuple)):
            yield from _flat(each)
        else:
            yield each


def _array(name, data):
    """Return the rows of an array of numpy's format .npy, or the numbers of one with one dimension."""
    start = 10 if data[6] == 1 else 12
    end = start + int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:end].decode("latin-1"))
    if header["descr"] not in _KINDS or sys.byteorder != "little":
        raise ValueError(f"{name}: found numbers of the kind {header['descr']}, expected float32 or float64")
    numbers = array(_KINDS[header["descr"]], data[end:]).tolist()
    if len(header["shape"]) == 1:
        return numbers
    rows, columns = header["shape"]
    if header["fortran_order"]:
        return [numbers[row::rows] for row in range(rows)]
    return [numbers[row * columns : (row + 1) * columns] for row in range(rows)]
