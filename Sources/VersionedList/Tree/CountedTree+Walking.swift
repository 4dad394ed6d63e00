// SPDX-License-Identifier: Apache-2.0

// Iteration over entries in order.
extension CountedTree {
  /// Calls `body` with each entry from a rank, until it returns false.
  func visit(from start: Int = 0, _ body: (Entry) -> Bool) {
    guard let root, start < count else { return }
    _ = Self.walk(root, height, skipping: start, body)
  }

  /// Calls `body` with each payload in order.
  ///
  /// Unlike `visit`, it does not retain each payload: reference counting is atomic, and the
  /// processor would not load one payload from memory while it handles another.
  func visitPayloads(_ body: (AnyObject) -> Void) where Payload == AnyBox {
    guard let root else { return }
    defer { withExtendedLifetime(self) {} }
    Self.walk(root, height) { leaf in
      let entries = leaf.contents
      for index in 0..<entries.count {
        Self.payload(of: entries.address(of: index))._withUnsafeGuaranteedRef(body)
      }
    }
  }

  private static func walk(_ node: AnyObject, _ height: Int, _ body: (Leaf) -> Void) {
    guard height > 0 else { return body(leaf(node)) }
    let inner = inner(node)
    for index in 0..<inner.count { walk(inner[index].child, height - 1, body) }
  }

  /// The entries in order, as an array.
  var entries: [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(count)
    visit {
      entries.append($0)
      return true
    }
    return entries
  }

  private static func walk(
    _ node: AnyObject, _ height: Int, skipping start: Int, _ body: (Entry) -> Bool
  ) -> Bool {
    guard height > 0 else {
      let leaf = leaf(node)
      for index in start..<leaf.count where !body(leaf[index]) { return false }
      return true
    }
    let inner = inner(node)
    var start = start
    for index in 0..<inner.count {
      let branch = inner[index]
      if start >= branch.count {
        start -= branch.count
      } else {
        guard walk(branch.child, height - 1, skipping: start, body) else { return false }
        start = 0
      }
    }
    return true
  }
}
