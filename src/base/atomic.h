/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - every atomic operation of the library, with its order in its name.
 *
 * Above os, no other file uses atomics. The explorer implements this header in its own way, and
 * decides which thread runs between any two operations. There are no fences. Each use that is not
 * relaxed names its partner: the operation of another thread that it is ordered against.
 */
/* layers: atomics, this is where they are */
/* layers: explorer, it implements this header in its own way */
#ifndef ROTA_BASE_ATOMIC_H
#define ROTA_BASE_ATOMIC_H

#ifdef ROTA_EXPLORE
#include "explore_atomic.h"
#else

#include <stdatomic.h>
#include <stdint.h>

#define rota__atomic(type) _Atomic(type)

#define rota__load_relaxed(object) atomic_load_explicit(object, memory_order_relaxed)
#define rota__load_acquire(object) atomic_load_explicit(object, memory_order_acquire)

#define rota__store_relaxed(object, value) \
    atomic_store_explicit(object, value, memory_order_relaxed)
#define rota__store_release(object, value) \
    atomic_store_explicit(object, value, memory_order_release)

/* Each returns the previous value. */
#define rota__swap_acquire(object, value) \
    atomic_exchange_explicit(object, value, memory_order_acquire)
#define rota__swap_release(object, value) \
    atomic_exchange_explicit(object, value, memory_order_release)
#define rota__swap_acq_rel(object, value) \
    atomic_exchange_explicit(object, value, memory_order_acq_rel)

#define rota__add_relaxed(object, value) \
    atomic_fetch_add_explicit(object, value, memory_order_relaxed)
#define rota__add_release(object, value) \
    atomic_fetch_add_explicit(object, value, memory_order_release)
#define rota__add_acq_rel(object, value) \
    atomic_fetch_add_explicit(object, value, memory_order_acq_rel)
#define rota__sub_release(object, value) \
    atomic_fetch_sub_explicit(object, value, memory_order_release)
#define rota__sub_acq_rel(object, value) \
    atomic_fetch_sub_explicit(object, value, memory_order_acq_rel)
#define rota__or_acq_rel(object, value) \
    atomic_fetch_or_explicit(object, value, memory_order_acq_rel)

/* Returns true if *object was *expected and is now `desired`. If not, *expected is the value of
   *object. */
#define rota__cas_acquire(object, expected, desired)                                         \
    atomic_compare_exchange_strong_explicit(object, expected, desired, memory_order_acquire, \
                                            memory_order_acquire)
#define rota__cas_acq_rel(object, expected, desired)                                         \
    atomic_compare_exchange_strong_explicit(object, expected, desired, memory_order_acq_rel, \
                                            memory_order_acquire)

#endif /* ROTA_EXPLORE */
#endif
