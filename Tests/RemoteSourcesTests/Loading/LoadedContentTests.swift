// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RemoteSources

@Suite("Loaded content")
struct LoadedContentTests {
  @Test(
    "a content type is JSON or text, compared by bytes",
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
    "a file name that ends in .json is JSON",
    arguments: [("a.json", true), ("A.JSON", true), ("json", false)])
  func name(_ name: String, _ isJSON: Bool) {
    #expect(LoadedContent(fileName: name) == (isJSON ? .json : .text))
  }

  @Test(
    "a length consists of digits only",
    arguments: [("5", 5), ("+5", nil), ("-5", nil), ("", nil), (" 5", nil)])
  func length(_ text: String, _ expected: Int?) {
    #expect(HTTPFetch.length(text) == expected)
  }
}
