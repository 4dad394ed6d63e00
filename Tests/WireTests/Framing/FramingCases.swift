// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

/// A stream and its expected events with a maximum frame size of 16 bytes.
struct FramingCase: CustomTestStringConvertible {
  static let limit = 16

  var name: String
  var stream: [UInt8]
  var events: [SeenEvent]

  init(_ name: String, _ stream: String, _ events: SeenEvent...) {
    self.init(name, bytes: [UInt8](stream.utf8), events)
  }

  init(_ name: String, bytes: [UInt8], _ events: [SeenEvent]) {
    self.name = name
    self.stream = bytes
    self.events = events
  }

  var testDescription: String { name }
}

extension FramingCase {
  static let lines = [
    FramingCase("nothing", ""),
    FramingCase("only white space", " \t\r\n\n  \r\n"),
    FramingCase("one line", "{}\n", .message("{}")),
    FramingCase("two lines", "{}\n[]\n", .message("{}"), .message("[]")),
    FramingCase("a last line without its end", "{}\n[1]", .message("{}"), .message("[1]")),
    FramingCase("a last line that ends in a return", "{}\r", .message("{}")),
    FramingCase("returns before the ends", "{}\r\n[]\r\n", .message("{}"), .message("[]")),
    FramingCase("only one return is dropped", "{}\r\r\n", .message("{}\r")),
    FramingCase("a return inside a line", "{\r}\n", .message("{\r}")),
    FramingCase("empty lines between", "\n\n{}\n\r\n \n[]\n\n", .message("{}"), .message("[]")),
    FramingCase("white space before a line", "  {}\n\t []\n", .message("{}"), .message("[]")),
    FramingCase("white space after a line", "{} \n", .message("{} ")),
    FramingCase("white space before the first byte", "\r\n \t{}\n", .message("{}")),
    FramingCase("garbage", "{garbage\n{}\n", .message("{garbage"), .message("{}")),
    FramingCase("not UTF-8", bytes: [0x5B, 0xFF, 0x00, 0x0A], [.message([0x5B, 0xFF, 0x00])]),
    FramingCase("the maximum size", "[123456789abcdef\n", .message("[123456789abcdef")),
    FramingCase(
      "the maximum size, with a return", "[123456789abcdef\r\n{}",
      .message("[123456789abcdef"), .message("{}")),
    FramingCase(
      "the maximum size, without its end", "[123456789abcdef",
      .message("[123456789abcdef")),
    FramingCase(
      "one byte too large", "[123456789abcdefg\n{}\n",
      .tooLarge, .message("{}")),
    FramingCase(
      "one byte too large, after a return", "[123456789abcdef\rg\n{}\n",
      .tooLarge, .message("{}")),
    FramingCase(
      "two returns too large", "[123456789abcdef\r\r\n{}\n",
      .tooLarge, .message("{}")),
    FramingCase(
      "much too large", "[" + String(repeating: "1,", count: 100) + "]\n{}\n",
      .tooLarge, .message("{}")),
    FramingCase(
      "too large, without its end", String(repeating: "[", count: 40),
      .tooLarge),
    FramingCase(
      "two lines too large in a row",
      String(repeating: String(repeating: "[", count: 40) + "\n", count: 2) + "{}\n",
      .tooLarge, .tooLarge, .message("{}")),
    FramingCase(
      "a header after a line is a line", "{}\nContent-Length:1\n",
      .message("{}"), .message("Content-Length:1")),
  ]

  static let headers = [
    FramingCase("one body", "Content-Length: 2\r\n\r\n{}", .message("{}")),
    FramingCase(
      "two bodies", "Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]",
      .message("{}"), .message("[1]")),
    FramingCase(
      "line ends inside a body", "Content-Length: 6\r\n\r\n\n{\r\n}\n",
      .message("\n{\r\n}\n")),
    FramingCase(
      "a return at the end of a body", "Content-Length: 3\r\n\r\n{}\r",
      .message("{}\r")),
    FramingCase(
      "names in any case", "content-length: 2\r\n\r\n{}CONTENT-LENGTH: 2\r\n\r\n[]",
      .message("{}"), .message("[]")),
    FramingCase("bare line ends", "Content-Length: 2\n\n{}", .message("{}")),
    FramingCase(
      "mixed line ends", "Content-Length: 2\n\r\n{}Content-Length: 2\r\n\n[]",
      .message("{}"), .message("[]")),
    FramingCase("no white space around the length", "Content-Length:2\r\n\r\n{}", .message("{}")),
    FramingCase(
      "white space around the length", "Content-Length: \t 2 \t\r\n\r\n{}",
      .message("{}")),
    FramingCase(
      "zeros before the length", "Content-Length: 000000000000000000000000002\r\n\r\n{}",
      .message("{}")),
    FramingCase(
      "other headers",
      "Content-Type: application/vscode-jsonrpc; charset=latin1\r\nContent-Length: 2\r\n"
        + "X-Anything:\r\nx~!#: a:b\r\n\r\n{}",
      .message("{}")),
    FramingCase(
      "names with a common prefix",
      "Content-Length: 2\r\nContent-Lengths: 9\r\nContent-Lengt: 9\r\n\r\n{}", .message("{}")),
    FramingCase(
      "the same length twice", "Content-Length: 2\r\ncontent-length: 02\r\n\r\n{}",
      .message("{}")),
    FramingCase(
      "white space between frames",
      "\n Content-Length: 2\r\n\r\n{}\r\n\r\nContent-Length: 2\r\n\r\n[]\n",
      .message("{}"), .message("[]")),
    FramingCase(
      "a body of no bytes", "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}",
      .message(""), .message("{}")),
    FramingCase(
      "the maximum size", "Content-Length: 16\r\n\r\n0123456789abcdef",
      .message("0123456789abcdef")),
    FramingCase(
      "one byte too large",
      "Content-Length: 17\r\n\r\n0123456789abcdefgContent-Length: 2\r\n\r\n{}",
      .tooLarge, .message("{}")),
    FramingCase(
      "much too large, with line ends inside",
      "Content-Length: 63\r\n\r\n" + String(repeating: "Content-Length: 2\r\n\r\n", count: 3)
        + "Content-Length: 2\r\n\r\n{}",
      .tooLarge, .message("{}")),
    FramingCase(
      "too large and cut off", "Content-Length: 60\r\n\r\n{}",
      .tooLarge),
    FramingCase(
      "the largest integer", "Content-Length: 9223372036854775807\r\n\r\n{}",
      .tooLarge),
  ]

  static let unusable =
    [
      ("no length", "Content-Type: x\r\n\r\n{}", .missingLength),
      ("lines after headers", "Content-Length: 2\r\n\r\n{}{\"a\":1}\n", .malformedLine),
      ("a line without a colon", "Content-Length: 2\r\nX 2\r\n\r\n{}", .malformedLine),
      ("a line without a name", "Content-Length: 2\r\n: 2\r\n\r\n{}", .malformedLine),
      ("white space before the colon", "Content-Length: 2\r\nX : 2\r\n\r\n{}", .malformedLine),
      ("a folded line", "Content-Length:\r\n 2\r\n\r\n{}", .invalidLength),
      (
        "a line that starts with white space", "Content-Type: 1\r\n Content-Length: 2\r\n\r\n{}",
        .malformedLine
      ),
      ("an empty length", "Content-Length:\r\n\r\n{}", .invalidLength),
      ("a positive sign", "Content-Length: +2\r\n\r\n{}", .invalidLength),
      ("a negative length", "Content-Length: -2\r\n\r\n{}", .invalidLength),
      ("a decimal length", "Content-Length: 2.0\r\n\r\n{}", .invalidLength),
      ("a hexadecimal length", "Content-Length: 0x2\r\n\r\n{}", .invalidLength),
      ("two lengths in one", "Content-Length: 2, 2\r\n\r\n{}", .invalidLength),
      ("digits of another script", "Content-Length: ٢\r\n\r\n{}", .invalidLength),
      ("beyond 63 bits", "Content-Length: 9223372036854775808\r\n\r\n{}", .invalidLength),
      ("beyond 64 bits", "Content-Length: 18446744073709551618\r\n\r\n{}", .invalidLength),
      (
        "beyond any bits", "Content-Length: \(String(repeating: "9", count: 99))\r\n\r\n{}",
        .invalidLength
      ),
      (
        "two different lengths", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        .conflictingLengths
      ),
      ("an end inside a header", "Content-Len", .incomplete),
      ("an end after a header", "Content-Length: 2\r\n", .incomplete),
      ("an end before the body", "Content-Length: 2\r\n\r\n", .incomplete),
      ("an end inside the body", "Content-Length: 2\r\n\r\n{", .incomplete),
    ].map { (name: String, stream: String, fault: HeaderFault) in
      FramingCase(
        name,
        stream,
        stream.hasPrefix("Content-Length: 2\r\n\r\n{}{")
          ? [.message("{}"), .unusableHeader(fault)] : [.unusableHeader(fault)])
    }

  init(_ name: String, _ stream: String, _ events: [SeenEvent]) {
    self.init(name, bytes: [UInt8](stream.utf8), events)
  }

  static let foreign = [
    FramingCase("HTTP", "POST / HTTP/1.1\r\n\r\n{}\n", .foreign(.http)),
    FramingCase("HTTP after white space", "\r\n GET / HTTP/1.1\r\n{}\n", .foreign(.http)),
    FramingCase("HTTP that begins like a header", "CONNECT a:1 HTTP/1.1\r\n", .foreign(.http)),
    FramingCase("TLS", bytes: [0x16, 0x03, 0x01, 0x0A] + "{}\n".utf8, [.foreign(.tls)]),
    FramingCase("SSH", "SSH-2.0-x\r\n{}\n", .foreign(.ssh)),
    FramingCase("a word", "garbage\n{}\n", .foreign(.other)),
    FramingCase("a word with c", "cargo\n{}\n", .foreign(.other)),
    FramingCase("another header", "X-A: 1\r\nContent-Length: 2\r\n\r\n{}", .foreign(.other)),
    FramingCase("a number", "1\n{}\n", .foreign(.other)),
    FramingCase("an end inside a method", "POS", .unusableHeader(.incomplete)),
  ]

  static let all = lines + headers + unusable + foreign
}
