// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RemoteSources

@Suite("What a source says of its content")
struct LoadedContentTests {
  @Test(
    "is JSON by its type, compared by bytes",
    arguments: [
      ("application/json", true), ("Application/JSON ; charset=utf-8", true),
      ("application/problem+json", true), ("text/plain", false),
      ("application/js on", false), ("application/jsonx", false),
      ("application/json\u{301}", false), ("application/json\u{37E}x", false), (nil, false),
    ])
  func type(_ text: String?, _ isJSON: Bool) {
    #expect(LoadedContent(contentType: text) == (isJSON ? .json : .text))
  }

  @Test(
    "is JSON by the end of its name",
    arguments: [("a.json", true), ("A.JSON", true), ("json", false)])
  func name(_ name: String, _ isJSON: Bool) {
    #expect(LoadedContent(fileName: name) == (isJSON ? .json : .text))
  }

  @Test(
    "has a length in digits",
    arguments: [("5", 5), ("+5", nil), ("-5", nil), ("", nil), (" 5", nil)])
  func length(_ text: String, _ expected: Int?) {
    #expect(HTTPFetch.length(text) == expected)
  }
}
