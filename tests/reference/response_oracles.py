# SPDX-License-Identifier: Apache-2.0
"""Best values against responses by linear programs over sequences: what CFR-f is measured against."""

import numpy as np
from scipy import optimize, sparse

from equipoise.solvers.sequence_lp import flow_constraints, payoff_matrix


def payoffs_of(tree, seat):
    """Returns the payoffs of the player in a seat, its sequences as rows."""
    matrix = payoff_matrix(tree).toarray()
    return matrix if seat == 0 else -matrix.T


def best_value_against_set(tree, plans, seat):
    """Returns max over x of the least of x A y_k, for plans `[K, Q of the other]`."""
    gains = payoffs_of(tree, seat) @ np.asarray(plans).T  # [Q, K]
    flow = flow_constraints(tree, seat)
    size, count = gains.shape
    objective = np.append(np.zeros(size), -1.0)
    start = np.zeros(flow.shape[0])
    start[0] = 1.0
    result = optimize.linprog(
        objective,
        A_ub=np.hstack([-gains.T, np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=sparse.hstack([flow, sparse.csr_array((flow.shape[0], 1))]).toarray(),
        b_eq=start,
        bounds=[(0, None)] * size + [(None, None)],
    )
    assert result.status == 0
    return -result.fun


def best_value_against_mix(tree, plan, probability, seat):
    """Returns max over x of p x A y + (1 - p) min over all z of x A z: a model mixed with a best response."""
    payoff = payoffs_of(tree, seat)
    own, other = flow_constraints(tree, seat).toarray(), flow_constraints(tree, 1 - seat).toarray()
    size, num_sets = payoff.shape[0], other.shape[0]
    worst = np.zeros(num_sets)
    worst[0] = 1.0
    objective = -np.concatenate([probability * payoff @ plan, (1 - probability) * worst])
    start = np.zeros(own.shape[0])
    start[0] = 1.0
    result = optimize.linprog(
        objective,
        A_ub=np.hstack([-payoff.T, other.T]),
        b_ub=np.zeros(payoff.shape[1]),
        A_eq=np.hstack([own, np.zeros((own.shape[0], num_sets))]),
        b_eq=start,
        bounds=[(0, None)] * size + [(None, None)] * num_sets,
    )
    assert result.status == 0
    return -result.fun
