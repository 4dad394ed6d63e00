// SPDX-License-Identifier: Apache-2.0

// The API of this module uses types of the modules below. It re-exports them, so that clients need
// only one import and the dependency rules stay the same.
@_exported public import StatewireJSON
@_exported public import VersionedList
