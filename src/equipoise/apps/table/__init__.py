# SPDX-License-Identifier: Apache-2.0
"""`equipoise play`: a person at the table."""
