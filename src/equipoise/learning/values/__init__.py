# SPDX-License-Identifier: Apache-2.0
"""Networks that say what hands are worth: situations, their values, networks that learn them, and their use."""
