// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Memory for the changes of a store, kept while inputs come one after the other.
final class StoreBuffers {
  var patch = JSONPatchWriter()
  /// The text of the view state, while it is compared.
  var encoded = JSONWriter()
}
