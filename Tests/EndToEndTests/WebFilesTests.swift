// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewirePage
import TestSupport
import Testing

@Suite("The page in the program")
struct WebFilesTests {
  /// The files of a folder by their paths in it.
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

  @Test("is that of clients/web, all of it and as it is now")
  func page() {
    let embedded = PageFiles.all.filter { !$0.key.hasPrefix("client/") }
    let written = files(in: "clients/web")
    #expect(Set(embedded.keys) == Set(written.keys), "run Scripts/embed-page")
    #expect(embedded == written)
    #expect(embedded["index.html"] != nil)
  }

  @Test("has the modules of clients/javascript that a browser loads")
  func client() {
    let written = files(in: "clients/javascript")
    for (path, bytes) in PageFiles.all where path.hasPrefix("client/") {
      #expect(written[String(path.dropFirst("client/".count))] == bytes, "\(path)")
    }
  }
}
