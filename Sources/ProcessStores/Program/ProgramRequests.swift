// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

extension JSONWriter {
  /// Writes the member by which a program continues a trace; nothing if there is none.
  mutating func trace(_ span: (any TraceSpan)?) {
    guard let span else { return }
    for (name, value) in span.headers where name == "traceparent" { member("traceparent", value) }
  }
}

/// The text of requests to a program.
struct ProgramRequests: ~Copyable {
  private(set) var output = JSONWriter()
  /// The number of the last request of this process.
  private(set) var last = 0

  /// Creates an object for a process that has been sent some requests.
  init(after last: Int = 0) { self.last = last }

  /// Removes the text that has been taken.
  mutating func removeAll() { output.removeAll() }

  /// Writes a request.
  ///
  /// - Returns: Its id.
  mutating func request(_ method: StaticString, _ params: (inout JSONWriter) -> Void) -> Int {
    last += 1
    output.raw("{\"jsonrpc\":\"2.0\",\"id\":")
    output.value(last)
    write(method, params)
    return last
  }

  /// Asks the process to describe itself.
  ///
  /// - Parameter isTest: True if tests inject faults into actions.
  /// - Returns: The id of the request.
  mutating func describe(isTest: Bool) -> Int {
    request("machine/describe") { params in
      params.member("protocol", 1)
      guard isTest else { return }
      params.key("tests")
      params.value(true)
    }
  }

  /// Writes a notification.
  mutating func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
    output.raw("{\"jsonrpc\":\"2.0\"")
    write(method, params)
  }

  private mutating func write(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
    output.raw(",\"method\":\"")
    output.raw(method)
    output.raw("\",\"params\":")
    output.beginObject()
    params(&output)
    output.endObject()
    output.raw("}\n")
  }
}

extension JSONWriter {
  mutating func member(_ key: StaticString, _ value: Int) {
    self.key(key)
    self.value(value)
  }

  mutating func member(_ key: StaticString, _ value: String?) {
    self.key(key)
    if let value { self.value(value) } else { null() }
  }

  mutating func member(_ key: StaticString, _ value: JSONText) {
    self.key(key)
    self.value(value)
  }

  /// Writes a viewer.
  mutating func value(_ viewer: Viewer) {
    beginObject()
    member("identity", viewer.identity)
    member("frontend", viewer.name)
    member("role", viewer == .server ? nil : viewer.role.rawValue)
    endObject()
  }
}
