// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import TestSupport
import Testing

@testable import Delivery
@testable import ServerCore

/// Several clients that are subscribed to the same stores.
@Suite("Broadcasts", .timeLimit(.minutes(15)))
struct BroadcastTests {
  private static let stores = ["x", "y"]

  enum Delay: CaseIterable {
    case none, held, journaled, heldAndJournaled
  }

  @Test(
    "subscribers get every change once and in order, whatever else they receive, and when",
    arguments: 0..<20, Delay.allCases)
  func order(seed: UInt64, delay: Delay) async throws {
    var random = FixedNumbers(seed: seed)
    let isJournaled = delay == .journaled || delay == .heldAndJournaled
    let world = isJournaled ? World(journal: PlainJournal(), on: HeldJobs()) : World()
    let delayed = delay == .held || delay == .heldAndJournaled ? DelayedBroadcasts(world) : nil
    let (driver, handle) = try Self.begin(world, Self.stores)
    var subscribers = [driver]
    for framing in [Framing.lines, .headers, .lines, .lines, .lines] {
      let subscriber = try Subscriber(world, framing)
      try subscriber.attach(handle, Self.stores)
      subscribers.append(subscriber)
    }
    for turn in 0..<60 {
      switch Int.random(in: 0..<13, using: &random) {
      case 0: subscribers.randomElement(using: &random)?.client.isCongested.toggle()
      case 1: subscribers.randomElement(using: &random)?.client.catchUp()
      case 3:
        // One client disconnects, even in the middle of a delivery, and another one attaches.
        subscribers.remove(at: 1)
        let subscriber = try Subscriber(world)
        try subscriber.attach(handle, Self.stores)
        subscribers.append(subscriber)
      case 4 where !driver.client.isCongested:
        let store = Self.stores.randomElement(using: &random) ?? ""
        // Otherwise, the driver's queued messages would be handled after inputs that other clients
        // send now.
        driver.client.catchUp()
        driver.client.continueUntilIdle()
        driver.client.send(
          input("4", using: &random), request("5", "store/close", "{\"store\":\"\(store)\"}"))
        driver.client.continueUntilIdle()
        try driver.open([store])
        for subscriber in subscribers.dropFirst() { try subscriber.subscribe([store]) }
      case 5:
        let subscriber = subscribers[Int.random(in: 1..<subscribers.count, using: &random)]
        subscriber.client.send(request("6", "session/detach"))
        try subscriber.attach(handle, Self.stores)
      case 6:
        // One client ends its input, and is closed.
        let subscriber = subscribers.remove(at: 1)
        try subscriber.listen()
        subscriber.client.catchUp()
        subscriber.client.continueUntilIdle()
        subscriber.client.tell(.inputEnded)
        subscriber.client.continueUntilIdle()
        world.commit()
        #expect(subscriber.client.isClosed)
        let next = try Subscriber(world)
        try next.attach(handle, Self.stores)
        subscribers.append(next)
      case 2:
        let store = Self.stores.randomElement(using: &random) ?? ""
        let subscriber = subscribers[Int.random(in: 1..<subscribers.count, using: &random)]
        subscriber.client.send(
          request("2", "store/unsubscribe", "{\"store\":\"\(store)\"}"),
          request("\"\(store)\"", "store/subscribe", "{\"store\":\"\(store)\"}"))
      default:
        // Mostly the driver's, sometimes another client's.
        let isDriver = Int.random(in: 0..<5, using: &random) > 0
        let sender = isDriver ? driver : subscribers.randomElement(using: &random) ?? driver
        let count = Int.random(in: 1...(turn % 10 == 0 ? 150 : 12), using: &random)
        var inputs = (0..<count).map { number in
          input("\(turn * 1000 + number + 10)", using: &random)
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
          // In the middle of a broadcast, the sender's subscription changes.
          let store = Self.stores.randomElement(using: &random) ?? ""
          let format = Bool.random(using: &random) ? "patch" : "state"
          inputs.insert(
            request(
              "\"\(store)\"", "store/subscribe",
              "{\"store\":\"\(store)\",\"format\":\"\(format)\"}"),
            at: Int.random(in: 0...count, using: &random))
        }
        sender.hasSent = true
        sender.client.send(bytes: sender.client.bytes(of: inputs))
      }
      if Int.random(in: 0..<3, using: &random) == 0 { delayed?.end() }
      if isJournaled, Bool.random(using: &random) { continue }
      world.commit()
      for subscriber in subscribers { subscriber.client.continueUntilIdle() }
      for subscriber in subscribers { try subscriber.listen() }
    }
    delayed?.end()
    // Queued inputs of clients that did not read are handled only now.
    world.commit()
    for subscriber in subscribers { subscriber.client.catchUp() }
    repeat {
      for subscriber in subscribers { subscriber.client.continueUntilIdle() }
      world.commit()
      delayed?.end()
    } while subscribers.contains { $0.client.isYieldingToOthers }
    for subscriber in subscribers { try subscriber.listen() }
    for store in Self.stores {
      driver.client.send(request("9", "store/state", "{\"store\":\"\(store)\"}"))
      let result = try JSONValue(parsing: driver.client.takeMessages()[0])["result"]
      for subscriber in subscribers {
        #expect(subscriber.states[store] == result?["state"])
        #expect(subscriber.revisions[store] == result?["revision"]?.int)
      }
    }
  }

  @Test("a subscriber that does not read gets the missed changes as a few updates")
  func slow() async throws {
    let world = World()
    let (driver, handle) = try Self.begin(world, ["x"])
    var subscribers: [Subscriber] = []
    for _ in 0..<3 {
      let subscriber = try Subscriber(world)
      try subscriber.attach(handle, ["x"])
      let client = subscriber.client
      client.writing = { client.isCongested = true }
      subscribers.append(subscriber)
    }
    let title = String(repeating: "x", count: 4000)
    let input =
      "{\"store\":\"x\",\"input\":{\"type\":\"todoAdded\",\"title\":\"\(title)\"}}"
    let inputs = (0..<500).map { request("\($0)", "store/send", input) }
    driver.client.send(bytes: driver.client.bytes(of: inputs))
    driver.client.continueUntilIdle()
    try driver.listen()
    for subscriber in subscribers {
      #expect(subscriber.client.writes.last?.count ?? 0 < 400_000)
      subscriber.client.writing = nil
      subscriber.client.catchUp()
      // The update is encoded off the loop.
      try await world.loop.turn()
      subscriber.client.continueUntilIdle()
      let before = subscriber.frames
      try subscriber.listen()
      #expect(subscriber.frames - before < 100)
      #expect(subscriber.states["x"] == driver.states["x"])
      #expect(subscriber.revisions["x"] == driver.revisions["x"])
    }
    // Each update was sent to a client, or merged with others.
    let metrics = world.shard.metrics
    let received = ([driver] + subscribers).map(\.frames).reduce(0, +)
    #expect(metrics.updatesSent.value == received)
    #expect(metrics.updatesCoalesced.value > 1000)
  }

  @Test("broadcast subscribers and other clients get the same updates in a turn that ends early")
  func largeTurn() throws {
    let world = World()
    let (driver, handle) = try Self.begin(world, Self.stores)
    // Its framing differs, so it does not share the broadcast buffer.
    let plain = try Subscriber(world, .headers)
    try plain.attach(handle, ["x"])
    let (first, second) = try (Subscriber(world), Subscriber(world))
    try first.attach(handle, ["x"])
    // After the others. Before each change of this store, the other store has changed.
    try second.attach(handle, Self.stores)

    let title = String(repeating: "x", count: 4000)
    let inputs = (0..<300).map { number in
      let (store, title) = number % 2 == 0 ? ("y", "short") : ("x", title)
      return request(
        "\(number)", "store/send",
        "{\"store\":\"\(store)\",\"input\":{\"type\":\"todoAdded\",\"title\":\"\(title)\"}}")
    }
    driver.client.send(bytes: driver.client.bytes(of: inputs))
    #expect(driver.client.isYieldingToOthers)
    while driver.client.isYieldingToOthers || plain.client.isYieldingToOthers {
      driver.client.continueUntilIdle()
      plain.client.continueUntilIdle()
    }
    for subscriber in [driver, plain, first, second] { try subscriber.listen() }
    for subscriber in [plain, first, second] {
      #expect(subscriber.states["x"] == driver.states["x"])
      #expect(subscriber.revisions["x"] == driver.revisions["x"])
    }
    #expect(second.states["y"] == driver.states["y"])
  }

  @Test("a broadcast buffer is empty between turns, and is released with its subscribers")
  func leaving() throws {
    let world = World()
    let (driver, handle) = try Self.begin(world, ["x"])
    var subscribers = try (0..<3).map { _ in try Subscriber(world) }
    for subscriber in subscribers { try subscriber.attach(handle, ["x"]) }
    let input = #"{"store":"x","input":{"type":"todoAdded","title":"Buy milk"}}"#
    for number in 0..<2 { driver.client.send(request("\(number)", "store/send", input)) }
    for subscriber in subscribers {
      let text = try #require(subscriber.client.connection?.writer.broadcasts.first?.buffer)
      #expect(text.withBytes { $0.count } == 0)
      try subscriber.listen()
      #expect(subscriber.frames == 2)
    }
    weak let connection = subscribers[1].client.connection
    subscribers.remove(at: 1)
    #expect(connection == nil)
    driver.client.send(request("3", "store/send", input))
    for subscriber in subscribers {
      try subscriber.listen()
      #expect(subscriber.frames == 3)
    }
    weak let text = try #require(subscribers[0].client.connection?.writer.broadcasts.first?.buffer)
    subscribers = []
    driver.client.send(request("4", "store/send", input))
    #expect(text == nil)
  }

  @Test("delayed broadcasts are sent before anything else, and before the end of the connection")
  func delayedBroadcasts() throws {
    let world = World()
    let delayed = DelayedBroadcasts(world)
    let (driver, handle) = try Self.begin(world, ["x"])
    let subscribers = try (0..<4).map { _ in try Subscriber(world) }
    for subscriber in subscribers.dropLast() { try subscriber.attach(handle, ["x"]) }
    for subscriber in subscribers { try subscriber.listen() }
    let input = Self.add("x", to: "x")
    for _ in 0..<3 { driver.client.send(input) }
    #expect(delayed.waiting.count == 1)
    for subscriber in subscribers { subscriber.client.expectNothing() }
    // One client sends a request, one attaches, and one ends its input.
    subscribers[0].client.send(request("2", "ping"))
    let messages = try subscribers[0].listen()
    #expect(messages.map { $0.contains("store/changed") } == [true, true, true, false])
    try subscribers[3].attach(handle, ["x"])
    driver.client.send(input)
    subscribers[1].client.tell(.inputEnded)
    #expect(subscribers[1].client.isClosed)
    delayed.end()
    for subscriber in subscribers { try subscriber.listen() }
    #expect(subscribers.map(\.frames) == [4, 4, 4, 1])
    #expect(subscribers[2].states["x"] == subscribers[3].states["x"])
    delayed.end()
    for subscriber in subscribers { subscriber.client.expectNothing() }
  }

  @Test("a client can share the broadcast buffers of several stores")
  func several() throws {
    let world = World()
    let delayed = DelayedBroadcasts(world)
    let (driver, handle) = try Self.begin(world, Self.stores)
    let subscribers = try (0..<2).map { _ in try Subscriber(world) }
    for subscriber in subscribers { try subscriber.attach(handle, Self.stores) }
    for subscriber in subscribers { try subscriber.listen() }
    let before = subscribers.map(\.client.writes.count)
    for number in 0..<10 {
      let store = Self.stores[number % 2]
      driver.client.send(Self.add("x", to: store))
    }
    for subscriber in subscribers { subscriber.client.expectNothing() }
    delayed.end()
    for (subscriber, before) in zip(subscribers, before) {
      #expect(subscriber.client.writes.count == before + 1)
      try subscriber.listen()
      #expect(subscriber.frames == 10)
    }
    // For a client that stops reading, the next changes of both stores are coalesced.
    let client = subscribers[0].client
    client.writing = { client.isCongested = true }
    for number in 0..<10 {
      let store = Self.stores[number % 2]
      driver.client.send(Self.add("x", to: store))
      if number == 3 { delayed.end() }
    }
    client.writing = nil
    client.catchUp()
    delayed.end()
    for subscriber in subscribers { try subscriber.listen() }
    #expect(subscribers[0].frames < subscribers[1].frames)
    for store in Self.stores {
      #expect(subscribers[0].states[store] == subscribers[1].states[store])
      #expect(subscribers[0].revisions[store] == subscribers[1].revisions[store])
    }
  }

  @Test("a delayed broadcast has a size limit, and is released when its subscribers have left")
  func bounded() throws {
    let world = World()
    let delayed = DelayedBroadcasts(world)
    let (driver, handle) = try Self.begin(world, ["x"])
    let subscriber = try Subscriber(world)
    try subscriber.attach(handle, ["x"])
    let input = Self.add(String(repeating: "x", count: 4000), to: "x")
    for number in 1...20 {
      driver.client.send(input)
      // The broadcast is due when it has 64 KiB.
      #expect(delayed.waiting.allSatisfy { !$0.isDue } == (number < 16))
    }
    let text = try #require(subscriber.client.connection?.writer.broadcasts.first?.buffer)
    // A turn with more bytes begins another broadcast.
    driver.client.send(bytes: driver.client.bytes(of: Array(repeating: input, count: 40)))
    #expect(subscriber.client.connection?.writer.broadcasts.isEmpty == true)
    #expect(text.withBytes(\.count) == 0)
    try subscriber.listen()
    #expect(subscriber.frames == 60)
    driver.client.send(input)
    let next = try #require(subscriber.client.connection?.writer.broadcasts.first?.buffer)
    #expect(next !== text)
    #expect(next.withBytes(\.count) > 4000)
    subscriber.client.send(request("2", "session/detach"))
    #expect(next.withBytes(\.count) == 0)
    delayed.end()
    try subscriber.listen()
    #expect(subscriber.frames == 61)
  }

  /// Returns a client that has opened a session with these stores, and the handle of the session.
  private static func begin(_ world: World, _ stores: [String]) throws -> (Subscriber, String) {
    let driver = try Subscriber(world)
    driver.client.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: driver.client.takeMessages()[0])["result"]?["session"]?.string)
    try driver.open(stores)
    return (driver, handle)
  }

  private static func add(_ title: String, to store: String) -> String {
    let input = "{\"type\":\"todoAdded\",\"title\":\"\(title)\"}"
    return request("1", "store/send", "{\"store\":\"\(store)\",\"input\":\(input)}")
  }

  private func input(_ id: String, using random: inout FixedNumbers) -> String {
    let store = Self.stores.randomElement(using: &random) ?? ""
    let number = Int.random(in: 1...12, using: &random)
    let input =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: "{\"type\":\"todoRemoved\",\"id\":\"\(number)\"}"
      case 1: "{\"type\":\"todoMoved\",\"id\":\"\(number)\",\"before\":null}"
      case 2: "{\"type\":\"todoAdded\",\"title\":\"\(String(repeating: "long ", count: 700))\"}"
      default: "{\"type\":\"todoAdded\",\"title\":\"\(number)\"}"
      }
    return request(id, "store/send", "{\"store\":\"\(store)\",\"input\":\(input)}")
  }
}

/// Delays broadcasts until the test sends them.
private final class DelayedBroadcasts {
  private let world: World
  private(set) var waiting: [any PendingBroadcast] = []

  init(_ world: World) {
    self.world = world
    // because the test's thread is that of the world's loop.
    nonisolated(unsafe) weak let delayed = self
    world.shard.assumeIsolated { shard in
      shard.turnOutcome.sendOrDelay = { text in
        guard !text.isHeld else { return }
        text.isHeld = true
        delayed?.waiting.append(text)
      }
    }
  }

  func end() {
    // because the test's thread is that of the world's loop.
    nonisolated(unsafe) let texts = waiting
    waiting = []
    world.shard.assumeIsolated { shard in
      shard.turn {
        for text in texts {
          text.isHeld = false
          text.send()
        }
      }
    }
  }
}

/// A client that applies the updates it receives, and checks that each follows the previous one.
private final class Subscriber {
  let client: TestClient
  private(set) var states: [String: JSONValue] = [:]
  private(set) var revisions: [String: Int] = [:]
  /// The number of updates that it has received.
  private(set) var frames = 0
  /// True if it has sent inputs, so that updates may name one.
  var hasSent = false

  init(_ world: World, _ framing: Framing = .lines) throws {
    client = TestClient(world, framing)
  }

  /// Opens the stores and subscribes to them.
  func open(_ stores: [String]) throws {
    hasSent = true
    for store in stores {
      client.send(
        request(
          "2", "store/open",
          "{\"store\":\"\(store)\",\"kind\":\"todo\",\"config\":{\"memory\":{\"count\":5}}}"),
        request(
          "3", "store/send", "{\"store\":\"\(store)\",\"input\":{\"type\":\"stateRequested\"}}"))
    }
    try subscribe(stores)
  }

  /// Attaches to a session and subscribes to the stores.
  func attach(_ handle: String, _ stores: [String]) throws {
    client.send(request("1", "session/attach", "{\"session\":\"\(handle)\",\"revisions\":{}}"))
    try subscribe(stores)
  }

  func subscribe(_ stores: [String]) throws {
    for store in stores {
      client.send(request("\"\(store)\"", "store/subscribe", "{\"store\":\"\(store)\"}"))
    }
    try listen()
  }

  @discardableResult
  func listen() throws -> [String] {
    let messages = client.takeMessages()
    for message in messages { try take(JSONValue(parsing: message)) }
    return messages
  }

  private func take(_ message: JSONValue) throws {
    // The id of a subscribe request is the name of its store.
    if let state = message["result"]?["state"], let store = message["id"]?.string {
      states[store] = state
      revisions[store] = message["result"]?["revision"]?.int
    }
    if message["method"] == "store/closed", let store = message["params"]?["store"]?.string {
      states[store] = nil
      revisions[store] = nil
    }
    guard message["method"] == "store/changed", let params = message["params"],
      let store = params["store"]?.string, let revision = revisions[store]
    else { return }
    frames += 1
    #expect(params["base"]?.int == revision)
    let applied = params["applied"]
    #expect(applied == .null || hasSent, "\(String(describing: applied))")
    let state = try #require(states[store])
    if let patch = params["patch"] {
      states[store] = try JSONPatch(patch).apply(to: state)
    } else {
      states[store] = params["state"]
    }
    revisions[store] = params["revision"]?.int
  }
}
