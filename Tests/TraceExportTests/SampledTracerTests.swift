// SPDX-License-Identifier: Apache-2.0

import InMemoryTracing
import Sessions
import Testing
import Tracing

@testable import TraceExport

@Suite("Spans by swift-distributed-tracing")
struct SampledTracerTests {
  @Test("a ratio of 0 samples nothing, of 1 everything, and a ratio between them its share")
  func ratios() {
    func sampled(_ ratio: Double, of inputs: Int) -> Int {
      let tracer = SampledTracer(InMemoryTracer(), ratio: ratio)
      var (left, count) = (inputs, 0)
      while true {
        let distance = tracer.distanceToSample()
        guard distance <= left else { return count }
        left -= distance
        count += 1
      }
    }
    #expect(sampled(0, of: 1000) == 0 && sampled(-1, of: 1000) == 0)
    #expect(sampled(1, of: 1000) == 1000 && sampled(7, of: 1000) == 1000)
    // Six standard deviations on both sides.
    #expect(4700...5300 ~= sampled(0.5, of: 10_000))
    #expect(810...1190 ~= sampled(0.01, of: 100_000))
    #expect(sampled(1e-300, of: 1000) == 0)
  }

  @Test("a text that cannot be continued begins a trace only if the input is sampled")
  func malformed() {
    let tracer = SampledTracer(OTLPTracer(SpanQueue()), ratio: 0)
    #expect(tracer.begin("todo", continuing: "no trace", isSampled: false) == nil)
    #expect(tracer.begin("todo", continuing: "no trace", isSampled: true) != nil)
    #expect(tracer.begin("todo", continuing: nil, isSampled: false) == nil)
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    #expect(tracer.begin("todo", continuing: parent, isSampled: false) != nil)
  }

  @Test("a span causes no other one after its end, and ends once")
  func over() throws {
    let memory = InMemoryTracer()
    let input = try #require(
      SampledTracer(memory, ratio: 1).begin("todo", continuing: nil, isSampled: true))
    let effect = try #require(input.child(.effect, "load"))
    input.end(.finished)
    input.end(.failed)
    #expect(input.child(.effect, "load") == nil)
    #expect(memory.finishedSpans.map(\.status) == [nil])
    // A span that has not ended and its tracer refer to each other.
    effect.end(.finished)
  }

  @Test("spans of inputs, effects and an author's own code are one tree, by any tracer")
  func trees() throws {
    let memory = InMemoryTracer()
    let input = try #require(
      SampledTracer(memory, ratio: 1).begin("todo", continuing: nil, isSampled: true))
    input.describe(input: "todoAdded")
    input.add([("statewire.store", "todo"), ("long", String(repeating: "x", count: 1000))])
    let effect = try #require(input.child(.effect, "append"))
    effect.enclose {
      #expect(CurrentSpan.value != nil)
      memory.startSpan("own").end()
      effect.leave {
        #expect(CurrentSpan.value == nil && InstrumentationContext.current == nil)
      }
    }
    #expect(CurrentSpan.value == nil)
    let names = [InMemoryTracer.traceIDKey, InMemoryTracer.spanIDKey]
    #expect(effect.headers.map(\.name) == names.sorted())
    effect.end(.failed)
    input.end(.cancelled)
    let spans = memory.finishedSpans
    #expect(spans.map(\.operationName) == ["own", "append", "todo todoAdded"])
    #expect(spans[0].spanContext.parentSpanID == spans[1].spanContext.spanID)
    #expect(spans[1].spanContext.parentSpanID == spans[2].spanContext.spanID)
    #expect(spans[1].status?.code == .error && spans[2].status == nil)
    #expect(spans[2].attributes.get("statewire.store") == .string("todo"))
    #expect(spans[2].attributes.get("statewire.cancelled") == .bool(true))
    guard case .string(let long)? = spans[2].attributes.get("long") else { return }
    #expect(long.utf8.count < 256)
    #expect(spans.map(\.kind) == [.internal, .internal, .server])
  }

  @Test("a full queue drops new spans and counts them")
  func queue() {
    let queue = SpanQueue()
    let tracer = OTLPTracer(queue)
    for _ in 0..<SpanQueue.capacity + 3 { tracer.startSpan("work").end() }
    #expect(queue.dropped == 3)
    #expect(queue.take(atMost: .max).count == SpanQueue.capacity)
    #expect(queue.take(atMost: 1).isEmpty)
  }

  @Test("a span ends once, and nothing is added to it later")
  func ends() {
    let queue = SpanQueue()
    let span = OTLPTracer(queue).startSpan("work")
    span.operationName = "other work"
    span.end()
    span.operationName = "late"
    span.end()
    let records = queue.take(atMost: .max)
    #expect(records.map(\.name) == ["other work"])
    #expect(!span.isRecording)
  }
}
