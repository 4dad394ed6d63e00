// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireClient

@Suite("Conformance: vectors")
struct VectorTests {
  @Test("digests are equal to the expected ones")
  func digests() throws {
    let vectors = try #require(try Program.vectors("canonical.json").array)
    #expect(vectors.count > 20)
    for vector in vectors {
      let value = try JSONValue(parsing: try #require(vector["text"]?.string))
      let canonical = String(decoding: try JSON.canonical(value), as: UTF8.self)
      #expect(canonical == vector["canonical"]?.string, "\(vector)")
      // The comparison of the client.
      let replica = Replica(store: "a", revision: 1, state: value)
      let digest = try #require(vector["digest"])
      #expect(replica.compare(["revision": 1, "digest": digest]) == nil, "\(vector)")
      #expect(replica.compare(["revision": 1, "digest": -1]) == .digest)
    }
  }

  @Test("patches are applied as a whole, or not at all")
  func patches() throws {
    let vectors = try #require(try Program.vectors("patches.json").array)
    #expect(vectors.count > 90)
    for vector in vectors {
      let document = try #require(vector["doc"])
      let replica = Replica(store: "a", revision: 1, state: document)
      let handedOut = replica.state
      let divergence = replica.apply(
        ["base": 1, "revision": 2, "patch": vector["patch"] ?? .null])
      if vector["error"] != nil {
        #expect(divergence == .patch, "\(vector)")
        #expect(replica.state == document && replica.revision == 1, "\(vector)")
      } else {
        #expect(divergence == nil, "\(vector)")
        #expect(replica.state == vector["expected"] && replica.revision == 2, "\(vector)")
      }
      #expect(handedOut == document)
    }
  }

  @Test("a replica ignores updates after a divergence until it is reset")
  func faults() {
    let replica = Replica(store: "a", revision: 1, state: [1])
    #expect(replica.apply(["base": 2, "revision": 3, "patch": []]) == .gap)
    #expect(replica.apply(["base": 1, "revision": 2, "state": [2]]) == nil)
    #expect(replica.hasDiverged && replica.state == [1])
    #expect(replica.checkResponse(revision: 9) == nil)
    replica.reset(revision: 5, state: [5])
    #expect(replica.checkResponse(revision: 5) == nil)
    #expect(replica.checkResponse(revision: 6) == .gap)
  }

  @Test(
    "an operation that fails in the middle is taken back",
    arguments: ["/b/c/d", "/a/9", "/a/0/x/y"])
  func takenBack(path: String) throws {
    for from in ["/a/1", "/b", "/a"] {
      let document: JSONValue = ["a": [["x": 1], 2, 3], "b": ["c": 4], "z": 5]
      let replica = Replica(store: "a", revision: 1, state: document)
      let move: JSONValue = ["op": "move", "from": .string(from), "path": .string(path)]
      #expect(replica.apply(["base": 1, "revision": 2, "patch": [move]]) == .patch)
      #expect(replica.state == document)
    }
  }

  @Test("names are compared by their bytes")
  func names() {
    #expect(ByteName("\u{E9}") != ByteName("e\u{301}"))
    #expect(Set([ByteName("\u{E9}"), ByteName("e\u{301}"), ByteName("\u{E9}")]).count == 2)
  }
}
