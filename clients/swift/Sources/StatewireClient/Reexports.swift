// SPDX-License-Identifier: Apache-2.0

// Inputs, view states and errors are types of the protocol. A program that imports the client needs
// no second import.
@_exported public import StatewireJSON
@_exported public import StatewireProtocol
