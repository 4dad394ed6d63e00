// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Table of rows")
struct RowsTests {
  @Test("each id is unique")
  func ids() {
    let counts = Dictionary(grouping: Row.all, by: \.id).filter { $0.value.count > 1 }
    #expect(counts.keys.sorted() == [])
  }

  @Test("the marker of a row is in the named conversation file, once, and in no other file")
  func markers() throws {
    let markers = Dictionary(grouping: try Marker.all(), by: \.id)
    for row in Row.all {
      guard case .conversation(let file) = row.place else { continue }
      #expect(markers[row.id]?.map(\.file) == [file], "\(row.testDescription)")
    }
  }

  @Test("each marker belongs to a row")
  func complete() throws {
    let played = Row.all.compactMap { row in
      if case .conversation = row.place { row.id } else { nil }
    }
    let unknown = Set(try Marker.all().map(\.id)).subtracting(played)
    #expect(unknown.sorted() == [])
  }

  @Test("each marker is directly above a message of the client")
  func places() throws {
    for marker in try Marker.all() {
      #expect(marker.isAboveMessage, "\(marker.file): \(marker.id)")
    }
  }

  @Test("the named tests exist")
  func tests() throws {
    let sources = try Source.all()
    for row in Row.all {
      guard case .test(let file, let sentence) = row.place else { continue }
      let text = try #require(sources["\(file).swift"], "\(row.testDescription)")
      let isThere = text.contains("\"\(sentence)\"")
      #expect(isThere, "\(file) has no such test: \(sentence)")
    }
  }
}

/// A line `# [id]` of a conversation.
private struct Marker {
  let id: String
  /// The name without its extension.
  let file: String
  /// True if only other markers are between this one and a message of the client.
  let isAboveMessage: Bool

  static func all() throws -> [Marker] {
    let folder = TestedPackage.root.appending(path: "Protocol/Conversations")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.pathExtension == "conversation" }.flatMap { file in
      let text = try String(contentsOf: file, encoding: .utf8)
      return markers(in: text, of: file.deletingPathExtension().lastPathComponent)
    }
  }

  private static func markers(in text: String, of file: String) -> [Marker] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.compactMap { index in
      guard let id = id(in: lines[index]) else { return nil }
      let next = lines[index...].first { self.id(in: $0) == nil }
      return Marker(id: id, file: file, isAboveMessage: next?.contains("--> ") == true)
    }
  }

  private static func id(in line: Substring) -> String? {
    line.wholeMatch(of: /\s*# \[([\w.-]+)\]/).map { String($0.output.1) }
  }
}

/// The source files of the tests, by name.
private enum Source {
  static func all() throws -> [String: String] {
    let tests = TestedPackage.root.appending(path: "Tests")
    let names = try FileManager.default.subpathsOfDirectory(atPath: tests.path)
    var texts: [String: String] = [:]
    for name in names where name.hasSuffix(".swift") {
      let file = tests.appending(path: name)
      texts[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
    }
    return texts
  }
}
