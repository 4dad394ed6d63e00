// SPDX-License-Identifier: Apache-2.0
//
// Durations, counted in steps of less than 1.6 % of their length.
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

enum { STEPS = 64 };

struct histogram {
  uint64_t count, longest;
  uint64_t counts[59 * STEPS];
};

void record(struct histogram *histogram, uint64_t nanoseconds);
/// The microseconds that this share of all took at most; 0 where there are none.
double quantile(const struct histogram *histogram, double share);

#endif
