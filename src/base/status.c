/* SPDX-License-Identifier: MIT */
/*
 * status.c - what a status means, in words; which version this is.
 */
#include <rota/base.h>

const char *rota_strerror(int status)
{
    switch (status) {
    case ROTA_OK:
        return "success";
    case ROTA_EINVAL:
        return "an argument is NULL, out of range or contradicts another";
    case ROTA_ENOMEM:
        return "out of memory";
    case ROTA_EAGAIN:
        return "the system refused a thread, memory or a descriptor; try again later";
    case ROTA_EREJECTED:
        return "the executor is shut down or saturated and did not take the task";
    case ROTA_ECANCELED:
        return "the task was cancelled";
    case ROTA_EFAILED:
        return "the task failed; rota_future_error tells its code";
    case ROTA_ETIMEDOUT:
        return "the time given ran out";
    case ROTA_EINTERRUPTED:
        return "the calling thread was interrupted while it waited";
    case ROTA_EDEADLOCK:
        return "the call would wait for the caller itself";
    case ROTA_EBUSY:
        return "still in use";
    case ROTA_ENOTSUP:
        return "this kind of executor or queue cannot do that";
    case ROTA_EFULL:
        return "the queue has no room";
    case ROTA_EEMPTY:
        return "the queue has no element";
    case ROTA_EIO:
        return "the system refused to read, write or listen; errno tells why";
    default:
        return "not a status of rota";
    }
}

#define TEXT(x)    #x
#define VERSION(x) TEXT(x)

const char *rota_version(void)
{
    return VERSION(ROTA_VERSION_MAJOR) "." VERSION(ROTA_VERSION_MINOR) "." VERSION(
        ROTA_VERSION_PATCH);
}
