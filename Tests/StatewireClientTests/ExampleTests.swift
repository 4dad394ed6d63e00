// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("README's frontend")
struct ExampleTests {
  @Test("is what is compiled")
  func isCompiled() throws {
    let folder = TestedPackage.root.appending(path: "clients/swift")
    let readme = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
    let source = try String(
      contentsOf: folder.appending(path: "Sources/ShoppingList/ShoppingList.swift"),
      encoding: .utf8)
    let code = source.components(separatedBy: "\n\n").dropFirst().joined(separator: "\n\n")
    #expect(readme.contains("```swift\n\(code)```"))
  }
}
