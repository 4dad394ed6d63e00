// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StatewireJSON
internal import StatewireProtocol

extension Initialize {
  /// Carries out `initialize`, after the token was checked.
  ///
  /// - Parameters:
  ///   - params: The parameters.
  ///   - settings: The settings of the server.
  ///   - log: The metadata of log lines about the request.
  /// - Throws: `RPCError` -32017, with the supported versions in `data`.
  static func respond(
    to params: Params, _ settings: ServerSettings, log: @autoclosure () -> Logger.Metadata
  ) throws(RPCError) -> MethodResult {
    let version = params.protocolVersion ?? supportedVersions[0]
    guard supportedVersions.contains(version) else {
      throw RPCError(
        .protocolVersion, "this protocol version is not supported",
        data: .object(["supported": .array(supportedVersions.map { .string($0) })]))
    }
    if let client = params.client {
      settings.logger.debug(
        "initialized a client",
        metadata: log().merging(["client": "\(client.name.quoted(upTo: 64))"]) { $1 })
    }
    return .members { writer in
      writer.key("protocolVersion")
      writer.value(version)
      writer.key("server")
      writer.beginObject()
      writer.key("name")
      writer.value(settings.program.name)
      writer.key("version")
      writer.value(settings.program.version)
      writer.endObject()
      writer.key("capabilities")
      writer.beginObject()
      writer.endObject()
      writer.key("limits")
      writer.beginObject()
      writer.key("frameBytes")
      writer.value(settings.limits.frameBytes)
      writer.key("nesting")
      writer.value(settings.limits.depth)
      writer.key("batchLength")
      writer.value(settings.limits.batchLength)
      writer.endObject()
    }
  }
}
