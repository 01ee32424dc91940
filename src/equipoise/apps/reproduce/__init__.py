# SPDX-License-Identifier: Apache-2.0
"""`equipoise reproduce`: published figures and numbers, computed again and set beside the printed ones."""
