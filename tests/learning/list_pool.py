# SPDX-License-Identifier: Apache-2.0
"""A pool that is a list: for tests of what is learnt from others' play."""


class ListPool:
    """Does its tasks at once, as far ahead as a pool may."""

    num_workers = 2

    def __init__(self, num_ahead):
        self.num_ahead, self.tasks = num_ahead, []

    def map(self, function, tasks, *, supervision, in_order=True):
        del supervision, in_order
        ahead = []
        for task in tasks:
            self.tasks.append(task)
            ahead.append(function(task))
            if len(ahead) == self.num_ahead:
                yield ahead.pop(0)
