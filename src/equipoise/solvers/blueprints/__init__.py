# SPDX-License-Identifier: Apache-2.0
"""Blueprints of two to six players: sampled training on flat betting trees with cards in buckets."""
