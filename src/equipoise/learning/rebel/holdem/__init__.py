# SPDX-License-Identifier: Apache-2.0
"""Values of beliefs of hold'em on 52 cards: rounds are searched one by one, every hand of two cards has a value."""
