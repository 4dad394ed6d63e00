// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import SQLiteFiles
internal import ServerCore

extension ServeOption {
  /// The options in the order of the help.
  static func general(hasBuiltin: Bool) -> [ServeOption] {
    [
      .listeners("tcp", \.tcp, "Listen on a TCP address; repeatable. Port 0 takes a free one."),
      .listeners(
        "web", \.web,
        discussion: "A WebSocket at /, one message a text frame, and the page beside it.",
        "Listen on a TCP address for browsers; repeatable."),
      .text(
        "web-root", \.webRoot, valueName: "folder",
        "Serve the files of this folder before those of the page, for whoever writes one."),
      .texts("unix", \.unix, "Listen on a Unix socket that only you can open; repeatable."),
      .flag("stdio", \.stdio, "Serve standard input and output beside other listeners."),
      .text(
        "data-dir", \.dataFolder,
        """
        The folder of the database, to which other users must not be able to write. (default: \
        a folder of the program in $XDG_STATE_HOME)
        """),
      durability,
    ] + (hasBuiltin ? builtin : []) + [
      .choice("log-level", \.logLevel, "What to log, from everything to the worst only."),
      .flag(
        "test", \.isTest,
        discussion: """
          Turns on test/advanceClock and test/injectFault; time stands still between them, ids are \
          the same every time, and without --data-dir the data is in a new folder that goes with the \
          server.
          """, "For tests: frontends move the clock and inject faults."),
    ]
  }

  private static var durability: ServeOption {
    ServeOption(
      name: "durability", kind: .value, valueName: "process|power",
      summary: {
        "What sessions and lists in --data-dir outlive: the end of the process, or lost power."
      },
      discussion: """
        With --data-dir the folder has one server at a time, and its sessions come back with the \
        next. Against lost power each turn waits for the disk. (default: process)
        """,
      read: { options, word in
        guard let durability = Durability(rawValue: word) else {
          return .because("'\(word)' is none of process, power.")
        }
        options.durability = durability
        return nil
      })
  }

  /// Options of the built-in kinds.
  private static var builtin: [ServeOption] {
    [
      .text(
        "balance-url", \.balanceURL, valueName: "url",
        discussion: """
          http:// or https://; it answers {"balance": …, "date": …} to GET. @FILE: the URL is in that \
          file, since other users can see the arguments of a process, and a URL may hold a key.
          """, "Ask this URL for the balance, in place of the ledger."),
      timeZone,
      .texts(
        "source", \.sources, valueName: "name=url",
        discussion: """
          NAME=https://…, NAME=http://… or NAME=file:… for a file in --source-dir; NAME=@FILE: the \
          URL is in that file, as for --balance-url.
          """, "Something that loaders may load; repeatable."),
      .text(
        "source-dir", \.sourceFolder,
        "The folder of the sources that are files. (default: the current one)"),
    ]
  }

  private static var timeZone: ServeOption {
    ServeOption(
      // An offset may begin with a minus.
      name: "time-zone", kind: .value, valueName: "zone", takesAnyWord: true,
      summary: {
        "The time zone of the balance's texts, like +02:00 or Europe/Berlin. (default: UTC)"
      },
      read: { options, word in
        guard let zone = TimeZoneRule(named: word) else { return .malformed }
        options.zone = zone
        return nil
      })
  }

  static var security: [ServeOption] {
    [
      .text(
        "token-file", \.tokenFile, valueName: "file",
        discussion: "One token a line: a name, a blank, and 16 to 512 visible characters.",
        "Serve only who shows a token of this file; SIGHUP reads it again."),
      .text(
        "tls-cert", \.tlsCertificate, valueName: "file",
        "Serve TCP over TLS with this certificate, in PEM; SIGHUP reads it again."),
      .text("tls-key", \.tlsKey, valueName: "file", "The key of the certificate, in PEM."),
      .text(
        "tls-client-ca", \.tlsClientAuthority, valueName: "file",
        "Serve over TLS only who has a certificate that one of these has signed, in PEM."),
      .texts(
        "web-origin", \.webOrigins, valueName: "origin",
        discussion: """
          Like https://example.org. Its host is also a name of this server where that is reached by a \
          loopback address, as behind a proxy.
          """, "A site whose pages may use --web beside the server's own; repeatable."),
      .flag(
        "insecure", \.isInsecure,
        "Allow TCP beyond loopback without tokens or TLS: whoever reaches the port is served."),
    ]
  }

  static func limits(hasBuiltin: Bool) -> [ServeOption] {
    connectionLimits + sessionLimits + (hasBuiltin ? builtinLimits : [])
  }

  private static var connectionLimits: [ServeOption] {
    [
      .number("maximum-frame-bytes", \.limits.frameBytes, "Bytes of one message."),
      .number(
        "maximum-depth", \.limits.depth, most: 1000,
        "How deep arrays and objects of a message may nest."),
      .number("maximum-batch-length", \.limits.batchLength, "Requests in one batch."),
      .number(
        "maximum-open-requests", \.limits.openRequests,
        "Requests of one connection whose effects are running."),
      .number(
        "maximum-outbox-bytes", \.limits.outboxBytes,
        "Bytes that may wait for one peer to read them."),
      .number(
        "maximum-buffer-bytes", \.limits.bufferBytes,
        "Bytes of frames that have not ended and of what waits to be read, of all connections."),
      .number("maximum-connections", \.limits.connections, "Connections in all."),
      .number(
        "maximum-connections-per-address", \.limits.connectionsPerAddress,
        default:
          "\(ServerLimits().connectionsPerAddress(isLoopback: false)), from this machine any number",
        "Connections from one address, or one IPv6 network of 64 bits."),
      .number(
        "maximum-connections-per-identity", \.limits.connectionsPerIdentity,
        default: "half of all", "Connections of one name in the token file."),
      .rate(
        "maximum-inputs-per-second", \.limits.inputsPerSecond,
        "Inputs and opened stores of one connection in a second; 0: any number."),
      .rate(
        "maximum-bytes-per-second", \.limits.bytesPerSecond,
        "Bytes that are read from one connection in a second; 0: any number."),
      .seconds(
        "time-to-first-request", \.limits.timeToFirstRequest,
        "Seconds to the first message of a connection, or to its token; 0: any time."),
      .seconds(
        "frame-time", \.limits.frameTime,
        "Seconds that a frame may take from its beginning to its end; 0: any time."),
      .seconds(
        "idle-time", \.limits.idleTime,
        "Seconds that a connection may send nothing and wait for nothing; 0: any time."),
      .seconds(
        "unread-time", \.limits.unreadTime,
        "Seconds that a peer may leave unread what waits for it; 0: any time."),
      .seconds(
        "ping-time", \.limits.pingTime,
        """
        Seconds that a WebSocket may be silent before it is pinged, and again before it is closed; \
        0: any time.
        """),
    ]
  }

  private static var sessionLimits: [ServeOption] {
    [
      .number("maximum-stores", \.sessions.storesPerSession, "Stores of one session."),
      .number(
        "maximum-bytes-per-session", \.sessions.bytesPerSession,
        "Bytes that one session holds of configurations, states and frames, lists aside."),
      .number(
        "maximum-bytes-per-identity", \.sessions.bytesPerIdentity, default: "half of all",
        "The same for all sessions of one name in the token file."),
      .number("maximum-bytes", \.sessions.bytes, "The same for all sessions."),
      .number("maximum-sessions", \.sessions.sessions, "Sessions that outlive their connections."),
      .number(
        "maximum-sessions-per-identity", \.sessions.sessionsPerIdentity,
        default: "as many as in all", "Sessions of one name in the token file."),
      .seconds(
        "session-time", \.sessionTime,
        "Seconds that a session outlives the last of its connections."),
      .number(
        "history-bytes", \.sessions.historyBytes, least: 0,
        "Bytes of frames that are kept of each store for frontends that come back."),
      .number(
        "maximum-frontend-names", \.sessions.frontendNames,
        "Names of frontends that one session remembers."),
    ]
  }

  private static var builtinLimits: [ServeOption] {
    [
      .number(
        "maximum-title-bytes", \.texts.titleBytes, most: TodoTitle.maximumBytes,
        "Bytes of the title of a todo; at most \(TodoTitle.maximumBytes)."),
      .number(
        "maximum-field-bytes", \.texts.fieldBytes, most: FormEntry.maximumBytes,
        "Bytes of an entry of a form; at most \(FormEntry.maximumBytes)."),
      .number("maximum-todos-per-list", \.todos.list.todos, "Todos in one list."),
      .number(
        "maximum-todo-bytes-per-list", \.todos.list.bytes,
        """
        Bytes of one list: of titles and ids, and \(TodoSize.bytesPerTodo) for each todo. As JSON it has at most six \
        times as many.
        """),
      .number(
        "maximum-todos-per-database", \.todos.database.todos, "Todos in all lists of the database."),
      .number(
        "maximum-todo-bytes-per-database", \.todos.database.bytes,
        "Bytes of all lists of the database."),
      .number(
        "maximum-todos-per-session", \.todos.session.todos,
        "Todos in all lists in memory of one session."),
      .number(
        "maximum-todo-bytes-per-session", \.todos.session.bytes,
        "Bytes of all lists in memory of one session."),
      .number(
        "maximum-todos-per-identity", \.todos.todosPerIdentity, default: "half of all",
        "Todos in all lists in memory of one name in the token file."),
      .number(
        "maximum-todo-bytes-per-identity", \.todos.bytesPerIdentity, default: "half of all",
        "Bytes of all lists in memory of one name in the token file."),
      .number("maximum-todos", \.todos.memory.todos, "Todos in all lists in memory."),
      .number("maximum-todo-bytes", \.todos.memory.bytes, "Bytes of all lists in memory."),
      .number("maximum-source-bytes", \.sourceBytes, "Bytes of what a source gives."),
    ]
  }
}
