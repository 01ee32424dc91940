# SPDX-License-Identifier: Apache-2.0
"""Equilibrium finding: rules, full-width and sampled CFR, first-order methods, the LP, best responses."""
