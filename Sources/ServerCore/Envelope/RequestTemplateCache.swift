// SPDX-License-Identifier: Apache-2.0

/// The request templates that all connections of a shard share: thousands of clients may write
/// their requests in the same way.
final class RequestTemplateCache {
  private var all: [RequestTemplate] = []

  // About the number of different client programs that use one server.
  private static var maximumCount: Int { 32 }

  /// Returns the cached template that equals a template; adds it if there is none.
  func shared(_ template: RequestTemplate) -> RequestTemplate {
    if let known = all.first(where: { $0.isSame(as: template) }) { return known }
    if all.count == Self.maximumCount { all.removeFirst() }
    all.append(template)
    return template
  }
}

/// The two templates that one client has used last.
struct RequestTemplates {
  private(set) var current: RequestTemplate?
  private(set) var other: RequestTemplate?
  /// Number of accepted inputs that no template has matched, less those that one has matched.
  private(set) var misses: UInt8 = 0

  // After so many misses no more templates are learned: the client's requests differ too much.
  private static var maximumMisses: UInt8 { 16 }

  /// Exchanges the two: a client of two stores often sends several inputs to one of them.
  mutating func swap() { Swift.swap(&current, &other) }

  /// Counts an accepted input that a template has matched.
  mutating func hit() { if misses > 0 { misses -= 1 } }

  /// Counts an accepted input that no template has matched.
  ///
  /// - Returns: True if its template is to be learned.
  mutating func miss() -> Bool {
    guard misses < Self.maximumMisses else { return false }
    misses += 1
    return true
  }

  /// Makes a template the current one.
  mutating func learn(_ template: RequestTemplate) { (current, other) = (template, current) }
}
