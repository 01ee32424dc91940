# SPDX-License-Identifier: Apache-2.0
"""Which addresses there are under `/api`, one file a subject; what they do is done elsewhere."""
