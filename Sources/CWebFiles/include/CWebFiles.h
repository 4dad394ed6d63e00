// SPDX-License-Identifier: Apache-2.0
//
// The files that `statewire serve --web` serves, embedded so that a machine needs only the program. In
// C, because `#embed` takes no time, whereas SwiftPM's resources in code cost the compiler half a minute
// for 60 KB. The build detects a change of an embedded file.

#ifndef C_WEB_FILES_H
#define C_WEB_FILES_H

#include <stddef.h>

// A file and its path.
struct web_file {
  // The path of the URL, without the first slash.
  const char *path;
  const unsigned char *bytes;
  size_t count;
};

// Returns the i-th file; its path is NULL after the last one.
struct web_file web_file(size_t i);

#endif
