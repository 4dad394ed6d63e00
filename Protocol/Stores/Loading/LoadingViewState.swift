// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sees of a loader.
///
/// - Shape: `{"type":"idle"}`, `{"type":"loading","progress":LoadingProgress|null}`,
///   `{"type":"loaded","value":ANY}` or `{"type":"failure","error":LoadingFailure}`
public enum LoadingViewState: Codable, Hashable, Sendable {
  /// Nothing has been loaded; the state to begin with.
  case idle
  /// The value is being loaded, or was until somebody cancelled that.
  case loading(progress: LoadingProgress?)
  case loaded(value: LoadedValue)
  case failure(error: LoadingFailure)
}

extension LoadingViewState: JSONReadable, JSONWritable {
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
