/* SPDX-License-Identifier: MIT */
#ifndef ROTA_SWEEP_PARTS_H
#define ROTA_SWEEP_PARTS_H

#include "sweep.h"

extern const sweep_part *const sweep_parts[];
extern const size_t sweep_part_count;

/* Ends the process if one of them is missing. */
size_t sweep_count_exports(const char *map);

#endif
