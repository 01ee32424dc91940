# SPDX-License-Identifier: Apache-2.0
"""Values of beliefs learnt by self-play: searches end with a network, and the network learns what searches find."""
