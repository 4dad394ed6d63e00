// SPDX-License-Identifier: Apache-2.0

// The API of this module uses types of the module below. It re-exports that module, so that clients
// need only one import and the dependency rules stay the same.
@_exported public import VersionedList
