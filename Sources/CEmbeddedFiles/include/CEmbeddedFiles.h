// SPDX-License-Identifier: Apache-2.0
//
// The files that the program serves and writes, embedded so that a machine needs only the program. In C,
// because `#embed` takes no time, whereas SwiftPM's resources in code cost the compiler half a minute for
// 60 KB. The build detects a change of an embedded file.

#ifndef C_EMBEDDED_FILES_H
#define C_EMBEDDED_FILES_H

#include <stddef.h>

// A file and its path.
struct embedded_file {
  // A path without the first slash, below page/, client/ or template/.
  const char *path;
  const unsigned char *bytes;
  size_t count;
};

// Returns the i-th file; its path is NULL after the last one.
struct embedded_file embedded_file(size_t i);

// The commit of the program and the version of Swift that has compiled it. `make release` sets them; they are
// empty in other builds, which are not compiled again for each commit.
const char *embedded_commit(void);
const char *embedded_toolchain(void);

#endif
