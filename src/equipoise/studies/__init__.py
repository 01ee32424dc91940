# SPDX-License-Identifier: Apache-2.0
"""Experiments: what they are made of, and the named studies that compute published figures and numbers again."""
