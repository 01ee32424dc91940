# SPDX-License-Identifier: Apache-2.0
"""Hold'em as the native module reads it: board by board, hands sorted by strength."""
