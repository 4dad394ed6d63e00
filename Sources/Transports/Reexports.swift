// SPDX-License-Identifier: Apache-2.0

// The API of this module uses types of the modules below. It re-exports them, so that one import is
// enough, and the dependency rules stay as they are.
@_exported public import TransportSupport
