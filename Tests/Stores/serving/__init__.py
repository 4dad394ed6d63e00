# SPDX-License-Identifier: Apache-2.0
"""Tests of a server whose stores are programs; `Tests/Stores/served` runs them."""
