// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import StateMachines
import Testing

@testable import StatewireServer

@Suite("Format of the log")
struct LogFormatTests {
  /// Logs with a logger of JSON lines; returns the lines.
  private func lines(
    level: Logger.Level = .trace, time: (Int, Int) = (0, 0), _ body: (inout Logger) -> Void
  ) -> [String] {
    let written = Lock<[UInt8]>([])
    let json = JSONLog(now: { time }, write: { line in written.withLock { $0 += line } })
    let settings = LogSettings(level: level, format: .json)
    var logger = Logger(label: "statewire") { label in
      StandardErrorLogHandler(label, settings, json: json)
    }
    body(&logger)
    let text = String(decoding: written.withLock { $0 }, as: UTF8.self)
    #expect(text.isEmpty || text.hasSuffix("\n"))
    return text.split(separator: "\n").map(String.init)
  }

  private func object(_ line: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test("an event is one object with time, level, module, message and metadata")
  func event() throws {
    let lines = lines(time: (1_795_678_978, 7)) { logger in
      logger[metadataKey: "connection"] = "0-1"
      logger.notice("listening", metadata: ["session": "abc", "parts": ["a", ["b": "c"]]])
    }
    #expect(
      lines == [
        #"{"time":"2026-11-26T07:42:58.007Z","level":"notice","logger":"statewire","#
          + #""module":"StatewireServerTests","message":"listening","connection":"0-1","#
          + #""parts":["a",{"b":"c"}],"session":"abc"}"#
      ])
  }

  @Test("the members of an event cannot be replaced by metadata")
  func reserved() throws {
    let lines = lines { $0.error("m", metadata: ["level": "x", "time": "y"]) }
    let object = try object(try #require(lines.first))
    #expect(object["level"] as? String == "error" && object["metadata.level"] as? String == "x")
    #expect(object["metadata.time"] as? String == "y")
  }

  @Test(
    "each text arrives as it is, in one line without control characters",
    arguments: [
      "plain", "", "\"", "\\", "\\n", "\n", "a\r\nb", "\u{0}", "\u{1B}[31m", "\u{7F}", "\u{85}",
      "\u{2028}x\u{2029}", "\u{202E}evil", "\",\"level\":\"critical", "}\n{\"level\":\"error\"}",
      "👩‍👩‍👧", "\u{FFFF}", "e\u{301}", "</script>", String(repeating: "x\"\n", count: 10_000),
    ])
  func hostile(_ text: String) throws {
    let lines = lines { logger in
      logger.info("\(text)", metadata: [text + "k": "\(text)", "list": ["\(text)"]])
    }
    #expect(lines.count == 1)
    let line = try #require(lines.first)
    #expect(
      line.unicodeScalars.allSatisfy {
        $0.properties.generalCategory != .control && $0 != "\u{202E}" && $0 != "\u{2028}"
      })
    let object = try object(line)
    #expect(object["message"] as? String == text && object["level"] as? String == "info")
    #expect(object[text + "k"] as? String == text && object["list"] as? [String] == [text])
  }

  @Test("the settings decide about the level, which a logger can change for itself")
  func level() {
    let settings = LogSettings(level: .warning, format: .json)
    var handler = StandardErrorLogHandler("a", settings)
    #expect(handler.logLevel == .warning)
    settings.change(level: .debug, format: .text)
    #expect(handler.logLevel == .debug)
    handler.logLevel = .error
    #expect(handler.logLevel == .error && StandardErrorLogHandler("b", settings).logLevel == .debug)
  }

  /// A pipe that is writable takes 4,096 bytes, and a longer line blocked the thread that logs.
  @Test(
    "lines for which a pipe has no place are left out and counted, whatever their length",
    arguments: LogFormat.allCases)
  func fullPipe(format: LogFormat) throws {
    var ends: [CInt] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, output) = (FileHandle(fileDescriptor: ends[0]), StandardErrorOutput(ends[1]))
    let line = String(repeating: "x", count: 4_155)
    for _ in 0..<100 { output.write((line + "\n").utf8) }
    var text = String(decoding: reading.availableData, as: UTF8.self)
    let settings = LogSettings(level: .info, format: format)
    Logger(label: "a") { StandardErrorLogHandler($0, settings, output: output) }.info("end")
    #expect(output.takeLeftOut() == 0)
    close(ends[1])
    text += String(decoding: try #require(try reading.readToEnd()), as: UTF8.self)
    let lines = text.split(separator: "\n")
    let whole = lines.count { $0 == line }
    #expect(0 < whole && whole < 100)
    // Before them there may be a part of a line.
    let last = lines.suffix(2)
    #expect(lines.count - whole - last.count <= 1 && last.last?.contains("end") == true)
    let note = "dropped \(100 - whole) log lines: standard error was not read"
    #expect(
      last.first?.contains(note) == true && last.first?.contains("warning") == true, "\(last)")
    close(ends[0])
  }
}
