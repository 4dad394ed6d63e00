// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The additional flags of `make release`.
///
/// Functions can be inlined into the modules that call them, so that the code path of an input is
/// specialised for its store. Exclusive access is not checked at run time; debug builds and tests
/// check it. Packages that depend on this one do not get these flags: SwiftPM rejects unsafe flags
/// of dependencies.
let optimised: [SwiftSetting] =
  Context.environment["STATEWIRE_OPTIMISED"] == nil
  ? []
  : [
    .unsafeFlags(
      ["-cross-module-optimization", "-enforce-exclusivity=unchecked"],
      .when(configuration: .release))
  ]

/// The flags of a target that uses values whose members come from modules that it does not import.
let atSeam: [SwiftSetting] =
  optimised + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ]

/// The flags of every other target: upcoming features that the Swift 6 language mode does not
/// enable.
let strict = atSeam + [.enableUpcomingFeature("MemberImportVisibility")]

/// The flag of targets whose time is that of files, databases and other processes, or that run at the start
/// and in other commands: `make release` makes them small in place of fast.
let small: [SwiftSetting] =
  Context.environment["STATEWIRE_OPTIMISED"] == nil
  ? [] : [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// Facts of the build that `make release` sets: texts of `statewire --version`, and the symbol of the
/// data of ICU (see `Scripts/icu-data`).
let facts: [CSetting] =
  ["STATEWIRE_COMMIT", "STATEWIRE_TOOLCHAIN"].compactMap { name in
    Context.environment[name].map { .define(name, to: "\"\($0)\"") }
  }
  + ["STATEWIRE_ICU_SYMBOL"].compactMap { name in
    Context.environment[name].flatMap { $0.isEmpty ? nil : .define(name, to: $0) }
  }

let nio = "swift-nio"
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

let package = Package(
  name: "statewire",
  // For the client. The server supports Linux only.
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "statewire", targets: ["statewire"]),
    .library(name: "VersionedList", targets: ["VersionedList"]),
    .library(name: "StateMachines", targets: ["StateMachines"]),
    .library(name: "StateMachinesTesting", targets: ["StateMachinesTesting"]),
    .library(name: "Documents", targets: ["Documents"]),
    .library(name: "BuiltinStores", targets: ["BuiltinStores"]),
    .library(name: "StatewireJSON", targets: ["StatewireJSON"]),
    .library(name: "StatewireProtocol", targets: ["StatewireProtocol"]),
    .library(name: "BuiltinStoresProtocol", targets: ["BuiltinStoresProtocol"]),
    .library(name: "Wire", targets: ["Wire"]),
    .library(name: "Sessions", targets: ["Sessions"]),
    .library(name: "Delivery", targets: ["Delivery"]),
    .library(name: "ServerCore", targets: ["ServerCore"]),
    .library(name: "TransportSupport", targets: ["TransportSupport"]),
    .library(name: "Transports", targets: ["Transports"]),
    .library(name: "Admin", targets: ["Admin"]),
    .library(name: "ClientTransports", targets: ["ClientTransports"]),
    .library(name: "BuiltinKinds", targets: ["BuiltinKinds"]),
    .library(name: "ClientTypes", targets: ["ClientTypes"]),
    .library(name: "SQLiteFiles", targets: ["SQLiteFiles"]),
    .library(name: "SQLiteDocuments", targets: ["SQLiteDocuments"]),
    .library(name: "StoredTodoLists", targets: ["StoredTodoLists"]),
    .library(name: "SQLiteTodoDatabase", targets: ["SQLiteTodoDatabase"]),
    .library(name: "SQLiteLedger", targets: ["SQLiteLedger"]),
    .library(name: "SQLiteSessionJournal", targets: ["SQLiteSessionJournal"]),
    .library(name: "EmbeddedStorage", targets: ["EmbeddedStorage"]),
    .library(name: "PostgresConnections", targets: ["PostgresConnections"]),
    .library(name: "PostgresSessionJournal", targets: ["PostgresSessionJournal"]),
    .library(name: "PostgresStorage", targets: ["PostgresStorage"]),
    .library(name: "RemoteSources", targets: ["RemoteSources"]),
    .library(name: "StatewireServer", targets: ["StatewireServer"]),
    .library(name: "StatewirePage", targets: ["StatewirePage"]),
    .library(name: "StatewireClient", targets: ["StatewireClient"]),
    .library(name: "StatewireObservation", targets: ["StatewireObservation"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // The core: no dependencies outside the toolchain and swift-collections.
    .target(name: "StatewireJSON", swiftSettings: strict),
    .target(
      name: "StatewireProtocol",
      dependencies: ["StatewireJSON"],
      path: "Protocol",
      exclude: ["Conversations", "Schemas", "Stores"],
      swiftSettings: strict
    ),
    .target(
      name: "BuiltinStoresProtocol",
      dependencies: ["StatewireJSON", "StatewireProtocol"],
      path: "Protocol/Stores",
      swiftSettings: strict
    ),
    .target(name: "VersionedList", dependencies: ["StatewireJSON"], swiftSettings: strict),
    .target(
      name: "StateMachines",
      dependencies: ["StatewireJSON", "VersionedList", deque],
      swiftSettings: strict
    ),
    .target(
      name: "StateMachinesTesting",
      dependencies: ["StateMachines", "StatewireJSON"],
      swiftSettings: strict
    ),
    // Tables and documents for stores of one's own.
    .target(
      name: "Documents",
      dependencies: ["StateMachines", "StatewireJSON", "VersionedList"],
      swiftSettings: strict
    ),
    .target(
      name: "BuiltinStores",
      dependencies: ["BuiltinStoresProtocol", "StateMachines", "StatewireJSON"],
      swiftSettings: strict
    ),
    .target(
      name: "Wire", dependencies: ["StatewireProtocol", "StatewireJSON"], swiftSettings: strict),
    .target(
      name: "Sessions",
      dependencies: ["StateMachines", "StatewireProtocol", "StatewireJSON", deque],
      swiftSettings: strict
    ),
    .target(
      name: "Delivery",
      dependencies: ["Sessions", "StatewireProtocol", "StatewireJSON", "Wire", deque],
      swiftSettings: strict
    ),
    .target(
      name: "BuiltinKinds", dependencies: ["BuiltinStores", "Sessions"], swiftSettings: strict),
    .target(name: "ClientTypes", dependencies: ["StatewireJSON"], swiftSettings: strict + small),

    // The rim: sockets, files, databases and logs.
    .target(
      name: "ServerCore",
      dependencies: [
        "Delivery", "Sessions", "StatewireProtocol", "StatewireJSON", "Wire",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    // Shared by the transports of the server and of the clients.
    .target(
      name: "TransportSupport",
      dependencies: [.product(name: "NIOCore", package: nio)],
      swiftSettings: strict
    ),
    .target(
      name: "Transports",
      dependencies: [
        "ServerCore", "StatewireJSON", "TransportSupport", "Wire", deque,
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOPosix", package: nio),
        .product(name: "NIOTLS", package: nio),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    // The interface of operators: health, metrics, console.
    .target(
      name: "Admin",
      dependencies: [
        "ServerCore", "StatewireJSON", "TransportSupport", "Transports", "Wire",
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOPosix", package: nio),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict + small
    ),
    .target(
      name: "ClientTransports",
      dependencies: [
        "TransportSupport", "Wire",
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOPosix", package: nio),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict + small
    ),
    // Storage in SQLite. Each module after `SQLiteFiles` implements a protocol of the core.
    .target(
      name: "SQLiteFiles",
      dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: strict + small
    ),
    .target(
      name: "SQLiteDocuments",
      dependencies: [
        "Documents", "SQLiteFiles", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict + small
    ),
    // Todo lists over any database.
    .target(
      name: "StoredTodoLists", dependencies: ["BuiltinStores"], swiftSettings: strict + small),
    .target(
      name: "SQLiteTodoDatabase",
      dependencies: [
        "BuiltinStores", "SQLiteFiles", "StoredTodoLists",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict + small
    ),
    .target(
      name: "SQLiteLedger",
      dependencies: [
        "BuiltinStores", "SQLiteFiles", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict + small
    ),
    .target(
      name: "SQLiteSessionJournal",
      dependencies: [
        "CCrashes", "SQLiteFiles", "Sessions", "StatewireJSON",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict
    ),
    // The todo lists and the ledger in one file.
    .target(
      name: "EmbeddedStorage",
      dependencies: [
        "BuiltinStores", "SQLiteFiles", "SQLiteLedger", "SQLiteTodoDatabase", "StoredTodoLists",
      ],
      swiftSettings: strict + small
    ),
    // Storage in PostgreSQL. libpq is loaded at run time: the build needs nothing of it.
    .target(name: "CPostgres"),
    .target(
      name: "PostgresConnections", dependencies: ["CPostgres"], swiftSettings: strict + small),
    .target(
      name: "PostgresSessionJournal",
      dependencies: ["PostgresConnections", "Sessions", "StateMachines"],
      swiftSettings: strict + small
    ),
    .target(
      name: "PostgresStorage",
      dependencies: [
        "BuiltinStores", "Documents", "PostgresConnections", "StateMachines", "StoredTodoLists",
      ],
      swiftSettings: strict + small
    ),
    .target(
      name: "RemoteSources",
      dependencies: [
        "BuiltinStores", "StatewireJSON",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: nio),
      ],
      // Responses of AsyncHTTPClient have members of NIOHTTP1.
      swiftSettings: atSeam + small
    ),
    // Spans for a collector of OpenTelemetry.
    .target(
      name: "TraceExport",
      dependencies: [
        "ServerCore", "StateMachines", "StatewireJSON",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: nio),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      // Responses of AsyncHTTPClient have members of NIOHTTP1.
      swiftSettings: atSeam + small
    ),
    .target(
      name: "Conversations", dependencies: ["ClientTransports", "StatewireJSON"],
      swiftSettings: strict + small),
    // Signal handlers that record crashes.
    .target(name: "CChildPrograms"),
    .target(
      name: "ProcessStores",
      dependencies: ["CChildPrograms", "Sessions", "StateMachines", "StatewireJSON", deque],
      swiftSettings: strict),
    .target(name: "CCrashes"),
    // The page, the JavaScript client and the template of `statewire new`, embedded with `#embed`.
    .target(name: "CEmbeddedFiles", cSettings: facts),
    .target(name: "StatewirePage", dependencies: ["CEmbeddedFiles"], swiftSettings: strict + small),
    .target(
      name: "StatewireServer",
      dependencies: [
        "Admin", "BuiltinKinds", "BuiltinStores", "ClientTransports", "ClientTypes", "Documents",
        "EmbeddedStorage", "PostgresConnections", "PostgresSessionJournal", "PostgresStorage",
        "ProcessStores",
        "RemoteSources", "SQLiteDocuments", "SQLiteFiles", "SQLiteLedger", "SQLiteSessionJournal",
        "SQLiteTodoDatabase", "ServerCore", "Sessions", "StateMachines", "StatewireJSON",
        "StatewirePage", "StatewireProtocol", "StoredTodoLists", "TraceExport",
        "TransportSupport", "Transports",
        deque,
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOHTTP1", package: nio),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: strict + small
    ),
    .executableTarget(
      name: "statewire",
      dependencies: [
        "BuiltinStores", "CEmbeddedFiles", "ClientTransports", "Conversations", "EmbeddedStorage",
        "PostgresConnections", "PostgresSessionJournal", "PostgresStorage", "SQLiteLedger",
        "StatewireJSON", "StatewirePage", "StatewireProtocol", "StatewireServer",
        "TransportSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict + small
    ),

    // Frontends in Swift: the client library, the example of its README, and its benchmark.
    .target(
      name: "StatewireClient",
      dependencies: ["ClientTransports", "StatewireProtocol", "StatewireJSON"],
      path: "clients/swift/Sources/StatewireClient",
      swiftSettings: strict
    ),
    // View models for Observation and SwiftUI.
    .target(
      name: "StatewireObservation",
      dependencies: ["StatewireClient"],
      path: "clients/swift/Sources/StatewireObservation",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "ShoppingList",
      dependencies: ["BuiltinStoresProtocol", "StatewireClient"],
      path: "clients/swift/Sources/ShoppingList",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "ClientThroughput",
      dependencies: ["BuiltinStoresProtocol", "StatewireClient"],
      path: "clients/swift/Sources/ClientThroughput",
      swiftSettings: strict
    ),

    // The example of README.
    .executableTarget(
      name: "Stopwatch",
      dependencies: ["StateMachines", "StatewireServer"],
      path: "Examples/Stopwatch",
      swiftSettings: strict
    ),
    // A store of two others, with undo and autosave.
    .executableTarget(
      name: "Kanban",
      dependencies: ["StateMachines", "StatewireServer"],
      path: "Examples/Kanban",
      exclude: ["web", "board.py", "desk.py"],
      swiftSettings: strict
    ),
    // A store that all sessions share, with different views.
    .executableTarget(
      name: "Auction",
      dependencies: ["StateMachines", "StatewireServer"],
      path: "Examples/Auction",
      exclude: ["web"],
      swiftSettings: strict
    ),
    // A store on a stored table.
    .executableTarget(
      name: "GuestBook",
      dependencies: ["Documents", "StateMachines", "StatewireServer"],
      path: "Examples/GuestBook",
      exclude: ["guestbook.conversation"],
      swiftSettings: strict
    ),

    // The project that `statewire new` writes.
    .executableTarget(
      name: "CounterServer",
      dependencies: ["StateMachines", "StatewireServer"],
      path: "Examples/Template/Sources/CounterServer",
      swiftSettings: strict
    ),
    .testTarget(
      name: "CounterServerTests",
      dependencies: ["CounterServer", "StateMachinesTesting"],
      path: "Examples/Template/Tests/CounterServerTests",
      swiftSettings: strict),

    // The server of docs/reference/types.md, with which tests check the forms of all types.
    .executableTarget(
      name: "TypesServer",
      dependencies: ["StateMachines", "StatewireJSON", "StatewireServer"],
      path: "Tests/TypesServer",
      swiftSettings: strict
    ),

    // Several versions of a durable store, for tests.
    .executableTarget(
      name: "EvolvingServer",
      dependencies: ["StateMachines", "StatewireServer"],
      path: "Tests/EvolvingServer",
      swiftSettings: strict
    ),

    // A store of ten others beside one of them, for benchmarks.
    .executableTarget(
      name: "ComposedServer",
      dependencies: ["StateMachines", "StatewireServer"],
      path: "Benchmarks/composed",
      swiftSettings: strict
    ),

    // Tests mirror the sources. `TestSupport` is shared and imports no module of the package.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "TransportTestSupport",
      dependencies: [
        "ClientTransports", "ServerCore", "TestSupport", "Transports",
        .product(name: "NIOCore", package: nio),
      ],
      path: "Tests/TransportTestSupport", swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "ClientTransports", "Conversations", "ServerCore", "StatewireJSON", "StatewirePage",
        "StatewireProtocol", "StatewireServer", "TestSupport", "Transports",
        .product(name: "Logging", package: "swift-log"),
        "EvolvingServer", "statewire",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ExamplesTests",
      dependencies: [
        "Auction", "BuiltinStores", "BuiltinStoresProtocol", "ClientTransports", "Conversations",
        "Documents", "GuestBook", "Kanban",
        "ServerCore", "Sessions", "StateMachines", "StateMachinesTesting", "StatewireJSON",
        "StatewireServer", "Stopwatch", "TestSupport", "Transports",
        "TypesServer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "StatewireServerTests",
      dependencies: [
        "Admin", "BuiltinStores", "ClientTransports", "Documents", "ProcessStores", "RemoteSources",
        "SQLiteFiles", "ServerCore",
        "StateMachines", "StatewireProtocol", "StatewireServer", "TestSupport", "Transports",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "StatewireClientTests",
      // The programs are started, not imported.
      dependencies: [
        "BuiltinStoresProtocol", "ShoppingList", "StatewireClient", "StatewireObservation",
        "Stopwatch", "TestSupport", "statewire",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "StatewireJSONTests", dependencies: ["StatewireJSON", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "VersionedListTests",
      dependencies: ["StatewireJSON", "TestSupport", "VersionedList"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "StateMachinesTests",
      dependencies: ["StateMachines", "StateMachinesTesting", "StatewireJSON", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ProcessStoresTests",
      dependencies: ["ProcessStores", "StateMachines", "StatewireJSON", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "StateMachinesTestingTests",
      dependencies: ["StateMachines", "StateMachinesTesting", "StatewireJSON"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "DocumentsTests",
      dependencies: [
        "Documents", "StateMachines", "StateMachinesTesting", "StatewireJSON", "TestSupport",
        "VersionedList",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ProtocolTests",
      dependencies: ["StatewireJSON", "StatewireProtocol"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "BuiltinStoresProtocolTests",
      dependencies: ["BuiltinStoresProtocol", "StatewireJSON"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "BuiltinStoresTests",
      dependencies: [
        "BuiltinStores", "BuiltinStoresProtocol", "StateMachines", "StateMachinesTesting",
        "StatewireJSON", "TestSupport",
      ],
      swiftSettings: strict),
    // `GeneratedOdd.swift` is the expected text in Swift, compiled for the Swift client.
    .testTarget(
      name: "ClientTypesTests",
      dependencies: ["ClientTypes", "StatewireClient", "StatewireJSON", "TestSupport"],
      exclude: ["Golden"],
      swiftSettings: strict),
    .testTarget(
      name: "WireTests", dependencies: ["StatewireJSON", "TestSupport", "Wire"],
      swiftSettings: strict),
    .testTarget(
      name: "SessionsTests",
      dependencies: [
        "Sessions", "StateMachines", "StatewireJSON", "StatewireProtocol", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ConversationsTests",
      dependencies: [
        "ClientTransports", "Conversations", "Sessions", "StatewireJSON", "TestSupport",
      ],
      swiftSettings: strict),
    // Shared by the tests of storage; needs stores and GRDB.
    .target(
      name: "StorageTestSupport",
      dependencies: [
        "BuiltinStores", "BuiltinStoresProtocol", "Documents", "SQLiteFiles", "StateMachines",
        "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/StorageTestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteFilesTests",
      dependencies: [
        "SQLiteFiles", "StorageTestSupport", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteDocumentsTests",
      dependencies: [
        "Documents", "SQLiteDocuments", "SQLiteFiles", "StateMachines", "StatewireJSON",
        "StorageTestSupport", "TestSupport", "VersionedList",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "StoredTodoListsTests", dependencies: ["StateMachines", "StoredTodoLists"],
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteTodoDatabaseTests",
      dependencies: [
        "BuiltinStores", "SQLiteFiles", "SQLiteTodoDatabase", "Sessions", "StateMachines",
        "BuiltinStoresProtocol", "StorageTestSupport", "StoredTodoLists", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteLedgerTests",
      dependencies: [
        "BuiltinStores", "SQLiteFiles", "SQLiteLedger", "Sessions", "StateMachines",
        "BuiltinStoresProtocol", "StorageTestSupport", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    // Shared by the tests of journals: a reference model, and random turns.
    .target(
      name: "JournalTestSupport", dependencies: ["Sessions", "StateMachines"],
      path: "Tests/JournalTestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteSessionJournalTests",
      dependencies: [
        "JournalTestSupport", "SQLiteFiles", "SQLiteSessionJournal", "Sessions",
        "StorageTestSupport", "TestSupport",
      ],
      swiftSettings: strict),
    // The tests that every journal must pass.
    .testTarget(
      name: "SessionJournalTests",
      dependencies: [
        "JournalTestSupport", "PostgresConnections", "PostgresSessionJournal",
        "PostgresTestSupport", "SQLiteFiles", "SQLiteSessionJournal", "Sessions", "TestSupport",
      ],
      swiftSettings: strict),
    // Also tests that need all storage modules and the built-in store kinds.
    .testTarget(
      name: "EmbeddedStorageTests",
      dependencies: [
        "BuiltinKinds", "BuiltinStores", "EmbeddedStorage", "SQLiteFiles", "SQLiteLedger",
        "SQLiteSessionJournal", "SQLiteTodoDatabase", "Sessions", "StateMachines",
        "BuiltinStoresProtocol", "StatewireJSON", "StorageTestSupport", "TestSupport",
      ],
      swiftSettings: strict),
    // The tests that all storage of lists, documents and ledgers must pass.
    .testTarget(
      name: "StorageTests",
      dependencies: [
        "BuiltinStores", "BuiltinStoresProtocol", "Documents", "PostgresConnections",
        "PostgresSessionJournal", "PostgresStorage", "PostgresTestSupport", "SQLiteDocuments",
        "SQLiteFiles", "SQLiteLedger", "SQLiteTodoDatabase", "Sessions", "StateMachines",
        "StatewireJSON", "StorageTestSupport", "StoredTodoLists", "TestSupport",
      ],
      swiftSettings: strict),
    // Starts the server of `Tests/Postgres`.
    .target(
      name: "PostgresTestSupport",
      dependencies: ["PostgresConnections", "TestSupport"],
      path: "Tests/PostgresTestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "PostgresConnectionsTests",
      dependencies: ["PostgresConnections", "PostgresTestSupport", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PostgresSessionJournalTests",
      dependencies: [
        "JournalTestSupport", "PostgresConnections", "PostgresSessionJournal",
        "PostgresTestSupport", "Sessions", "StateMachines", "TestSupport",
      ],
      swiftSettings: strict),
    // Also tests of servers that share a database.
    .testTarget(
      name: "PostgresStorageTests",
      dependencies: [
        "BuiltinStores", "BuiltinStoresProtocol", "ClientTransports", "Documents",
        "PostgresConnections",
        "PostgresSessionJournal", "PostgresStorage", "PostgresTestSupport", "Sessions",
        "StateMachines",
        "StatewireServer", "StorageTestSupport", "StoredTodoLists", "TestSupport",
        "TransportSupport", "Transports", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RemoteSourcesTests",
      dependencies: [
        "BuiltinStores", "RemoteSources", "StateMachines", "TestSupport",
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOPosix", package: nio),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TraceExportTests",
      dependencies: [
        "Sessions", "TraceExport",
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TransportSupportTests", dependencies: ["TransportSupport"], swiftSettings: strict),
    .testTarget(
      name: "ClientTransportsTests",
      dependencies: [
        "ClientTransports", "TestSupport", "Wire",
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOPosix", package: nio),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "AdminTests",
      dependencies: [
        "Admin", "ClientTransports", "ServerCore", "StateMachines", "StatewireJSON", "TestSupport",
        "TransportTestSupport", "Transports",
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOEmbedded", package: nio),
        .product(name: "NIOPosix", package: nio),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TransportsTests",
      dependencies: [
        "ClientTransports", "JournalTestSupport", "ServerCore", "StateMachines", "StatewireJSON",
        "TestSupport", "TransportTestSupport", "Transports", "Wire",
        .product(name: "NIOCore", package: nio),
        .product(name: "NIOEmbedded", package: nio),
        .product(name: "NIOPosix", package: nio),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DeliveryTests",
      dependencies: ["Delivery", "Sessions", "StatewireJSON", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ServerCoreTests",
      dependencies: [
        "BuiltinStores", "Delivery", "ServerCore", "Sessions", "StateMachines", "StatewireJSON",
        "StatewireProtocol", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  // Required for `#embed`.
  cLanguageStandard: .c2x
)
