# SPDX-License-Identifier: Apache-2.0
"""`equipoise serve`: the page, and the interface under `/api` that it uses; needs the extra `web`."""
