// SPDX-License-Identifier: Apache-2.0

// TransportSupport: the functions that the transports of the server and those of clients share.
//
// - `ServerAddress`: an address at which a server listens and to which a client connects.
// - `systemMessage`: the system's description of an error number.
// - `WholeFile`: reading of a file to its end. `TemporaryFolder`: a new, empty folder.
// - `Channel.closeOnExec`: sockets that child processes do not inherit.
// - `PEMFile`: the reason why a file with certificates or a key cannot be used.
//
// This module must not contain anything that only one of the two sides needs.
