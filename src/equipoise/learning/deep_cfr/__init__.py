# SPDX-License-Identifier: Apache-2.0
"""CFR whose regrets are what a regressor says of information states: Deep CFR and its rivals."""
