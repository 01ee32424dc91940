# SPDX-License-Identifier: Apache-2.0
"""Studies of blueprints for two to six players and of the bots that play them."""
