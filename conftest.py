# SPDX-License-Identifier: Apache-2.0
"""What is left out of collecting doctests: modules of extras that are not installed."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("ray") else ["src/equipoise/distributed/ray_*.py"]
