/* SPDX-License-Identifier: MIT */
/*
 * histogram.c - times in buckets that grow with them.
 *
 * Log-linear: the first 16 buckets are one nanosecond wide, and each doubling from there on has 8 of
 * equal width. So a bucket is at most an eighth as wide as what is in it.
 */
#include "observe/observe_internal.h"

enum { SUB_BITS = 3, SUB = 1 << SUB_BITS };

static size_t bucket_of(rota_ns time)
{
    uint64_t value = time > 0 ? (uint64_t)time : 0;
    unsigned top;
    size_t bucket;

    if (value < 2 * SUB)
        return (size_t)value;
    top = 63 - (unsigned)__builtin_clzll(value) - SUB_BITS; /* value >> top is SUB to 2 * SUB - 1 */
    bucket = (size_t)top * SUB + (size_t)(value >> top);
    return bucket < ROTA_HISTOGRAM_BUCKETS ? bucket : ROTA_HISTOGRAM_BUCKETS - 1;
}

/* The least that is not in it any more. */
static rota_ns end_of(size_t bucket)
{
    size_t top = bucket < 2 * SUB ? 0 : bucket / SUB - 1;

    return (rota_ns)((uint64_t)(bucket - top * SUB + 1) << top);
}

static rota_ns middle_of(size_t bucket)
{
    rota_ns begin = bucket > 0 ? end_of(bucket - 1) : 0;

    return begin + (end_of(bucket) - 1 - begin) / 2;
}

void rota_histogram_add(rota_histogram *histogram, rota_ns time)
{
    if (histogram == NULL)
        return;
    histogram->count++;
    histogram->sum += time > 0 ? (uint64_t)time : 0;
    histogram->bucket[bucket_of(time)]++;
    if (time > histogram->max)
        histogram->max = time;
}

void rota_histogram_merge(rota_histogram *into, const rota_histogram *from)
{
    if (into == NULL || from == NULL)
        return;
    into->count += from->count;
    into->sum += from->sum;
    if (from->max > into->max)
        into->max = from->max;
    for (size_t i = 0; i < ROTA_HISTOGRAM_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
}

/* Which of them, in order, that is: from 1. */
static uint64_t rank_of(const rota_histogram *histogram, double part)
{
    double rank = part * (double)histogram->count;
    uint64_t whole = (uint64_t)rank;

    if ((double)whole < rank)
        whole++;
    return whole > 0 ? whole : 1;
}

rota_ns rota_histogram_quantile(const rota_histogram *histogram, double part)
{
    uint64_t rank, seen = 0;

    if (histogram == NULL || histogram->count == 0)
        return 0;
    if (part >= 1)
        return histogram->max;
    rank = rank_of(histogram, part > 0 ? part : 0);
    for (size_t i = 0; i < ROTA_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->bucket[i];
        if (seen >= rank)
            return middle_of(i) < histogram->max ? middle_of(i) : histogram->max;
    }
    return histogram->max;
}

uint64_t rota_histogram_up_to(const rota_histogram *histogram, rota_ns time)
{
    uint64_t count = 0;

    if (histogram == NULL || time < 0)
        return 0;
    for (size_t i = 0; i <= bucket_of(time); i++)
        count += histogram->bucket[i];
    return count;
}

/* -- Of a thread ---------------------------------------------------------- */

void rota__tally_add(rota__tally *tally, rota_ns time)
{
    rota__atomic(uint64_t) *bucket = &tally->bucket[bucket_of(time)];

    if (time < 0)
        time = 0;
    rota__store_relaxed(bucket, rota__load_relaxed(bucket) + 1); /* observe.B1 */
    rota__store_relaxed(&tally->sum, rota__load_relaxed(&tally->sum) + (uint64_t)time);
    if (time > rota__load_relaxed(&tally->max))
        rota__store_relaxed(&tally->max, time);
}

void rota__tally_clear(rota__tally *tally)
{
    rota__store_relaxed(&tally->sum, 0);
    rota__store_relaxed(&tally->max, 0);
    for (size_t i = 0; i < ROTA_HISTOGRAM_BUCKETS; i++)
        rota__store_relaxed(&tally->bucket[i], 0);
}

void rota__tally_merge(rota_histogram *into, const rota__tally *from)
{
    rota_ns max = rota__load_relaxed(&from->max);

    into->sum += rota__load_relaxed(&from->sum);
    if (max > into->max)
        into->max = max;
    for (size_t i = 0; i < ROTA_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = rota__load_relaxed(&from->bucket[i]);
        into->bucket[i] += count;
        into->count += count;
    }
}
