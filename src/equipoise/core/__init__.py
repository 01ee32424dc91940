# SPDX-License-Identifier: Apache-2.0
"""Errors, randomness, the disk format and progress records: what every other room stands on."""
