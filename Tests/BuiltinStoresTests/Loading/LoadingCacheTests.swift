// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import Testing

@testable import BuiltinStores

@Suite("Loading: cache and limit")
struct LoadingCacheTests {
  private let clock = ManualClock()

  private func tree(_ key: String, ttl: Int = 10) -> String {
    #"{"type":"cache","key":"\#(key)","ttl":\#(ttl),"of":{"type":"source","name":"user"}}"#
  }

  @Test("a cached value is loaded before the response to the input, without a loading state")
  func fresh() async throws {
    let source = ScriptedSource(clock, [.wait(1), .load("a")], [.wait(1), .load("b")])
    let bench = try await LoadingBench(tree("k"), sources: ["user": source], clock: clock)
    #expect(try await bench.play("load 1") == ["0 loading", "1 loaded \"a\""])
    #expect(try await bench.play("9.9 load").isEmpty, "the value is the same, so nothing changes")
    #expect(source.begun == 1)
    // The entry expires 10 seconds after it was loaded.
    #expect(try await bench.play("0.1 load 2") == ["11 loading", "12 loaded \"b\""])
  }

  @Test("loaders of a session share cache entries by key; other sessions have their own")
  func sharing() async throws {
    let cache = LoaderCache()
    let source = ScriptedSource(clock, [.wait(1), .load("a")])
    func bench(_ key: String, _ cache: LoaderCache) async throws -> LoadingBench {
      try await LoadingBench(tree(key), sources: ["user": source], cache: cache, clock: clock)
    }
    try await bench("k", cache).play("load 1")
    let same = try await bench("k", cache)
    try await same.send(.load)
    #expect(
      await same.shown == ["1 loaded \"a\""], "the state comes before the response to the input")
    #expect(try await bench("l", cache).play("load") == ["1 loading"])
    #expect(try await bench("k", LoaderCache()).play("load") == ["1 loading"])
    // Keys are compared by bytes.
    try await bench("\u{E9}", cache).play("load 1")
    #expect(try await bench("e\u{301}", cache).play("load") == ["2 loading"])
  }

  @Test(
    "equal values of different sessions share one object in memory",
    arguments: [
      #"{"type":"source","name":"user"}"#,
      #"{"type":"cache","key":"k","ttl":10,"of":{"type":"source","name":"user"}}"#,
      #"{"type":"all","of":[{"type":"source","name":"user"},{"type":"source","name":"user"}]}"#,
      #"{"type":"all","of":[{"type":"cache","key":"k","ttl":10,"of":{"type":"source","name":"user"}}]}"#,
    ])
  func memory(tree: String) async throws {
    let user = MadeSource(text: "Ada")
    let sources: LoadingSources = ["user": user]
    func bench() async throws -> LoadingBench {
      let bench = try await LoadingBench(tree, sources: sources, clock: clock)
      try await bench.play("load 0")
      return bench
    }
    let (one, other) = (try await bench(), try await bench())
    let storage = try #require(await one.value?.storage)
    #expect(await other.value?.storage === storage)
    // A second load takes the value from the cache if the tree has one.
    try await other.play("load 0")
    #expect(await other.value?.storage === storage)
    user.text.withLock { $0 = "Grace" }
    for bench in [one, other] { try await bench.play("reset load 0") }
    #expect(await one.value?.storage !== storage)
    #expect(await one.value?.storage === other.value?.storage)
  }

  /// A source that creates a new value for each call.
  private struct MadeSource: LoadingSource {
    let text: Lock<String>

    init(text: String) { self.text = Lock(text) }

    func load(_ report: @escaping @Sendable (LoadingProgress) async -> Void) async -> LoadedValue {
      LoadedValue(text: text.withLock { $0 })
    }
  }

  @Test("failures are not cached")
  func failures() async throws {
    let source = ScriptedSource(clock, [.fail(LoadingFailure.offline)], [.load("a")])
    let bench = try await LoadingBench(tree("k"), sources: ["user": source], clock: clock)
    #expect(
      try await bench.play("load 0 load") == [
        "0 loading", "0 failure offline", "0 loading", "0 loaded \"a\"",
      ])
  }

  @Test("`reset` removes the entry, and a running load does not restore it")
  func reset() async throws {
    let source = ScriptedSource(clock, [.wait(1), .load("a")])
    let bench = try await LoadingBench(tree("k"), sources: ["user": source], clock: clock)
    #expect(
      try await bench.play("load 1 reset load 1") == [
        "0 loading", "1 loaded \"a\"", "1 idle", "1 loading", "2 loaded \"a\"",
      ])
    #expect(
      try await bench.play("reset load 0.5 reset 5 load") == [
        "2 idle", "2 loading", "2.5 idle", "7.5 loading",
      ])
  }

  @Test("a cached value passes the policies around it and cancels a running load")
  func passing() async throws {
    let cache = LoaderCache()
    let source = ScriptedSource(clock, [.wait(1), .load("a")])
    let inner = Loader.source(source).cached("k", for: .seconds(10), in: cache)
    let permits = AsyncSemaphore(1)
    try await LoadingBench(inner, clock: clock).play("load 1")
    for loader in [
      inner.retried(attempts: 2), inner.timeout(after: .seconds(1)), inner.limited(to: permits),
      inner.cached("other", for: .seconds(1), in: cache), .sequence([inner, inner]),
    ] {
      #expect(try await LoadingBench(loader, clock: clock).play("load") == ["1 loaded \"a\""])
    }
    #expect(
      try await LoadingBench(.all([inner, inner]), clock: clock).play("load") == [
        "1 loaded [\"a\",\"a\"]"
      ])
    // Only one part is cached: the state is loading until the other part has loaded.
    let other = ScriptedSource(clock, [.wait(2), .load("b")])
    #expect(
      try await LoadingBench(.all([inner, .source(other)]), clock: clock).play("load 2") == [
        "1 loading", "3 loaded [\"a\",\"b\"]",
      ])
    #expect(source.begun == 1)
    // A debounce delays each call, also if the value is cached.
    #expect(
      try await LoadingBench(inner.debounced(for: .seconds(1)), clock: clock).play("load 1") == [
        "4 loaded \"a\""
      ])
  }

  @Test("all joins of a tree together are limited on the event loop")
  func joins() {
    let cache = LoaderCache()
    let value = LoadedValue(text: String(repeating: "a", count: 60 << 10))
    cache.values.insert(value, for: ByteString("k"), keeping: .seconds(10), now: clock.uptime)
    let inner = Loader.all([]).cached("k", for: .seconds(10), in: cache)
    #expect(inner.freshValue(clock) == value)
    let pair = Loader.all([inner, inner])
    #expect(pair.freshValue(clock) != nil)
    // Joined again on the next level: 2 * 120 KiB, and 240 KiB.
    #expect(Loader.all([pair, pair]).freshValue(clock) == nil)
    var room = 1 << 20
    #expect(Loader.all([pair, pair]).cached?.fresh(clock, &room) != nil)
    #expect(room < 600 << 10)
  }

  @Test("the caches of all sessions have a limit of bytes, and those of an identity half of it")
  func bytes() {
    let caches = LoaderCaches(maximumBytes: 4096)
    let value = LoadedValue(text: String(repeating: "a", count: 510))
    /// Caches values under new keys in a new cache, and returns it with the number of values that it keeps.
    func fill(_ identity: String?, _ count: Int) -> (LoaderCache, Int) {
      let cache = caches.session(of: identity)
      for key in 0..<count {
        cache.values.insert(
          value, for: ByteString("\(key)"), keeping: .seconds(10), now: clock.uptime)
      }
      return (cache, cache.values.count)
    }
    var anns = [fill("ann", 1), fill("ann", 2), fill("ann", 1)]
    #expect(anns.map(\.1) == [1, 1, 0])
    let bob = fill("bob", 1)
    let none = fill(nil, 2)
    #expect(bob.1 == 1 && none.1 == 1)
    anns = []
    #expect(fill("bob", 3).1 == 1)
    #expect(fill(nil, 3).1 == 2)
    withExtendedLifetime((bob, none)) {}
  }

  @Test("a value that another loader has cached meanwhile cancels the running load")
  func meanwhile() async throws {
    let cache = LoaderCache()
    let slow = ScriptedSource(clock, [.wait(100), .load("slow")])
    let fast = ScriptedSource(clock, [.wait(1), .load("fast")])
    let bench = try await LoadingBench(
      tree("k"), sources: ["user": slow], cache: cache, clock: clock)
    try await bench.play("load")
    try await LoadingBench(tree("k"), sources: ["user": fast], cache: cache, clock: clock)
      .play("load 1")
    #expect(try await bench.play("load") == ["1 loaded \"fast\""])
    #expect(slow.cancelled == 1)
  }

  @Test("loads that wait for a permit run in order, and none is dropped")
  func limit() async throws {
    let tree = #"""
      {"type":"all","of":[
        {"type":"concurrencyLimit","limit":2,"of":{"type":"source","name":"a"}},
        {"type":"concurrencyLimit","limit":2,"of":{"type":"source","name":"b"}},
        {"type":"concurrencyLimit","limit":2,"of":{"type":"source","name":"c"}},
        {"type":"concurrencyLimit","limit":2,"of":{"type":"source","name":"d"}}]}
      """#
    func source(_ percent: Int, _ seconds: Double) -> ScriptedSource {
      ScriptedSource(
        clock, [.report(nil, "\(percent)"), .wait(seconds), .load(LoadedValue(text: "\(percent)"))])
    }
    let bench = try await LoadingBench(
      tree,
      sources: ["a": source(1, 3), "b": source(2, 1), "c": source(3, 4), "d": source(4, 1)],
      clock: clock)
    #expect(
      try await bench.play("load 20") == [
        "0 loading", "0 loading 1", "0 loading 2", "1 loading 3", "3 loading 4",
        #"5 loaded ["1","2","3","4"]"#,
      ])
  }

  @Test("equal loaders of a session share permits, and a cancelled waiter leaves the queue")
  func waiters() async throws {
    let cache = LoaderCache()
    let tree = #"""
      {"type":"concurrencyLimit","limit":1,"of":{"type":"source","name":"user"}}
      """#
    let source = ScriptedSource(clock, [.report(1), .wait(2), .load("x")])
    func bench() async throws -> LoadingBench {
      try await LoadingBench(tree, sources: ["user": source], cache: cache, clock: clock)
    }
    let benches = [try await bench(), try await bench(), try await bench(), try await bench()]
    for bench in benches { #expect(try await bench.play("load").first == "0 loading") }
    #expect(source.begun == 1)
    try await benches[1].play("cancel")
    try await benches[0].play("2")
    // The third loader is the next in the queue and has the permit.
    for bench in benches { await bench.rest() }
    #expect(source.begun == 2)
    #expect(await benches[2].shown.last == "2 loading 1%")
    // A new load waits after the fourth loader.
    try await benches[1].play("reset load")
    try await benches[2].play("2")
    for bench in benches { await bench.rest() }
    #expect(await benches[3].shown.last == "4 loading 1%")
    #expect(await benches[1].shown.last == "2 loading")
    // Closing the store returns the permit.
    await benches[3].close()
    for bench in benches { await bench.rest() }
    #expect(await benches[1].shown.last == "4 loading 1%")
    // Another session has its own permits.
    let other = try await LoadingBench(
      tree, sources: ["user": source], cache: LoaderCache(), clock: clock)
    #expect(try await other.play("load") == ["4 loading", "4 loading 1%"])
  }

  // Regression: a tree stayed in the cache until another one came, and no limit counted it.
  @Test("the cache holds a tree with limits only while a loader uses it")
  func trees() async throws {
    let cache = LoaderCache()
    func loader(_ limit: Int) throws -> Loader {
      let tree =
        #"{"type":"concurrencyLimit","limit":\#(limit),"of":{"type":"mock","states":[{"state":{"type":"idle"}}]}}"#
      let configuration = try JSON.decode(LoaderConfiguration.self, from: Array(tree.utf8))
      return try Loader(configuration, sources: [:], cache: cache)
    }
    var loaders = [try loader(1), try loader(1), try loader(2)]
    #expect(cache.treeCount == 2)
    loaders.removeFirst()
    #expect(cache.treeCount == 2)
    loaders.removeFirst()
    #expect(cache.treeCount == 1)
    loaders = []
    #expect(cache.treeCount == 0)
  }

  @Test("nested limits do not wait for each other")
  func nestedLimits() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"concurrencyLimit","limit":1,"of":{"type":"all","of":[
        {"type":"concurrencyLimit","limit":1,"of":{"type":"mock","states":[{"after":1,"state":{"type":"loaded","value":1}}]}},
        {"type":"concurrencyLimit","limit":1,"of":{"type":"mock","states":[{"after":1,"state":{"type":"loaded","value":2}}]}}]}}
      """#)
    #expect(try await bench.play("load 5") == ["0 loading", "2 loaded [1,2]"])
  }
}
