# SPDX-License-Identifier: Apache-2.0
"""The protocol of the Annual Computer Poker Competition: a seat at somebody's dealer, and a dealer."""
