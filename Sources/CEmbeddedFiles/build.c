// SPDX-License-Identifier: Apache-2.0

#include "CEmbeddedFiles.h"

#ifndef STATEWIRE_COMMIT
#define STATEWIRE_COMMIT ""
#endif
#ifndef STATEWIRE_TOOLCHAIN
#define STATEWIRE_TOOLCHAIN ""
#endif

const char *embedded_commit(void) { return STATEWIRE_COMMIT; }
const char *embedded_toolchain(void) { return STATEWIRE_TOOLCHAIN; }
