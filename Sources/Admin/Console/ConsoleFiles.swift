// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Transports

/// The files of the console's page, by their paths below `/console`.
struct ConsoleFiles: Sendable {
  private let files: [String: WebFile]

  /// The policy of the page: it loads and connects to files and paths of this server only.
  static let policy = """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'
    """

  /// Creates the files.
  ///
  /// - Parameter contents: The contents by path, without a first `/`. `index.html` is the page.
  init(_ contents: [String: [UInt8]]) {
    var files: [String: WebFile] = [:]
    for (path, content) in contents {
      files["/" + path] = WebFile(name: path, content: ByteBuffer(bytes: content))
    }
    self.files = files
  }

  /// Returns the response to a request for a file.
  func response(to head: RequestHead, _ path: String) -> WebResponse {
    // The page names its files by relative paths.
    if path.isEmpty {
      return WebResponse(
        .movedPermanently, "the console is at /console/", fields: [("Location", "/console/")])
    }
    guard let file = files[path == "/" ? "/index.html" : path] else {
      return WebResponse(.notFound, "there is no file at this path")
    }
    var response = WebResponse(file, for: head)
    response.closes = true
    return response
  }
}
