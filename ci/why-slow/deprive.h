/* Takes from this thread, and from those that it starts, what a machine may not have. */
#ifndef DEPRIVE_H
#define DEPRIVE_H
#include <stdatomic.h>

/* perf_event_open fails with EPERM, as in profiles of containers. 0, or -1 where no filter can be installed. */
int forbid_perf(void);
/* No file whose name ends with "schedstat" can be opened (ENOENT), but by the oracle while this is set. 0, or -1 where a filter cannot
 * ask a supervisor. */
int hide_schedstat(void);
extern atomic_int oracle_is_opening;
/* How often something was refused so far: where nobody asked, nothing was shown. */
extern atomic_ulong refusals;

#endif
