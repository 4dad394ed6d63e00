// SPDX-License-Identifier: Apache-2.0

// TransportSupport: the few things that the transports of the server and those of clients both need.
//
// - `ServerAddress`: where a server listens, and where a client finds it.
// - What the system says (`systemMessage`), reading a file to its end (`WholeFile`), a `TemporaryFolder`.
// - `Channel.closeOnExec`, and the reason why a `PEMFile` cannot be used.
//
// What must never be here: anything that one of the two sides alone needs.
