"""The first look at a large index: in how many signs does each vector differ from the query's?

A vector's signs are a bit for each dimension, a thirty-second of its float32 numbers. The fewer of them differ, the
smaller the angle is likely to be (M. Charikar, "Similarity Estimation Techniques from Rounding Algorithms", 2002), so
the rows that differ least are the ones whose cosines are worth working out. How many are needed so that the nearest are
among them is measured by tests/benchmarks/read_scale.py and held by a test on real embeddings.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from recalld.actors.recall.half_floats import Halves

_WORD_BITS: Final = 64
_BLOCK_ROWS: Final = 65_536
"""Rows compared at a time: one word of each, and the counts, stay in a core's own cache."""
_WORDS_IN_OCTET: Final = 3
"""Words whose differing bits are counted in one octet: no more than 192 of them, and octets are added fastest."""


class SignRows:
    """The signs of many vectors, word by word: all first words stand together, then all second ones, and so on.

    Args:
        dims: Length of every vector.
        capacity: Rows there is room for.
    """

    def __init__(self, dims: int, capacity: int) -> None:
        self._dims = dims
        self._words: NDArray[np.uint64] = np.zeros((-(-dims // _WORD_BITS), capacity), dtype=np.uint64)

    def resize(self, capacity: int, rows: int) -> None:
        """Make room for `capacity` rows, and keep the first `rows`."""
        words = np.zeros((len(self._words), capacity), dtype=np.uint64)
        words[:, :rows] = self._words[:, :rows]
        self._words = words

    def put(self, start: int, halves: Halves) -> None:
        """Take the signs of vectors, shape (n, dims), as the rows from `start` on."""
        self._words[:, start : start + len(halves)] = _packed(halves.view(np.int16) >= 0).T

    def distances(self, query: NDArray[np.float32], rows: int) -> NDArray[np.uint16]:
        """In how many signs each of the first `rows` differs from the query, shape (rows,)."""
        wanted = _packed((query >= 0)[np.newaxis])[0]
        found = np.zeros(rows, dtype=np.uint16)
        differing = np.empty(min(rows, _BLOCK_ROWS), dtype=np.uint64)
        counts = np.empty((2, len(differing)), dtype=np.uint8)
        for start in range(0, rows, _BLOCK_ROWS):
            block = found[start : start + _BLOCK_ROWS]
            words, here = self._words[:, start : start + len(block)], differing[: len(block)]
            octets, count = counts[:, : len(block)]
            for first in range(0, len(words), _WORDS_IN_OCTET):
                np.bitwise_count(np.bitwise_xor(words[first], wanted[first], out=here), out=octets)
                for place in range(first + 1, min(first + _WORDS_IN_OCTET, len(words))):
                    octets += np.bitwise_count(np.bitwise_xor(words[place], wanted[place], out=here), out=count)
                block += octets
        return found

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._words.nbytes


def nearest_rows(distances: NDArray[np.uint16], wanted: int) -> NDArray[np.intp]:
    """The rows of the smallest distances, ascending by row; of equal ones the first. All if there are not more."""
    if len(distances) <= wanted:
        return np.arange(len(distances))
    if wanted <= 0:
        return np.arange(0)
    cut = np.partition(distances, wanted - 1)[wanted - 1]
    nearest = np.flatnonzero(distances <= cut)
    surplus = len(nearest) - wanted
    if not surplus:
        return nearest
    tied = np.flatnonzero(distances[nearest] == cut)
    return np.delete(nearest, tied[-surplus:])


def _packed(are_positive: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Bits of shape (n, dims) as words of shape (n, words); what is missing of the last word is 0 in all of them."""
    octets = np.packbits(are_positive, axis=1)
    missing = -octets.shape[1] % (_WORD_BITS // 8)
    padded = np.pad(octets, ((0, 0), (0, missing))) if missing else octets
    return np.ascontiguousarray(padded).view(np.uint64)
