// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Balance as JSON")
struct BalanceShapeTests {
  /// A wrapper that hides the direct reader and writer of a value, so that `Codable` is used.
  private struct Synthesized<Value: Codable>: Codable {
    let value: Value
    init(_ value: Value) { self.value = value }
    init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private func check<Value: Codable & Equatable & JSONWritable>(
    _ value: Value, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bytes = Array(text.utf8)
    #expect(
      String(decoding: value.jsonBytes(), as: UTF8.self) == text, sourceLocation: sourceLocation)
    #expect(try JSON.encode(Synthesized(value)) == bytes, sourceLocation: sourceLocation)
    #expect(try JSON.decode(Value.self, from: bytes) == value, sourceLocation: sourceLocation)
    #expect(
      try JSON.decode(Synthesized<Value>.self, from: bytes).value == value,
      sourceLocation: sourceLocation)
  }

  private func response() throws -> BalanceResponse {
    BalanceResponse(
      balance: try #require(DecimalNumber("1.23")),
      date: Timestamp(secondsSinceEpoch: 1_622_631_708))
  }

  @Test(
    "an input is an object with only the member `type`",
    arguments: [
      (BalanceInput.viewDidAppear, "viewDidAppear"),
      (.refreshButtonWasTapped, "refreshButtonWasTapped"),
      (.willResignActive, "willResignActive"), (.didBecomeActive, "didBecomeActive"),
    ])
  func inputs(_ input: BalanceInput, _ type: String) throws {
    try check(input, #"{"type":"\#(type)"}"#)
    let more = #"{"amount": 1.5, "type": "\#(type)", "more": [{}]}"#
    #expect(try JSON.decode(BalanceInput.self, from: Array(more.utf8)) == input)
  }

  @Test("a response has its amount as a string")
  func responses() throws {
    try check(try response(), #"{"balance":"1.23","date":"2021-06-02T11:01:48Z"}"#)
    let other = #"{"date":"2021-06-02T13:01:48+02:00","extra":null,"balance":"123e-2"}"#
    #expect(try JSON.decode(BalanceResponse.self, from: Array(other.utf8)) == response())
  }

  @Test("a view state always has all of its fields")
  func viewStates() throws {
    var view = BalanceViewState(
      title: "Your Balance", lastResponse: try response(), isRefreshing: true, didFail: false,
      isRedacted: false, formattedBalance: "$1.23", infoText: "Loading... \"é\"",
      infoColor: .regular)
    try check(
      view,
      #"{"title":"Your Balance","#
        + #""lastResponse":{"balance":"1.23","date":"2021-06-02T11:01:48Z"},"#
        + #""isRefreshing":true,"didFail":false,"isRedacted":false,"formattedBalance":"$1.23","#
        + #""infoText":"Loading... \"é\"","infoColor":"regular"}"#)
    view.lastResponse = nil
    view.didFail = true
    view.isRedacted = true
    view.infoColor = .failure
    try check(
      view,
      #"{"title":"Your Balance","lastResponse":null,"#
        + #""isRefreshing":true,"didFail":true,"isRedacted":true,"formattedBalance":"$1.23","#
        + #""infoText":"Loading... \"é\"","infoColor":"failure"}"#)
  }

  @Test(
    "both readers refuse any other input, with the path of the error",
    arguments: [
      (#"{}"#, "/type"), (#"{"type":null}"#, "/type"), (#"{"type":"refresh"}"#, "/type"),
      (#"{"type":"ViewDidAppear"}"#, "/type"), (#"7"#, ""), (#"null"#, ""),
    ])
  func refusedInputs(_ text: String, _ path: String) {
    for type in [BalanceInput.self, Synthesized<BalanceInput>.self] as [any Decodable.Type] {
      check(type, text, path)
    }
  }

  @Test(
    "both readers refuse a response without a valid amount or time, with the path of the error",
    arguments: [
      (#"{"date":"2021-06-02T11:01:48Z"}"#, "/balance"), (#"{"balance":"1"}"#, "/date"),
      (#"{"balance":1.23,"date":"2021-06-02T11:01:48Z"}"#, "/balance"),
      (#"{"balance":"NaN","date":"2021-06-02T11:01:48Z"}"#, "/balance"),
      (#"{"balance":"1","date":1622631708}"#, "/date"),
      (#"{"balance":"1","date":"yesterday"}"#, "/date"), (#"[]"#, ""),
    ])
  func refusedResponses(_ text: String, _ path: String) {
    for type in [BalanceResponse.self, Synthesized<BalanceResponse>.self] as [any Decodable.Type] {
      check(type, text, path)
    }
  }

  private func check(_ type: any Decodable.Type, _ text: String, _ path: String) {
    let error = #expect(throws: JSONError.self) { try JSON.decode(type, from: Array(text.utf8)) }
    #expect(error?.pathDescription == path, "\(text) as \(type)")
  }
}
