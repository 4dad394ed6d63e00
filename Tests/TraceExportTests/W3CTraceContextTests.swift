// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TraceExport

@Suite("W3C trace context")
struct W3CTraceContextTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  @Test(
    "a header field is read and written",
    arguments: ["00-\(trace)-\(span)-01", "00-\(trace)-\(span)-00"])
  func fields(_ text: String) throws {
    let context = try #require(W3CTraceContext(text))
    #expect(context.traceText == Self.trace && context.spanText == Self.span)
    #expect(context.isSampled == text.hasSuffix("01"))
    #expect(context.header == text)
  }

  @Test("a later version may have more, and other flags are ignored")
  func versions() throws {
    let later = try #require(W3CTraceContext("01-\(Self.trace)-\(Self.span)-03-more"))
    #expect(later.header == "00-\(Self.trace)-\(Self.span)-01")
  }

  @Test(
    "a text of another form is not continued",
    arguments: [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-more",
      "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01", "00-\(trace.dropLast())-\(span)-01",
      "00-\(trace)-\(span)0-01", "00-\(trace.uppercased())-\(span)-01",
      "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
      "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-0x", "00-+\(trace.dropFirst())-\(span)-01",
    ])
  func malformed(_ text: String) {
    #expect(W3CTraceContext(text) == nil)
  }

  @Test("a child is in the same trace and has a number of its own")
  func children() {
    let context = W3CTraceContext()
    #expect(context.child.trace == context.trace && context.child.span != context.span)
    #expect(context.isSampled && context.child.isSampled)
    #expect(W3CTraceContext(context.header) == context)
  }
}
