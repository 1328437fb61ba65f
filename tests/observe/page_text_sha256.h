/* SPDX-License-Identifier: MIT */
#ifndef ROTA_TEST_PAGE_TEXT_SHA256_H
#define ROTA_TEST_PAGE_TEXT_SHA256_H

#include <stddef.h>

enum { SHA256_TEXT = 45 };

/* The hash of `size` bytes in base64, as a Content-Security-Policy has it. */
void sha256_base64(char text[SHA256_TEXT], const void *bytes, size_t size);

#endif
