// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `session/trace`
  func sessionTrace(_ request: Request) throws(RPCError) {
    let params: SessionTrace.Params = try request.decode(limits: settings.limits)
    member.session.trace(params.on ? self : nil)
    reply(to: request) { _ in }
  }

  public func traced(_ line: TraceLine) {
    // Nobody waits for a trace; its numbers show that lines are missing.
    guard !isCongested else { return }
    let (record, operation) = (line.record, line.record.operation)
    notify(SessionTraced.method) { writer in
      writer.raw("\"seq\":")
      writer.value(line.number)
      writer.key("store")
      writer.value(line.store)
      writer.key("stage")
      writer.value(operation.stage.rawValue)
      writer.key("operation")
      writer.value(operation.name)
      writer.key("number")
      writer.value(operation.number)
      writer.key("hook")
      writer.value(record.moment.rawValue)
      writer.key("input")
      writer.value(record.input)
      writer.key("action")
      writer.value(record.action)
      writer.key("failed")
      writer.value(record.failed)
      writer.key("revision")
      writer.value(record.revision)
    }
  }
}
