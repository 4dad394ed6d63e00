// SPDX-License-Identifier: Apache-2.0

import CEmbeddedFiles
import Foundation
import StatewireServer

/// The files of a new project: those of `Examples/Template`, `Template-python` or
/// `Template-javascript`, which are tested with the package, with other names.
struct ProjectTemplate {
  let name: ProjectName
  let language: New.Language
  /// The package that a project in Swift uses; nil in other languages.
  let source: StatewireSource?

  /// Writes the project.
  ///
  /// - Parameter folder: The path of the folder. It must not exist, or must be empty.
  /// - Throws: `StartupError` if the folder cannot be used or a file cannot be written.
  func write(to folder: String) throws(StartupError) {
    let root = URL(filePath: folder)
    do {
      if let found = try? FileManager.default.contentsOfDirectory(atPath: root.path) {
        guard found.isEmpty else {
          throw StartupError("the folder \(folder) is not empty; use another name or empty it")
        }
      } else if (try? FileManager.default.destinationOfSymbolicLink(atPath: root.path)) != nil
        || FileManager.default.fileExists(atPath: root.path)
      {
        throw StartupError("\(folder) exists and is not a folder; use another name")
      }
      for (path, text) in files {
        let file = root.appending(path: path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
      }
    } catch let error as StartupError {
      throw error
    } catch {
      throw StartupError(
        "cannot write the project \(folder): \(error.localizedDescription)", cause: error)
    }
  }

  /// The contents of the files by their paths.
  var files: [(path: String, text: String)] {
    var files: [(path: String, text: String)] = []
    for index in 0... {
      let file = embedded_file(index)
      guard let path = file.path.map({ String(cString: $0) }) else { break }
      guard path.hasPrefix(folder) else { continue }
      let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
      let (name, text) = (
        String(path.dropFirst(folder.count)), String(decoding: bytes, as: UTF8.self)
      )
      // The library in the project is a copy.
      files.append(
        name.hasPrefix(Self.library) ? (name, text) : (renamed(name), self.text(text)))
    }
    return files
  }

  private var folder: String { "template/\(language.rawValue)/" }
  private static let library = "statewire/"

  /// The licence of Statewire's own files does not apply to the project.
  private static let licences = [
    "// SPDX-License-Identifier: Apache-2.0\n\n", "// SPDX-License-Identifier: Apache-2.0\n//\n",
    "# SPDX-License-Identifier: Apache-2.0\n\n", "# SPDX-License-Identifier: Apache-2.0\n",
  ]

  private func text(_ text: String) -> String {
    renamed(Self.licences.reduce(text) { $0.replacing($1, with: "") })
      .replacing(
        ".package(name: \"statewire\", path: \"../..\")", with: source?.dependency ?? "")
  }

  private func renamed(_ text: String) -> String {
    text.replacing("Counter", with: name.typeName).replacing("counter", with: name.text)
  }
}
