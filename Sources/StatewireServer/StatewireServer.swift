// SPDX-License-Identifier: Apache-2.0

// The whole server as a library.
//
//     ServerProgram            a program with its own kinds and the command line of `statewire`
//       -> ServeCommand        the command `serve` (SchemaCommand: `schema`)
//         -> ServeOptions      the values of its options; ServeOption declares each option once
//           -> ServerConfiguration
//             -> Server.run    files, tokens, certificate, journal, signals: from start to end
//
// A program without a command line starts at `ServerConfiguration`.
