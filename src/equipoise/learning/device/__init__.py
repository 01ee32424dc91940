# SPDX-License-Identifier: Apache-2.0
"""CFR in torch tensors that stay on one device; importing modules of this package needs torch, the extra `[learn]`."""
