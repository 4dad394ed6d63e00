// SPDX-License-Identifier: Apache-2.0

/// The request templates of all connections of a shard: thousands of clients write their requests in one way.
final class RequestTemplateCache {
  private var all: [RequestTemplate] = []

  // One server is used by about so many different clients.
  private static var maximumCount: Int { 32 }

  /// Returns a template, or an equal one that is there already.
  func shared(_ template: RequestTemplate) -> RequestTemplate {
    if let known = all.first(where: { $0.isSame(as: template) }) { return known }
    if all.count == Self.maximumCount { all.removeFirst() }
    all.append(template)
    return template
  }
}

/// The templates of one client's last two kinds of inputs.
struct RequestTemplates {
  private(set) var current: RequestTemplate?
  private(set) var other: RequestTemplate?
  /// Number of inputs in a row, or nearly, that no template has matched.
  private(set) var misses: UInt8 = 0

  // A client that never writes alike is not learned from for ever.
  private static var maximumMisses: UInt8 { 16 }

  /// Exchanges the two: a client that uses two stores often writes to one for a while.
  mutating func swap() { Swift.swap(&current, &other) }

  /// An input matched a template, and was accepted.
  mutating func hit() { if misses > 0 { misses -= 1 } }

  /// An input that no template has matched was accepted.
  ///
  /// - Returns: True if its template is to be learned.
  mutating func miss() -> Bool {
    guard misses < Self.maximumMisses else { return false }
    misses += 1
    return true
  }

  mutating func learn(_ template: RequestTemplate) { (current, other) = (template, current) }
}
