// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireServer

/// The copy of Statewire that a project depends on.
enum StatewireSource {
  /// The absolute path of a checkout.
  case checkout(String)
  /// The URL of a repository.
  case repository(String)

  /// Finds the copy: the value of `--statewire`, the folder in STATEWIRE_CHECKOUT, or the checkout
  /// that the program was built in.
  ///
  /// - Throws: `StartupError`.
  init(option: String?) throws(StartupError) {
    let named = option ?? ProcessInfo.processInfo.environment["STATEWIRE_CHECKOUT"]
    if let named {
      self =
        try named.contains("://") ? .repository(Self.checked(named)) : .checkout(Self.path(named))
      return
    }
    guard let folder = Self.folderOfProgram() else {
      throw StartupError(
        """
        the program is not in a checkout of Statewire; pass --statewire with a checkout or with the \
        URL of a repository
        """)
    }
    self = .checkout(folder)
  }

  /// The checkout or the repository, for people.
  var text: String {
    switch self {
    case .checkout(let path): "the checkout \(path)"
    case .repository(let url): "the repository \(url)"
    }
  }

  /// The dependency in `Package.swift`.
  var dependency: String {
    switch self {
    case .checkout(let path): ".package(name: \"statewire\", path: \(Self.literal(path)))"
    // There has been no release, so there is no version to depend on.
    case .repository(let url): ".package(url: \(Self.literal(url)), branch: \"main\")"
    }
  }

  private static func literal(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  /// SwiftPM derives the name of a package from the last part of its URL.
  private static func checked(_ url: String) throws(StartupError) -> String {
    let last = url.split(separator: "/").last ?? ""
    guard last == "statewire" || last == "statewire.git" else {
      throw StartupError(
        "\(url) is not a repository of Statewire: its URL must end with /statewire")
    }
    return url
  }

  private static func path(_ folder: String) throws(StartupError) -> String {
    let path = URL(filePath: folder).standardizedFileURL.path
    guard isCheckout(path) else {
      throw StartupError(
        "\(folder) is not a checkout of Statewire: it has no Sources/StatewireServer")
    }
    return path
  }

  private static func isCheckout(_ path: String) -> Bool {
    ["Package.swift", "Sources/StatewireServer"].allSatisfy { name in
      FileManager.default.fileExists(atPath: "\(path)/\(name)")
    }
  }

  /// Returns the checkout in whose `.build` the program is; nil if it is elsewhere.
  private static func folderOfProgram() -> String? {
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var folder = program.map { URL(filePath: $0).deletingLastPathComponent() }
    while let found = folder, found.path != "/" {
      if found.lastPathComponent == ".build" {
        let checkout = found.deletingLastPathComponent().path
        return isCheckout(checkout) ? checkout : nil
      }
      folder = found.deletingLastPathComponent()
    }
    return nil
  }
}
