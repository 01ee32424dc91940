# SPDX-License-Identifier: Apache-2.0
"""Search: parts of a game solved again while it is played, safely, in nests, and to a limited depth."""
