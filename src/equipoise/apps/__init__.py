# SPDX-License-Identifier: Apache-2.0
"""What users touch: the command line, displays, plots, studies and benchmarks."""
