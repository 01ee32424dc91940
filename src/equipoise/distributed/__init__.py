# SPDX-License-Identifier: Apache-2.0
"""Work on several machines, through Ray: the one room that imports it."""
