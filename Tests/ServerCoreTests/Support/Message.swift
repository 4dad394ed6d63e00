// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

/// A message as comparable data, without `jsonrpc` and without the texts of errors.
struct Message: Equatable, CustomStringConvertible {
  let value: JSONValue
  var description: String { value.description }

  /// Parses a message of the server, and checks its `jsonrpc` and that its errors have texts.
  init(_ text: String) throws {
    value = try Self.each(JSONValue(parsing: text)) { message in
      #expect(message["jsonrpc"] == "2.0", "\(text)")
      message["jsonrpc"] = nil
      if var error = message["error"]?.object {
        #expect(error["message"]?.string?.isEmpty == false, "\(text)")
        error["message"] = nil
        message["error"] = .object(error)
      }
    }
  }

  /// Parses an expected message.
  init(expected text: String) throws {
    value = try Self.each(JSONValue(parsing: text)) { message in
      message["jsonrpc"] = nil
      if var error = message["error"]?.object {
        error["message"] = nil
        message["error"] = .object(error)
      }
    }
  }

  /// Changes a message, or each message of a batch.
  private static func each(
    _ value: JSONValue, _ change: (inout JSONObject) throws -> Void
  ) rethrows -> JSONValue {
    switch value {
    case .object(var object):
      try change(&object)
      return .object(object)
    case .array(let elements):
      return .array(try elements.map { try each($0, change) })
    default:
      return value
    }
  }
}

// MARK: - Messages of clients

func request(_ id: String, _ method: String, _ params: String? = nil) -> String {
  let params = params.map { ",\"params\":\($0)" } ?? ""
  return "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\"\(params)}"
}

func notification(_ method: String, _ params: String? = nil) -> String {
  let params = params.map { ",\"params\":\($0)" } ?? ""
  return "{\"jsonrpc\":\"2.0\",\"method\":\"\(method)\"\(params)}"
}

func subscribe(_ id: String, _ store: String = "probe") -> String {
  request(id, "store/subscribe", "{\"store\":\"\(store)\"}")
}

func send(_ id: String, _ input: String, to store: String = "probe", settle: Bool = false) -> String
{
  request(
    id, "store/send",
    "{\"store\":\"\(store)\",\"input\":\(input)\(settle ? ",\"settle\":true" : "")}")
}

/// Returns a request that sets the number of a probe.
func set(_ id: String, _ number: Int, to store: String = "probe") -> String {
  send(id, "{\"type\":\"set\",\"number\":\(number)}", to: store)
}

/// Returns a request that begins work of a probe.
func work(_ id: String, _ name: String, settle: Bool = true) -> String {
  send(id, "{\"type\":\"work\",\"name\":\"\(name)\"}", settle: settle)
}

func cancel(_ id: String) -> String { notification("$/cancelRequest", "{\"id\":\(id)}") }

// MARK: - Messages of the server

func response(_ id: String, _ result: String = "{}") -> String {
  "{\"id\":\(id),\"result\":\(result)}"
}

func failure(_ id: String, _ code: Int, data: String? = nil) -> String {
  "{\"id\":\(id),\"error\":{\"code\":\(code)\(data.map { ",\"data\":\($0)" } ?? "")}}"
}

/// Returns an error of decoding, which has a path.
func refusal(_ id: String, path: String) -> String {
  failure(id, -32602, data: "{\"path\":\"\(path)\"}")
}

func sent(_ id: String, revision: Int, changed: Bool = true) -> String {
  response(id, "{\"revision\":\(revision),\"changed\":\(changed)}")
}

/// Returns an update of a probe whose number has changed.
func changed(
  _ base: Int, _ revision: Int, number: Int, applied: String, store: String = "probe"
) -> String {
  """
  {"method":"store/changed","params":{"store":"\(store)","base":\(base),"revision":\(revision),\
  "patch":[{"op":"replace","path":"/number","value":\(number)}],"applied":\(applied)}}
  """
}
