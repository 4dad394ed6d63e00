// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import Conversations

@Suite("Recorded kinds")
struct RecordedKindsTests {
  @Test("the kind of a store is known only if no other client can have opened it")
  func kinds() {
    let secrets = ConversationRecorderTests.described()
    var requests = RecordedRequests(isAlone: true)
    let open = RecordedRequests.Request(method: "store/open", store: "plain", kind: "form")
    #expect(requests.kind(of: "plain", secrets) == "plain")
    #expect(requests.kind(of: "other", secrets) == nil)
    requests.sent(open, id: 1)
    #expect(requests.kind(of: "plain", secrets) == nil)
    #expect(requests.responded(id: 1, isError: false) == open)
    #expect(requests.kind(of: "plain", secrets) == "form")
    #expect(requests.responded(id: 1, isError: false) == nil)
    requests.closed("plain")
    #expect(requests.kind(of: "plain", secrets) == nil)
    requests.sent(open, id: 2)
    #expect(requests.responded(id: 2, isError: true) == open)
    #expect(requests.kind(of: "plain", secrets) == nil)
    let session = RecordedRequests.Request(method: "session/open", store: nil, kind: nil)
    requests.sent(session, id: 3)
    #expect(requests.kind(of: "form", secrets) == "form")
    requests.sent(
      RecordedRequests.Request(method: "session/attach", store: nil, kind: nil), id: 4)
    #expect(requests.kind(of: "form", secrets) == nil)
    #expect(
      secrets.rule(ofKind: nil)
        == .members(ServerSecrets.always.union(["value", "firstentry", "balance"])))

    var shared = RecordedRequests()
    #expect(shared.kind(of: "form", secrets) == "form")
    shared.sent(session, id: 1)
    shared.sent(open, id: 2)
    #expect(shared.responded(id: 2, isError: false) == open)
    // Another client can close the store and open it again.
    #expect(shared.kind(of: "plain", secrets) == nil)
    #expect(shared.kind(of: "form", secrets) == nil)
  }

  @Test("kinds that a program replaces are not those of the description")
  func replacedKinds() {
    func names(_ words: String, _ environment: [String: String] = [:]) -> Set<String>? {
      ReplacedKinds(
        command: words.split(separator: " ").map { String($0) }, environment: environment
      ).names
    }
    #expect(names("statewire serve --test") == [])
    #expect(names("s serve --store todo=p --store=form=q --watch") == ["todo", "form"])
    #expect(names("s serve --store") == [])
    #expect(names("s serve --config x.yaml") == nil)
    #expect(names("s serve --config=x.yaml") == nil)
    #expect(names("s serve", ["STATEWIRE_STORE": "todo=p"]) == nil)
    #expect(names("s serve", ["STATEWIRE_CONFIG": "x"]) == nil)
    #expect(names("s serve", ["STATEWIRE_TCP": "x"]) == [])
    var secrets = ServerSecrets()
    let document = ConversationRecorderTests.description.withoutKinds(["form"])
    secrets.learn(from: document, isComplete: false)
    #expect(!secrets.describes("form") && secrets.describes("plain"))
    #expect(secrets.rule(ofKind: "form") == .everything)
  }
}
