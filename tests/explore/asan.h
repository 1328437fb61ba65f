/* SPDX-License-Identifier: MIT */
/*
 * asan.h - tells the address sanitizer, where there is one, which memory may be used.
 */
#ifndef ROTA_TESTS_ASAN_H
#define ROTA_TESTS_ASAN_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EX_ASAN 1
#endif
#endif

#if defined(EX_ASAN) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define EX_ALLOW(begin, size)  __asan_unpoison_memory_region(begin, size)
#define EX_FORBID(begin, size) __asan_poison_memory_region(begin, size)
#else
#define EX_ALLOW(begin, size)  ((void)(begin), (void)(size))
#define EX_FORBID(begin, size) ((void)(begin), (void)(size))
#endif

#endif
