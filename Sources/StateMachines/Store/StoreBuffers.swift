// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Memory for the changes of a store; it is reused while inputs follow each other.
final class StoreBuffers {
  var patch = JSONPatchWriter()
  /// The encoded view state while it is compared.
  var encoded = JSONWriter()
}
