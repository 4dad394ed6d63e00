// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import Testing

/// Tests with public test suites, whose folders are given by environment variables.
@Suite("Public suites")
struct SuiteTests {
  private static let json = ProcessInfo.processInfo.environment["STATEWIRE_JSON_SUITE"]
  private static let patch = ProcessInfo.processInfo.environment["STATEWIRE_PATCH_SUITE"]

  @Test(
    "each file of JSONTestSuite is accepted or refused as its name says",
    .enabled(if: json != nil, "set STATEWIRE_JSON_SUITE to its folder test_parsing"))
  func parsing() throws {
    let folder = URL(fileURLWithPath: try #require(Self.json))
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    var counts: [Character: Int] = [:]
    for file in files where file.pathExtension == "json" {
      let name = file.lastPathComponent
      let bytes = [UInt8](try Data(contentsOf: file))
      // Only depth may be refused as a limit. One case needs a depth of 500.
      let isRead = (try? JSONValue(parsing: bytes, limits: JSONLimits(maximumDepth: 512))) != nil
      let isSkipped = (try? skip(bytes, limits: JSONLimits(maximumDepth: 512))) != nil
      #expect(isRead == isSkipped, "\(name)")
      counts[name.first ?? "?", default: 0] += 1
      switch name.first {
      case "y": #expect(isRead, "\(name)")
      case "n": #expect(!isRead, "\(name)")
      default: break
      }
    }
    #expect(counts["y", default: 0] > 90 && counts["n", default: 0] > 180, "\(counts)")
  }

  @Test(
    "each record of json-patch-tests gives its expected result",
    .enabled(if: patch != nil, "set STATEWIRE_PATCH_SUITE to its folder"))
  func patching() throws {
    let folder = URL(fileURLWithPath: try #require(Self.patch))
    var count = 0
    for name in ["tests.json", "spec_tests.json"] {
      let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
      for record in try #require(JSONValue(parsing: bytes).array) {
        guard record["disabled"]?.bool != true, let document = record["doc"],
          let patch = record["patch"]
        else { continue }
        count += 1
        let result = Result { try JSONPatch(patch).apply(to: document) }
        if let expected = record["expected"] {
          #expect(try result.get() == expected, "\(record)")
        } else if record["error"] != nil {
          #expect(throws: JSONError.self, "\(record)") { try result.get() }
        } else {
          #expect(throws: Never.self, "\(record)") { try result.get() }
        }
      }
    }
    #expect(count > 90)
  }
}
