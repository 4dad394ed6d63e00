// SPDX-License-Identifier: Apache-2.0

/// A failed check of a test store.
public struct TestFailure: Error, CustomStringConvertible, Equatable {
  /// A place in the source of a test.
  public struct Place: Equatable, Sendable {
    /// The module and the file, as `#fileID` gives them.
    public let fileID: String
    /// The path of the file.
    public let filePath: String
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int

    init(_ fileID: String, _ filePath: String, _ line: Int, _ column: Int) {
      self.fileID = fileID
      self.filePath = filePath
      self.line = line
      self.column = column
    }
  }

  /// The failed check, in words for people.
  public let message: String
  /// The place of the call that failed.
  public let place: Place

  init(_ message: String, _ place: Place) {
    self.message = message
    self.place = place
  }

  /// The failure as `KanbanTests.swift:42: message`.
  public var description: String {
    let file = place.fileID.split(separator: "/").last ?? ""
    return "\(file):\(place.line): \(message)"
  }
}
