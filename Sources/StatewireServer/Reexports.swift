// SPDX-License-Identifier: Apache-2.0

// The API of this module uses types of these modules. It re-exports them, so that one import is
// enough and the dependency rules stay unchanged.
@_exported public import ServerCore
@_exported public import Transports
