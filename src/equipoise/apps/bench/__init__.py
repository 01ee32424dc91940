# SPDX-License-Identifier: Apache-2.0
"""`equipoise bench`: speed beside other programs on the same games, and the signature of what is computed."""
