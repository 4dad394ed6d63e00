// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The view state of a loader.
///
/// - Shape: `{"type":"idle"}`, `{"type":"loading","progress":LoadingProgress|null}`,
///   `{"type":"loaded","value":ANY}` or `{"type":"failure","error":LoadingFailure}`
public enum LoadingViewState: Codable, Hashable, Sendable {
  /// The initial state: nothing has been loaded.
  case idle
  /// The value is being loaded, or loading was cancelled.
  case loading(progress: LoadingProgress?)
  /// The value was loaded.
  case loaded(value: LoadedValue)
  /// Loading failed.
  case failure(error: LoadingFailure)
}

extension LoadingViewState: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "idle": self = .idle
    case "loading": self = .loading(progress: try object.readIfPresent("progress"))
    case "loaded": self = .loaded(value: try object.read("value"))
    case "failure": self = .failure(error: try object.read("error"))
    default: throw object.unknownType()
    }
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .idle:
      writer.value("idle" as StaticString)
    case .loading(let progress):
      writer.value("loading" as StaticString)
      writer.key("progress")
      writer.value(progress)
    case .loaded(let value):
      writer.value("loaded" as StaticString)
      writer.key("value")
      writer.value(value)
    case .failure(let error):
      writer.value("failure" as StaticString)
      writer.key("error")
      writer.value(error)
    }
    writer.endObject()
  }
}
