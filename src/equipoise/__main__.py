# SPDX-License-Identifier: Apache-2.0
"""`python -m equipoise` is `equipoise`."""

from equipoise.apps.entry import main

if __name__ == "__main__":
    main()
