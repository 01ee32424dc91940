# SPDX-License-Identifier: Apache-2.0
"""Checked wrappers over the native module; its only importers."""

from equipoise.kernels.cores import load_core

load_core()
