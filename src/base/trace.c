/* SPDX-License-Identifier: MIT */
#include "base/trace.h"

#ifndef ROTA_EXPLORE
rota__atomic(const rota__tracer *) rota__the_tracer;
#endif
