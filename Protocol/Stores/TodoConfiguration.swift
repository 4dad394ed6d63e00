// SPDX-License-Identifier: Apache-2.0

/// Which list a todo store shows.
///
/// - Shape: `{"list": String}` for a named list in the database, shared by all that open it, or
///   `{"memory": {"count": Int}}` for a private list in memory that starts with `count` todos, ids
///   "1" to the count, titles "Todo 1" and so on; `{}` is the list "default".
public struct TodoConfiguration: Decodable, Sendable, Equatable {
  /// Where the list is.
  public enum Source: Sendable, Equatable {
    case list(String)
    case memory(count: Int)
  }

  /// - Units: UTF-8 bytes.
  public static let maximumListNameBytes = 256
  /// How many todos a list in memory can start with.
  public static let maximumCount = 100_000

  public let source: Source

  public init(_ source: Source) { self.source = source }

  private enum CodingKeys: CodingKey { case list, memory }
  private enum MemoryKeys: CodingKey { case count }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decodeIfPresent(String.self, forKey: .list)
    // Absent and null are the same, so that a frontend may write all members.
    if container.contains(.memory), try !container.decodeNil(forKey: .memory) {
      guard name == nil else {
        throw DecodingError.dataCorruptedError(
          forKey: .list, in: container,
          debugDescription: "a list is named or in memory, not both")
      }
      let memory = try container.nestedContainer(keyedBy: MemoryKeys.self, forKey: .memory)
      let count = try memory.decodeIfPresent(Int.self, forKey: .count) ?? 0
      guard (0...Self.maximumCount).contains(count) else {
        throw DecodingError.dataCorruptedError(
          forKey: .count, in: memory,
          debugDescription: "the count is 0 to \(Self.maximumCount)")
      }
      source = .memory(count: count)
    } else {
      let name = name ?? "default"
      guard (1...Self.maximumListNameBytes).contains(name.utf8.count) else {
        throw DecodingError.dataCorruptedError(
          forKey: .list, in: container,
          debugDescription: "a list's name has 1 to \(Self.maximumListNameBytes) bytes")
      }
      source = .list(name)
    }
  }
}
