// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewirePage
import TestSupport
import Testing

@Suite("Embedded web page")
struct WebFilesTests {
  /// Returns the files of a folder by their relative paths.
  private func files(in folder: String) -> [String: [UInt8]] {
    let root = TestedPackage.root.appending(path: folder)
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? []
    var files: [String: [UInt8]] = [:]
    for name in names where !name.hasSuffix(".md") && !name.contains("/.") && !name.hasPrefix(".") {
      let url = root.appending(path: name)
      guard !url.hasDirectoryPath, let data = try? Data(contentsOf: url) else { continue }
      files[name] = Array(data)
    }
    return files
  }

  @Test("the embedded page contains exactly the current files of clients/web")
  func page() {
    let embedded = PageFiles.all
    let written = files(in: "clients/web")
    #expect(Set(embedded.keys) == Set(written.keys), "run Scripts/embed-files")
    #expect(embedded == written)
    #expect(embedded["index.html"] != nil)
  }

  @Test("the embedded client has modules of clients/javascript in their current version")
  func client() {
    let written = files(in: "clients/javascript")
    #expect(PageFiles.client["client/index.js"] != nil)
    for (path, bytes) in PageFiles.client {
      #expect(written[String(path.dropFirst("client/".count))] == bytes, "\(path)")
    }
  }
}
