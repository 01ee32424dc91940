# SPDX-License-Identifier: Apache-2.0
"""What requests and answers of `/api` hold, one file a subject."""
