# SPDX-License-Identifier: Apache-2.0
"""Classes of sets of cards by relabelling each set in every way: the twin of native/cardsets.hpp."""

import itertools
from collections import Counter

import numpy as np


def list_card_sets(cards, size, permutations):
    """Returns the first set of each class and the size of the class."""

    def first(chosen):
        return min(tuple(sorted(card - card % 4 + int(row[card % 4]) for card in chosen)) for row in permutations)

    classes = Counter(first(chosen) for chosen in itertools.combinations([int(card) for card in cards], size))
    return np.array(sorted(classes)).reshape(len(classes), size), [classes[chosen] for chosen in sorted(classes)]
