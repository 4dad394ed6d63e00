// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import SQLiteFiles
internal import ServerCore
internal import Transports

extension ServeOption {
  /// Returns all options, in the order of the help.
  static func all(hasBuiltin: Bool) -> [ServeOption] {
    groups(hasBuiltin: hasBuiltin).flatMap { $0() }
  }

  /// Returns the groups of options, each of which is created by a call.
  static func groups(hasBuiltin: Bool) -> [() -> [ServeOption]] {
    [
      { common }, { security }, { addresses }, { logs }, { storage }, { nodes },
      { hasBuiltin ? builtin : [] }, { others }, { limits(hasBuiltin: hasBuiltin) },
    ]
  }

  /// The options that most servers need.
  static var common: [ServeOption] {
    [
      .listeners("tcp", \.tcp, "Listen on a TCP address; repeatable. Port 0 selects a free port."),
      .listeners(
        "web", \.web,
        discussion: "Serves a WebSocket at / with one message per text frame, and the page.",
        "Listen on a TCP address for browsers; repeatable."),
      .texts(
        "unix", \.unix, valueName: "path",
        "Listen on a Unix socket that only your user can open; repeatable."),
      .text(
        "data-dir", \.dataFolder, valueName: "folder",
        """
        Folder of the database and of persistent sessions; other users must not have write access. \
        (default: the program's folder in $XDG_STATE_HOME or ~/.local/state, without sessions)
        """),
      .texts(
        "store", \.stores, valueName: "name=command",
        discussion: """
          For example counter='python3 counter.py'. The command is divided into words as by a shell, and no shell is \
          started. The program speaks the store protocol on its standard input and output.
          """, "Store kind whose machine is a program in any language; repeatable."
      ).with { $0.mappingKey = "stores" },
      .flag(
        "watch", \.watchesStores,
        discussion:
          """
          Open stores keep their states, and clients stay connected. A program that does not start does not replace \
          the running one.
          """,
        "Replace the program of a --store when files of its folder change."
      ).with { $0.isReloaded = true },
      .text(
        "config", \.configurationFile, valueName: "file",
        discussion: "The keys of the file are the names of the options. SIGHUP reads it again.",
        "Read options from this YAML file. (environment: STATEWIRE_CONFIG)"
      ).with { $0.isInFile = false },
    ]
  }

  /// Other options about addresses.
  static var addresses: [ServeOption] {
    [
      .flag("stdio", \.stdio, "Serve standard input and output in addition to listeners."),
      .text(
        "web-root", \.webRoot, valueName: "folder",
        "Serve the files of this folder in preference to those of the page."),
      .text(
        "admin", \.admin, valueName: "host:port",
        discussion: """
          /healthz responds 200 while the event loops do; /readyz responds 200 if the server is ready for clients, and \
          otherwise 503 with the reason; /metrics has the metrics as text for Prometheus; /console is a page that \
          shows sessions, stores and states.
          """, "Serve health, metrics and a console over HTTP on loopback, or over TLS with tokens."
      ),
    ]
  }

  /// The options of the log.
  static var logs: [ServeOption] {
    [
      .choice(
        "log-level", \.logLevel, valueName: "level", "Least severe level of messages to log."
      ).with { $0.isReloaded = true },
      .choice(
        "log-format", \.logFormat, valueName: "format",
        discussion:
          "With json, each line is an object with time, level, message, and members such as session and connection.",
        "Format of the log."
      ).with { $0.isReloaded = true },
      .text(
        "trace-endpoint", \.traceEndpoint, valueName: "url",
        discussion: """
          For example http://localhost:4318/v1/traces. Spans are in OTLP/HTTP with JSON. @FILE reads the URL from a \
          file, or from a credential with @credential:NAME.
          """, "Send spans of inputs, effects and commits to this collector of OpenTelemetry."
      ).with { $0.isSecret = true },
      traceRatio,
    ]
  }

  private static var traceRatio: ServeOption {
    ServeOption(
      name: "trace-ratio", kind: .value, valueName: "ratio",
      summary: {
        "Share of the inputs without a trace of their client that begin a trace, from 0 to 1. (default: 1)"
      },
      allowed: { "a number from 0 to 1" }, standard: { "1" },
      read: { options, word in
        guard let ratio = Double(word), 0...1 ~= ratio else {
          return .because("'\(word)' is not a number from 0 to 1.")
        }
        options.traceRatio = ratio
        return nil
      })
  }

  /// The options of the data in `--data-dir`.
  static var storage: [ServeOption] { [durability] }

  /// Options that few servers need.
  static var others: [ServeOption] {
    [
      .number(
        "shards", \.shards, most: Server.maximumShards,
        default:
          "one for each processor that the process may use; 1 without listeners, with --test or with shared stores",
        "Threads that serve clients, each with a part of the sessions."),
      .flag(
        "test", \.isTest,
        discussion: """
          Enables test/advanceClock and test/injectFault. Only test/advanceClock moves the clock, \
          ids are the same in each run, and without --data-dir the data is in a temporary folder.
          """, "For tests: clients control a virtual clock and inject faults."),
    ]
  }

  private static var durability: ServeOption {
    ServeOption(
      name: "durability", kind: .value, valueName: "process|power",
      summary: {
        "Failure that data in --data-dir survives: the end of the process, or power loss."
      },
      discussion: """
        One server at a time uses --data-dir, and the next one restores its sessions. With power, \
        responses wait until the disk has stored the data. (default: process)
        """,
      allowed: { "one of process, power" }, standard: { Durability.process.rawValue },
      read: { options, word in
        guard let durability = Durability(rawValue: word) else {
          return .because("'\(word)' is not one of process, power.")
        }
        options.durability = durability
        return nil
      })
  }

  /// The options of a node among others.
  static var nodes: [ServeOption] {
    [
      .text(
        "database", \.database, valueName: "url",
        discussion: """
          For example postgres://user@host/database. Sessions are in this database instead of --data-dir, and all \
          servers with the same one serve them together. Other users can see the arguments of a process: \
          a URL with a password belongs in a file or in the environment. @FILE reads the URL from a file, \
          which may be credential:NAME, as for --token-file.
          """, "PostgreSQL session database. (environment: STATEWIRE_DATABASE)"
      ).with {
        $0.isSecret = true
        $0.alternative = "database-file"
      },
      .file(
        "database-file", \.databaseFile,
        "Read the URL of the database from the first line of this file."
      ).with { $0.alternative = "database" },
      .text(
        "node", \.node, valueName: "name",
        "Name of this server among those with the same database. (default: the address)"),
      .text(
        "advertise", \.advertised, valueName: "host:port",
        discussion: "It belongs to a --tcp listener.",
        "Address at which the other servers reach this one. (default: that of the only --tcp listener)"
      ),
      .seconds(
        "lease", \.lease,
        "Seconds after which other servers continue the sessions of one that has died; at least 0.5."
      ),
      .file(
        "node-secret-file", \.nodeSecretFile,
        "File with a secret of 16 or more characters, the same for all servers. (default: one in the database)"
      ),
      .file(
        "node-ca-file", \.nodeAuthority,
        "Authorities of the certificates of the other servers, in PEM. (default: those of the system)"
      ),
    ]
  }

  /// The options of the built-in kinds.
  static var builtin: [ServeOption] {
    [
      .text(
        "balance-url", \.balanceURL, valueName: "url",
        discussion: """
          An http:// or https:// URL that responds to GET with {"balance": …, "date": …}. @FILE \
          reads the URL from a file, because other users can see the arguments of a process and a \
          URL may contain a key. FILE may be credential:NAME, as for --token-file.
          """, "Load the balance from this URL instead of the ledger."
      ).with { $0.isSecret = true },
      timeZone,
      .texts(
        "source", \.sources, valueName: "name=url",
        discussion: """
          NAME=https://…, NAME=http://…, or NAME=file:… for a file in --source-dir. NAME=@FILE \
          reads the URL from a file, as for --balance-url.
          """, "Source that loaders may use; repeatable."
      ).with {
        $0.isSecret = true
        $0.mappingKey = "sources"
      },
      .text(
        "source-dir", \.sourceFolder, valueName: "folder",
        "Folder of the sources that are files. (default: the current folder)"),
    ]
  }

  private static var timeZone: ServeOption {
    ServeOption(
      // An offset may begin with a minus sign.
      name: "time-zone", kind: .value, valueName: "zone", takesAnyWord: true,
      summary: {
        "Time zone of dates in balance texts, for example +02:00 or Europe/Berlin. (default: UTC)"
      },
      allowed: { "an offset such as +02:00, or a name such as Europe/Berlin" },
      standard: { "UTC" },
      read: { options, word in
        guard let zone = TimeZoneRule(named: word) else { return .malformed }
        options.zone = zone
        return nil
      })
  }

  /// The options about access and encryption.
  static var security: [ServeOption] {
    [
      .file(
        "token-file", \.tokenFile,
        discussion: """
          One token per line: a name, a blank, and 16 to 512 visible ASCII characters. Instead of a path, this and \
          each other option for a file with a secret or a certificate can be credential:NAME, a credential of systemd \
          in $CREDENTIALS_DIRECTORY.
          """, "Accept only clients with a token of this file; SIGHUP reloads it."
      ).with { $0.isReloaded = true },
      .file(
        "admin-token-file", \.adminTokenFile,
        "Accept at --admin only requests with a token of this file; with --tls-cert on any address; SIGHUP reloads it."
      ).with { $0.isReloaded = true },
      .file(
        "tls-cert", \.tlsCertificate,
        "Use TLS on TCP listeners, with this certificate in PEM; SIGHUP reloads it."
      ).with { $0.isReloaded = true },
      .file("tls-key", \.tlsKey, "Private key of the certificate, in PEM.").with {
        $0.isReloaded = true
      },
      .file(
        "tls-client-ca", \.tlsClientAuthority,
        "Accept over TLS only clients with a certificate of one of these authorities, in PEM."
      ).with { $0.isReloaded = true },
      .texts(
        "web-origin", \.webOrigins, valueName: "origin",
        discussion: """
          For example https://example.org. On a loopback address, for example behind a proxy, the \
          server also accepts the host of the origin as its own name.
          """, "Origin whose pages may use --web, in addition to the server's own; repeatable."),
      .text(
        "content-security-policy", \.contentSecurityPolicy, valueName: "policy",
        discussion: "By default the files of the server, and connections to it.",
        "Content-Security-Policy of the page: what browsers load and run for it."),
      .flag(
        "insecure", \.isInsecure,
        "Allow TCP beyond loopback without tokens or TLS: the server accepts every client."
      ),
    ]
  }

  /// Returns the options for limits, in the order of the help.
  static func limits(hasBuiltin: Bool) -> [ServeOption] {
    connectionLimits + sessionLimits + (hasBuiltin ? builtinLimits : [])
  }

  private static var connectionLimits: [ServeOption] {
    [
      .number(
        "maximum-frame-bytes", \.limits.frameBytes,
        "Maximum bytes of one message, without its framing."),
      .number(
        "maximum-depth", \.limits.depth, most: 1000,
        "Maximum nesting of arrays and objects in a message; at most 1000."),
      .number("maximum-batch-length", \.limits.batchLength, "Maximum requests in one batch."),
      .number(
        "maximum-open-requests", \.limits.openRequests,
        "Maximum requests of one connection with running effects."),
      .number(
        "maximum-outbox-bytes", \.limits.outboxBytes,
        "Maximum bytes that wait for one client to read them."),
      .number(
        "maximum-buffer-bytes", \.limits.bufferBytes,
        "Maximum bytes of incomplete frames and of unread output, of all connections."),
      .number("maximum-connections", \.limits.connections, "Maximum connections."),
      .number(
        "maximum-connections-per-address", \.limits.connectionsPerAddress,
        default: """
          \(ServerLimits().connectionsPerAddress(isLoopback: false)); from a loopback address as \
          --maximum-connections
          """,
        "Maximum connections from one address or one IPv6 /64 network."),
      .number(
        "maximum-connections-per-identity", \.limits.connectionsPerIdentity,
        default: "half of --maximum-connections",
        "Maximum connections of one identity."),
      .rate(
        "maximum-inputs-per-second", \.limits.inputsPerSecond,
        "Maximum inputs of one connection per second, including opened stores; 0: no limit."),
      .rate(
        "maximum-bytes-per-second", \.limits.bytesPerSecond,
        "Maximum bytes that are read from one connection per second; 0: no limit."),
      .seconds(
        "time-to-first-request", \.limits.timeToFirstRequest,
        "Maximum seconds to the first message or the token of a connection; 0: no limit."),
      .seconds(
        "frame-time", \.limits.frameTime,
        "Maximum seconds from the first to the last byte of a frame; 0: no limit."),
      .seconds(
        "idle-time", \.limits.idleTime,
        "Maximum seconds without a message while no request is in progress; 0: no limit."),
      .seconds(
        "unread-time", \.limits.unreadTime,
        "Maximum seconds that a client may leave waiting output unread; 0: no limit."),
      .seconds(
        "ping-time", \.limits.pingTime,
        """
        Seconds without bytes from a WebSocket until the server sends a ping, and then until it \
        closes the connection; 0: no pings.
        """),
    ]
  }

  private static var sessionLimits: [ServeOption] {
    [
      .number(
        "maximum-stores", \.sessions.storesPerSession,
        "Maximum stores of one session, including closed stores."),
      .number(
        "maximum-bytes-per-session", \.sessions.bytesPerSession,
        "Maximum bytes of configurations, states and kept updates of a session, without lists."
      ),
      .number(
        "maximum-bytes-per-identity", \.sessions.bytesPerIdentity,
        default: "half of --maximum-bytes",
        """
        Maximum bytes of configurations, states and kept updates of all sessions of one identity, without lists.
        """),
      .number(
        "maximum-bytes", \.sessions.bytes,
        "Maximum bytes of configurations, states and kept updates of all sessions, without lists."),
      .number(
        "maximum-sessions", \.sessions.sessions,
        "Maximum sessions with a handle, which outlive their connections; sleeping ones do not count."
      ),
      .number(
        "maximum-sessions-per-identity", \.sessions.sessionsPerIdentity,
        default: "--maximum-sessions", "Maximum sessions of one identity."),
      .seconds(
        "session-time", \.sessionTime,
        "Seconds that a session outlives its last connection."),
      .seconds(
        "sleep-after", \.sessions.sleepAfter,
        """
        Seconds without a connection after which a session without work leaves the memory, with --data-dir or \
        --database; 0: never.
        """),
      .number(
        "history-bytes", \.sessions.historyBytes, least: 0,
        "Maximum bytes of updates that are kept per store for clients that reconnect."),
      .number(
        "maximum-frontend-names", \.sessions.frontendNames,
        "Maximum frontend names that one session remembers."),
    ]
  }

  private static var builtinLimits: [ServeOption] {
    [
      .number(
        "maximum-title-bytes", \.texts.titleBytes, most: TodoTitle.maximumBytes,
        "Maximum bytes of the title of a todo; at most \(TodoTitle.maximumBytes)."),
      .number(
        "maximum-field-bytes", \.texts.fieldBytes, most: FormEntry.maximumBytes,
        "Maximum bytes of an entry of a form; at most \(FormEntry.maximumBytes)."),
      .number("maximum-todos-per-list", \.todos.list.todos, "Maximum todos in one list."),
      .number(
        "maximum-todo-bytes-per-list", \.todos.list.bytes,
        """
        Maximum bytes of one list: titles, ids, and \(TodoSize.bytesPerTodo) for each todo. Its \
        JSON is at most six times as long.
        """),
      .number(
        "maximum-todos-per-database", \.todos.database.todos,
        "Maximum todos in all lists of the database."),
      .number(
        "maximum-todo-bytes-per-database", \.todos.database.bytes,
        "Maximum bytes of all lists of the database."),
      .number(
        "maximum-todos-per-session", \.todos.session.todos,
        "Maximum todos in all in-memory lists of one session."),
      .number(
        "maximum-todo-bytes-per-session", \.todos.session.bytes,
        "Maximum bytes of all in-memory lists of one session."),
      .number(
        "maximum-todos-per-identity", \.todos.todosPerIdentity, default: "half of --maximum-todos",
        "Maximum todos in all in-memory lists of one identity."),
      .number(
        "maximum-todo-bytes-per-identity", \.todos.bytesPerIdentity,
        default: "half of --maximum-todo-bytes",
        "Maximum bytes of all in-memory lists of one identity."),
      .number("maximum-todos", \.todos.memory.todos, "Maximum todos in all in-memory lists."),
      .number("maximum-todo-bytes", \.todos.memory.bytes, "Maximum bytes of all in-memory lists."),
      .number("maximum-source-bytes", \.sourceBytes, "Maximum bytes of the data of one source."),
      .number(
        "maximum-cache-bytes", \.cacheBytes,
        "Maximum bytes of the values that loaders of all sessions cache."),
    ]
  }
}
