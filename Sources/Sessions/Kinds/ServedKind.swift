// SPDX-License-Identifier: Apache-2.0

/// The properties of a store kind that its stores on one shard share.
final class ServedKind {
  let name: String
  /// The metrics of its stores.
  let metrics: KindMetrics
  /// Returns the reason to refuse a use of a store to a viewer; nil if every use is permitted.
  let refusing: StoreKind.Refusing?

  init(_ name: String, _ metrics: KindMetrics, refusing: StoreKind.Refusing? = nil) {
    self.name = name
    self.metrics = metrics
    self.refusing = refusing
  }
}
