# SPDX-License-Identifier: Apache-2.0
"""Work as a user asks for it: a solve of a game or a spot from its options to its file, searches in it, matches."""
