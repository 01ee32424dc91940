# SPDX-License-Identifier: Apache-2.0
"""Opponents that answer what they see: response functions, training against them (CFR-f), their guarantees."""
