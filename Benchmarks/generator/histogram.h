// SPDX-License-Identifier: Apache-2.0
//
// A histogram of durations in steps of less than 1.6 % of their length.
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

enum { STEPS = 64 };

struct histogram {
  uint64_t count, longest;
  uint64_t counts[59 * STEPS];
};

void record(struct histogram *histogram, uint64_t nanoseconds);
/// Returns the quantile for a share from 0 to 1, in microseconds; 0 if nothing was recorded.
double quantile(const struct histogram *histogram, double share);

#endif
