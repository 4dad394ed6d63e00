// SPDX-License-Identifier: Apache-2.0

// A module whose API speaks the types of the one below hands that one on, so that whoever imports
// it needs no second import, and arrows between modules stay as they are drawn.
@_exported public import TransportSupport
