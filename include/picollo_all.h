/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: all headers.
 */
#ifndef PICOLLO_ALL_H
#define PICOLLO_ALL_H

#include "picollo.h"
#include "picollo_compare.h"
#include "picollo_counter.h"
#include "picollo_double.h"
#include "picollo_log.h"
#include "picollo_metrics.h"
#include "picollo_perf.h"
#include "picollo_picture.h"
#include "picollo_segment.h"
#include "picollo_why.h"
#include "picollo_inline.h"

#endif /* PICOLLO_ALL_H */
