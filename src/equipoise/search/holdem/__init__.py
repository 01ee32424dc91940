# SPDX-License-Identifier: Apache-2.0
"""Search in hold'em: what its layout asks for."""
