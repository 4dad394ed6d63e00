// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Statewire: the folder in STATEWIRE_CHECKOUT, if this variable is set.
let statewire: Package.Dependency =
  if let folder = Context.environment["STATEWIRE_CHECKOUT"] {
    .package(name: "statewire", path: folder)
  } else {
    .package(name: "statewire", path: "../..")
  }

let package = Package(
  name: "counter",
  products: [.executable(name: "counter", targets: ["CounterServer"])],
  dependencies: [
    statewire
  ],
  targets: [
    .executableTarget(
      name: "CounterServer",
      dependencies: [
        .product(name: "StateMachines", package: "statewire"),
        .product(name: "StatewireServer", package: "statewire"),
      ]),
    .testTarget(
      name: "CounterServerTests",
      dependencies: [
        "CounterServer",
        .product(name: "StateMachinesTesting", package: "statewire"),
      ]),
  ]
)
