/* SPDX-License-Identifier: MIT */
/* page.h - the frame of the report: head, colours for day and night, foot. */
#ifndef PAGE_H
#define PAGE_H

#include "tour.h"

void page_begin(FILE *file, const tour *t);
void page_end(FILE *file);
#endif
