// SPDX-License-Identifier: Apache-2.0

// The API of this module uses types of the modules below. They are re-exported, so that one import
// is enough and the dependency rules do not change.
@_exported public import StateMachines
