# SPDX-License-Identifier: Apache-2.0
"""Checked wrappers over the native module; its only importers."""
