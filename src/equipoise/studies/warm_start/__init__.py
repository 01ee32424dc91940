# SPDX-License-Identifier: Apache-2.0
"""Study `warm-start`: what it runs, the runs, and what they came to."""
