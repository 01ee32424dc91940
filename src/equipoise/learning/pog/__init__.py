# SPDX-License-Identifier: Apache-2.0
"""Values and policies learnt by sound self-play: searches grow their trees, and networks learn what searches find."""
