/* SPDX-License-Identifier: MIT */
/*
 * explore_atomic.h - base/atomic.h for the explorer: each operation is a point at which another
 * thread may go first. Objects are plain memory; only one thread runs at a time.
 */
#ifndef ROTA_TESTS_EXPLORE_ATOMIC_H
#define ROTA_TESTS_EXPLORE_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ex_order { EX_RELAXED, EX_ACQUIRE, EX_RELEASE, EX_ACQ_REL } ex_order;
typedef enum ex_rmw { EX_SWAP, EX_ADD, EX_SUB, EX_OR } ex_rmw;

uint64_t ex_load(const void *object, size_t size, ex_order order, const char *file, int line);
void ex_store_value(void *object, size_t size, uint64_t value, ex_order order, const char *file,
                    int line);
uint64_t ex_modify(void *object, size_t size, ex_rmw how, uint64_t value, ex_order order,
                   const char *file, int line);
bool ex_cas(void *object, size_t size, uint64_t *expected, uint64_t desired, ex_order order,
            const char *file, int line);
/* The same as a load and a store, for deliberate bugs. */
uint64_t ex_torn_modify(void *object, size_t size, ex_rmw how, uint64_t value, ex_order order,
                        const char *file, int line);
bool ex_torn_cas(void *object, size_t size, uint64_t *expected, uint64_t desired, ex_order order,
                 const char *file, int line);

#define rota__atomic(type) __typeof__(type)

/* What an integer or a pointer is as 64 bits. */
#define EX_BITS(value)  ((uint64_t)(uintptr_t)(value))
#define EX_TYPE(object) __typeof__(*(object))
#define EX_LOAD(object, order)                                                                     \
    ((__typeof__((void)0, *(object)))(uintptr_t)ex_load(object, sizeof *(object), order, __FILE__, \
                                                        __LINE__))
#define EX_STORE(object, value, order) \
    ex_store_value(object, sizeof *(object), EX_BITS(value), order, __FILE__, __LINE__)
#define EX_MODIFY_BY(function, object, value, how, order)                                       \
    __extension__({                                                                             \
        uint64_t ex_old =                                                                       \
            function(object, sizeof *(object), how, EX_BITS(value), order, __FILE__, __LINE__); \
        (EX_TYPE(object))(uintptr_t) ex_old;                                                    \
    })
#define EX_CAS_BY(function, object, expected, desired, order)                                \
    __extension__({                                                                          \
        uint64_t ex_expected = EX_BITS(*(expected));                                         \
        bool ex_swapped = function(object, sizeof *(object), &ex_expected, EX_BITS(desired), \
                                   order, __FILE__, __LINE__);                               \
        if (!ex_swapped)                                                                     \
            *(expected) = (EX_TYPE(expected))(uintptr_t)ex_expected;                         \
        ex_swapped;                                                                          \
    })
#define EX_MODIFY(...)      EX_MODIFY_BY(ex_modify, __VA_ARGS__)
#define EX_CAS(...)         EX_CAS_BY(ex_cas, __VA_ARGS__)
#define EX_TORN_MODIFY(...) EX_MODIFY_BY(ex_torn_modify, __VA_ARGS__)
#define EX_TORN_CAS(...)    EX_CAS_BY(ex_torn_cas, __VA_ARGS__)

#define rota__load_relaxed(object)                   EX_LOAD(object, EX_RELAXED)
#define rota__load_acquire(object)                   EX_LOAD(object, EX_ACQUIRE)
#define rota__store_relaxed(object, value)           EX_STORE(object, value, EX_RELAXED)
#define rota__store_release(object, value)           EX_STORE(object, value, EX_RELEASE)
#define rota__swap_acquire(object, value)            EX_MODIFY(object, value, EX_SWAP, EX_ACQUIRE)
#define rota__swap_release(object, value)            EX_MODIFY(object, value, EX_SWAP, EX_RELEASE)
#define rota__swap_acq_rel(object, value)            EX_MODIFY(object, value, EX_SWAP, EX_ACQ_REL)
#define rota__add_relaxed(object, value)             EX_MODIFY(object, value, EX_ADD, EX_RELAXED)
#define rota__add_release(object, value)             EX_MODIFY(object, value, EX_ADD, EX_RELEASE)
#define rota__add_acq_rel(object, value)             EX_MODIFY(object, value, EX_ADD, EX_ACQ_REL)
#define rota__sub_release(object, value)             EX_MODIFY(object, value, EX_SUB, EX_RELEASE)
#define rota__sub_acq_rel(object, value)             EX_MODIFY(object, value, EX_SUB, EX_ACQ_REL)
#define rota__or_acq_rel(object, value)              EX_MODIFY(object, value, EX_OR, EX_ACQ_REL)
#define rota__cas_acquire(object, expected, desired) EX_CAS(object, expected, desired, EX_ACQUIRE)
#define rota__cas_acq_rel(object, expected, desired) EX_CAS(object, expected, desired, EX_ACQ_REL)

#endif
