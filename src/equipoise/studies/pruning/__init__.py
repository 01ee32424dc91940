# SPDX-License-Identifier: Apache-2.0
"""Studies of full-width CFR that leaves branches out."""
