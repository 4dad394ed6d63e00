// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import StatewireJSON

/// A log of JSON lines: one object for each event, for programs that collect logs.
///
/// | member | value |
/// |---|---|
/// | `time` | RFC 3339, in UTC, with milliseconds |
/// | `level` | `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical` |
/// | `logger` | the label of the logger: the name of the program |
/// | `module` | the module that logs |
/// | `message` | the text, as in the log for people |
/// | others | the metadata, such as `connection`, `session`, `store` and `kind`; texts |
///
/// - Source: RFC 3339 §5.6; RFC 8259.
struct JSONLog: Sendable {
  /// Returns seconds since 1970 and milliseconds in addition.
  var now: @Sendable () -> (seconds: Int, milliseconds: Int) = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return (time.tv_sec, time.tv_nsec / 1_000_000)
  }
  /// Writes a line with its end.
  let write: @Sendable ([UInt8]) -> Void

  private static let names: Set<String> = ["time", "level", "logger", "module", "message"]

  /// Writes an event.
  func log(_ event: LogEvent, _ label: String, _ metadata: Logger.Metadata) {
    var writer = JSONWriter(reserving: 256)
    writer.beginObject()
    for (key, value) in [
      ("time", Self.text(now())), ("level", event.level.rawValue), ("logger", label),
      ("module", event.source), ("message", event.message.description),
    ] {
      writer.key(key)
      writer.value(value)
    }
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      writer.key(Self.names.contains(key) ? "metadata.\(key)" : key)
      Self.write(value, to: &writer)
    }
    writer.endObject()
    // A terminal must not execute the line either, and JSON with its escapes has the same meaning.
    write(Array((writer.string().printable + "\n").utf8))
  }

  private static func write(_ value: Logger.MetadataValue, to writer: inout JSONWriter) {
    switch value {
    case .string(let text): writer.value(text)
    case .stringConvertible(let value): writer.value("\(value)")
    case .array(let values):
      writer.beginArray()
      for value in values { write(value, to: &writer) }
      writer.endArray()
    case .dictionary(let members):
      writer.beginObject()
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        writer.key(key)
        write(value, to: &writer)
      }
      writer.endObject()
    }
  }

  /// Returns a time as in `2026-11-26T07:42:58.123Z`.
  private static func text(_ time: (seconds: Int, milliseconds: Int)) -> String {
    var seconds = time_t(time.seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: some BinaryInteger, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    let date = [
      digits(Int(parts.tm_year) + 1900, 4), digits(parts.tm_mon + 1, 2), digits(parts.tm_mday, 2),
    ]
    let clock = [digits(parts.tm_hour, 2), digits(parts.tm_min, 2), digits(parts.tm_sec, 2)]
    return
      "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(digits(time.milliseconds, 3))Z"
  }
}
