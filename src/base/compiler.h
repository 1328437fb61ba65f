/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - extensions of C11 that gcc and clang offer.
 */
/* layers: platform, thread-local storage and the pause instruction differ */
#ifndef ROTA_BASE_COMPILER_H
#define ROTA_BASE_COMPILER_H

#include <stddef.h>

#define ROTA__LIKELY(x)     __builtin_expect(!!(x), 1)
#define ROTA__UNLIKELY(x)   __builtin_expect(!!(x), 0)
#define ROTA__NOINLINE      __attribute__((noinline))
#define ROTA__ALWAYS_INLINE inline __attribute__((always_inline))

/* A function on the way of every task: it does not clear registers when it returns. */
#if defined(__has_attribute)
#if __has_attribute(zero_call_used_regs)
#define ROTA__HOT __attribute__((zero_call_used_regs("skip")))
#endif
#endif
#ifndef ROTA__HOT
#define ROTA__HOT
#endif

#define ROTA__CACHE_LINE 64 /* bytes */

/* Fetches memory that will be needed soon. */
#define ROTA__PREFETCH(address) __builtin_prefetch(address)

/* Returns the struct whose `member` is at `pointer`. */
#define ROTA__CONTAINER(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#define ROTA__CONST_CONTAINER(pointer, type, member) \
    ((const type *)(const void *)((const char *)(pointer)-offsetof(type, member)))

/*
 * How thread-local data is found. With glibc the few bytes of the library fit into the static area
 * of every thread, also after dlopen, so that no call is needed. Other C libraries do not promise
 * that.
 */
#if defined(__GLIBC__)
#define ROTA__TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ROTA__TLS_MODEL
#endif

/* 1 if the frame of a function is on the stack. The address sanitizer may keep it elsewhere. */
#if defined(__SANITIZE_ADDRESS__)
#define ROTA__FRAMES_ARE_STACKED 0
#elif defined(__has_feature)
#define ROTA__FRAMES_ARE_STACKED (!__has_feature(address_sanitizer))
#else
#define ROTA__FRAMES_ARE_STACKED 1
#endif

/* Keeps the compiler from moving accesses across it. */
#define rota__compiler_barrier() __asm__ volatile("" ::: "memory")

/* Fetches a cache line that this thread will write, and that another CPU has written last. */
static inline void rota__prefetch_for_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/* Tells the CPU that this thread is spinning. */
static inline void rota__cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
