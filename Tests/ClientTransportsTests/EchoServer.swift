// SPDX-License-Identifier: Apache-2.0

import ClientTransports

/// A small server in Python, which runs as a child process.
///
/// It sends each message back, in the same framing. `"exit"` makes it end, `"errors"` makes it
/// write a line to its standard error, and for `"flood"` it sends `floodCount` messages of 1000
/// bytes.
enum EchoServer {
  /// Several times the messages that fit into a `ClientInbox` and a pipe.
  static let floodCount = 2000

  static let program = """
    import sys
    input, output = sys.stdin.buffer, sys.stdout.buffer
    framed = sys.argv[1] == "headers"
    def read():
      if not framed:
        line = input.readline()
        return line.rstrip(b"\\n") if line else None
      length = None
      while True:
        line = input.readline()
        if not line: return None
        if not line.strip(): return input.read(length)
        length = int(line.split(b":")[1])
    def write(message):
      if framed: output.write(b"Content-Length: %d\\r\\n\\r\\n" % len(message) + message)
      else: output.write(message + b"\\n")
      output.flush()
    while (message := read()) is not None:
      if message == b'"exit"': break
      if message == b'"errors"': sys.stderr.write("oh\\n"); sys.stderr.flush()
      if message == b'"flood"':
        for _ in range(\(floodCount)): write(b"x" * 1000)
      else: write(message)
    write(b'"bye"')
    """

  static func spawn(
    _ framing: Framing = .lines, errorOutput: ClientConnection.ErrorOutput = .inherited
  ) async throws -> ClientConnection {
    try await ClientConnection.spawn(
      ["python3", "-c", program, framing.name], framing: framing, errorOutput: errorOutput)
  }
}

extension ClientConnection {
  func send(_ text: String) async throws { try await send([UInt8](text.utf8)) }

  func receiveText() async throws -> String? {
    try await receive().map { String(decoding: $0, as: UTF8.self) }
  }
}
