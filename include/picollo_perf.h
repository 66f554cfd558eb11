/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: performance counters.
 *
 * A session counts events of the processor and the kernel, such as cycles, branch misses and page faults. Each event
 * has its own histogram. The first functions to know, by task:
 *
 * - Ask what this machine can count: picollo_perf_probe.
 * - Count: picollo_session_open, _read, _record, _free.
 * - Read the results: picollo_session_histogram_ref, _event.
 * - Check a clock or a counter: picollo_work_add_chain_256.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_PERF_H
#define PICOLLO_PERF_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------------
 * Events that can be counted.
 */

/** Count in user space. Any of user, kernel and hypervisor overrides the session's choice. */
#define PICOLLO_EVENT_USER (1 << 0)
/** Count in the kernel. */
#define PICOLLO_EVENT_KERNEL (1 << 1)
/** Count in the hypervisor. */
#define PICOLLO_EVENT_HYPERVISOR (1 << 2)
/** Precision 0 to 3, times this: as p, pp and ppp of perf. Dropped if the machine does not offer it. */
#define PICOLLO_EVENT_PRECISE (1 << 3)
/** Both bits of the precision. */
#define PICOLLO_EVENT_PRECISE_MASK (3 << 3)
/** Do not count in guests. */
#define PICOLLO_EVENT_HOST (1 << 5)
/** Count in guests only. */
#define PICOLLO_EVENT_GUEST (1 << 6)
/** Do not count while idle. */
#define PICOLLO_EVENT_EXCLUDE_IDLE (1 << 7)

/** An event that can be counted. picollo_event_parse makes one, or fill in the fields. */
typedef struct picollo_event {
    uint64_t config; /**< The event's number within its type. */
    uint64_t config1; /**< Further configuration; the address of a breakpoint. */
    uint64_t config2; /**< Further configuration; the length of a breakpoint. */
    uint64_t config3; /**< Further configuration. */
    /** Value of one count in unit; 1 if the PMU does not define it. 0 means 1, for events that are filled in by hand. */
    double scale;
    uint32_t type; /**< The kernel's event type. */
    uint32_t bp_type; /**< Breakpoints: 1 read, 2 write, 3 both, 4 execute. */
    uint32_t modifiers; /**< PICOLLO_EVENT_...; 0: the session's choice. */
    uint32_t reserved; /**< 0. */
    char unit[16]; /**< Unit of the scaled count, NUL-terminated. */
    char name[128]; /**< Display name, NUL-terminated. */
} picollo_event;

/** What this machine can count. */
typedef struct picollo_perf_info {
    uint32_t pmu_available; /**< 1: CPU cycles can be counted here and now. */
    uint32_t user_read_available; /**< 1: counters can be read in user space. */
    uint32_t fixed_counters; /**< Number of counters for one event each; 0 if unknown. */
    uint32_t programmable_counters; /**< Number of counters for any event; 0 if unknown. */
    int32_t paranoid; /**< /proc/sys/kernel/perf_event_paranoid; INT32_MIN if it cannot be read. */
    uint32_t hypervisor; /**< 1: under a hypervisor. */
    char explanation[480]; /**< Explains missing parts and how to get them; empty if nothing is missing. */
} picollo_perf_info;

/** Finds the event that a text names:
 *
 * - generic events in perf's spelling or a plain one: cycles, instructions, branch-misses, page-faults, task-clock,
 *   L1-dcache-load-misses, L1D-read-miss; case, - and _ do not matter; display names such as Hardware:CpuCycles work
 *   too;
 * - raw events of the processor: r01c2;
 * - breakpoints: mem:0xADDRESS/8:w (length 1, 2, 4 or 8, by default 4; r, w, rw or x, by default rw);
 * - tracepoints: sched:sched_switch;
 * - events of any PMU that the kernel lists: cpu/event=0x3c,umask=0x1/, msr/tsc/;
 * - other names if libpfm4 is installed: the processor's own, such as MEM_LOAD_RETIRED.L1_MISS, with libpfm4's
 *   attributes (:c=2:u). The display name begins with the PMU and two colons, and means only the event of that PMU.
 *   A PMU that this processor cannot have is refused, unless the variable LIBPFM_FORCE_PMU names it.
 *
 * Modifiers may follow after a colon: u user, k kernel, h hypervisor, p to ppp precision, H host, G guest, I not
 * while idle. picollo_session_create determines whether the event can be counted.
 *
 * Requires: spec is not NULL.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for text that is not an event name, and for unknown modifiers;
 *   PICOLLO_ERR_NO_SUCH_EVENT if this machine does not know the event, with the nearest that it knows;
 *   PICOLLO_ERR_PERMISSION if the kernel's list of tracepoints is unreadable; PICOLLO_ERR_OUT_OF_MEMORY;
 *   PICOLLO_ERR_OS.
 * Cost: microseconds for generic events; others read files of the kernel. The first name that only libpfm4 knows
 *   loads libpfm.so.4, which takes about a millisecond and stays loaded. */
PICOLLO_STATUS picollo_event_parse(const char *spec, picollo_event *out, picollo_error *error);

/** Determines what this machine can count, what is missing, and how to get it.
 *
 * Returns: PICOLLO_OK, also if nothing can be counted: see out.
 * Cost: opens a counter and closes it again, and reads files of the kernel: about a millisecond. If counters can be
 *   read in user space, the first call also takes the time of a child process; see picollo_session_create. */
PICOLLO_STATUS picollo_perf_probe(picollo_perf_info *out, picollo_error *error);

/* ----------------------------------------------------------------------------------------------------------
 * Sessions: performance counters.
 *
 * A session opens events for one target and schedules them together if the processor has room. Each event has its
 * own histogram:
 *
 *     const char *const specs[] = {"cycles", "branch-misses"};
 *     picollo_error error;
 *     picollo_session *session;
 *     if (picollo_session_open(specs, 2, NULL, &session, &error) != PICOLLO_OK) puts(error.message), exit(1);
 *     for (...) {
 *         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
 *         work();
 *         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
 *         picollo_session_record(session, PICOLLO_SINCE_PREVIOUS);
 *     }
 *
 * picollo_session_create, _enable and _reset take a base: the values and times at which counting starts.
 * picollo_session_read takes a reading of all events. Deltas are between the last two readings; the first one is
 * since the base. picollo_session_record does not read. It records the last deltas, or the values since the base,
 * once per read. If an event was not counted, it records nothing, and the event's info counts such cases. A running
 * counter is never reset; it gets a new base.
 *
 * PICOLLO_READ_AUTO reads in user space if the kernel allows it. Once per process and kind of counter, a child
 * process tries the instruction first. If somebody forbids it later, while the session is in use, the next reading
 * raises SIGSEGV (on aarch64 SIGILL), which ends the process. This happens after writing 0 to /sys/devices/cpu/rdpmc
 * or kernel.perf_user_access, and after a move to another hypervisor. No check can prevent it, because there is no
 * warning. PICOLLO_SESSION_SYSCALL_ONLY excludes it, and so does the environment variable PICOLLO_RDPMC=off
 * (docs/counters.md). picollo_perf_probe reports whether counters are read in user space, and if not, why.
 *
 * Threads: PICOLLO_READ_AUTO and picollo_session_calibrate on the opening thread only; everything else on any
 *   thread, one at a time. In the child of a fork all calls except picollo_session_free return PICOLLO_ERR_FORKED,
 *   because the counters are the parent's.
 */

/** Keep the events of the first group on the processor's counters all the time, as far as possible. If it is not
 * possible, now or later, they are opened again without this flag and share counters. This is not an error, but sets
 * PICOLLO_EVENT_INFO_UNPINNED and a message. An interval that was lost by it is
 * NotCounted. Events without room in the first group are not pinned, and flagged too. */
#define PICOLLO_SESSION_PINNED (1 << 0)
/** Count in the kernel too. */
#define PICOLLO_SESSION_KERNEL (1 << 1)
/** Do not start counting at once. */
#define PICOLLO_SESSION_DISABLED (1 << 2)
/** Count the threads and processes that the target starts from now on, too. */
#define PICOLLO_SESSION_INHERIT (1 << 3)

/** Keep events that cannot be opened as entries with their status, never counted. If the kernel may not be counted,
 * count user space only, which the info shows. */
#define PICOLLO_SESSION_SKIP_UNAVAILABLE (1 << 4)
/** Fences around reads: everything before a read is counted, nothing after it. */
#define PICOLLO_SESSION_ORDERED (1 << 5)
/** Count on one CPU only. */
#define PICOLLO_SESSION_ON_CPU (1 << 6)
/** Subtract from values (not from raw ones) what reading adds, after a calibration has measured it. */
#define PICOLLO_SESSION_SUBTRACT (1 << 7)

/** Never read in user space, whatever the mode of a reading. No page is mapped, no child process tries the
 * instruction, and no clock is calibrated. Use it if no fault may end the program when somebody forbids user reads,
 * and to make sessions quickly. */
#define PICOLLO_SESSION_SYSCALL_ONLY (1 << 8)
/** Largest number of events in a session. A whole group's result then fits on the stack. */
#define PICOLLO_SESSION_MAX_EVENTS 64
/** In user space if that is possible and provably right, otherwise by system call. Opening thread only. */
#define PICOLLO_READ_AUTO 0
/** By system call, on any thread. */
#define PICOLLO_READ_SYSCALL 1
/** Read in user space; for a delta, at both ends. */
#define PICOLLO_READING_FAST (1 << 0)
/** Provably not descheduled since the previous read. */
#define PICOLLO_READING_CLEAN (1 << 1)
/** The event shared a counter with others, so the value is extrapolated. */
#define PICOLLO_READING_SCALED (1 << 2)
/** Another program reset the counter. The delta starts anew, and the counts just before the reset are missing. */
#define PICOLLO_READING_RESYNC (1 << 3)
/** The times are from the last system call, not from this moment. */
#define PICOLLO_READING_TIMES_STALE (1 << 4)
/** Counted only in user space, though more was requested. */
#define PICOLLO_EVENT_INFO_USER_ONLY (1 << 0)

/** Not kept on a counter all the time, though that was requested: never pinned, or pinned and lost once. The message
 * explains which. */
#define PICOLLO_EVENT_INFO_UNPINNED (1 << 1)
/** Counted by other means than a perf event. */
#define PICOLLO_EVENT_INFO_SUBSTITUTED (1 << 2)
/** Can be read in user space. */
#define PICOLLO_EVENT_INFO_FAST (1 << 3)
/** Opened, but the processor counts nothing. */
#define PICOLLO_EVENT_INFO_SILENT (1 << 4)

/** Performance counters of one target. */
typedef struct picollo_session picollo_session;

/** Options of a session. By default it counts the calling thread on any CPU, in user space, from the start. */
typedef struct picollo_session_options {
    uint32_t struct_size;
    uint32_t flags; /**< PICOLLO_SESSION_.... */
    double relative_error; /**< Relative error of the histograms, as in picollo_histogram_options; 0: 0.001. */
    /** 0: the calling thread; -1 with PICOLLO_SESSION_ON_CPU: everything on that CPU; otherwise the id of a thread,
     * as gettid returns it. */
    int32_t thread;
    int32_t cpu; /**< The CPU with PICOLLO_SESSION_ON_CPU; otherwise ignored: any CPU. */
    uint32_t counter_bits; /**< Width of the histograms' counters: 32 or 64; 0: 64. */
    uint32_t reserved;
} picollo_session_options;
#define PICOLLO_SESSION_OPTIONS_INIT {sizeof(picollo_session_options), 0, 0, 0, 0, 0, 0}

/** How an event is counted. */
typedef struct picollo_event_info {
    /** Records without a count. The histogram's total and this add up to the number of records. */
    uint64_t not_counted_count;
    uint64_t overhead_fast; /**< Number of events that a pair of reads in user space adds, after a calibration. */
    uint64_t overhead_syscall; /**< Number of events that a pair of reads by system call adds, after a calibration. */
    int32_t status; /**< 0, or why the event is not open. */
    int32_t os_errno; /**< The errno of the reason, or 0. */
    uint32_t group; /**< Events of one group are scheduled together. UINT32_MAX: in none. */
    uint32_t flags; /**< PICOLLO_EVENT_INFO_.... */
    char message[248]; /**< Remarks about the event; empty if it is counted as requested. */
} picollo_event_info;

/** One event's count over an interval. */
typedef struct picollo_reading {
    /** The count, extrapolated if the event was multiplexed, minus the overhead if the session subtracts it. */
    uint64_t value;
    uint64_t raw; /**< The count as reported by the kernel. */
    uint64_t time_enabled; /**< Nanoseconds of the interval in which the event was enabled. */
    uint64_t time_running; /**< Nanoseconds of the interval in which it was on the PMU. */
    uint32_t flags; /**< PICOLLO_READING_.... */
    /** PICOLLO_OK, PICOLLO_ERR_NOT_COUNTED, or why the event is not open. Anything but 0 means that there is no value. */
    int32_t status;
} picollo_reading;

/** Opens events, starts counting (unless PICOLLO_SESSION_DISABLED is set), and takes a base.
 *
 * The events keep their order and number, and an event may be given twice. Events without room beside the others get
 * a separate group and are scheduled alternately: see picollo_event_info.group.
 *
 * Requires: events leads to 1 to PICOLLO_SESSION_MAX_EVENTS events.
 * Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, events or their number outside their ranges;
 *   PICOLLO_ERR_UNSUPPORTED for unknown flags and options; and the reason why an event cannot be counted:
 *   PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_OS. With
 *   PICOLLO_SESSION_SKIP_UNAVAILABLE such events stay as entries without counts instead. error names the event and
 *   explains what to do.
 * Threads: any thread, which becomes the opening thread.
 * Cost: a few system calls and the allocation of a histogram per event. If counters can be read in user space, the
 *   first session of a process also starts a child process that tries it. This takes a few hundred microseconds,
 *   because the child shares the memory. Another 2 to 50 ms are necessary if neither the kernel nor the processor
 *   reports the rate of its clock. Neither happens with PICOLLO_SESSION_SYSCALL_ONLY. */
PICOLLO_STATUS picollo_session_create(const picollo_session_options *options, const picollo_event *events,
    size_t length, picollo_session **out, picollo_error *error);

/** Opens events by name: picollo_event_parse for each, then picollo_session_create for all.
 *
 * Requires: specs leads to length names, 1 to PICOLLO_SESSION_MAX_EVENTS, as for picollo_event_parse.
 * Returns: as picollo_event_parse, also with PICOLLO_SESSION_SKIP_UNAVAILABLE, and as picollo_session_create. error
 *   names the event and explains what to do.
 * Threads: any thread, which becomes the opening thread.
 * Cost: that of both. */
PICOLLO_STATUS picollo_session_open(const char *const *specs, size_t length,
    const picollo_session_options *options, picollo_session **out, picollo_error *error);

/** Closes the events and frees the session. Histograms from picollo_session_histogram_ref stay valid.
 *
 * Threads: any thread; also in a child after a fork.
 * Cost: a few system calls per event. */
void picollo_session_free(picollo_session *session);

/** Reports the event at an index, as it was given. */
PICOLLO_STATUS picollo_session_event(const picollo_session *session, size_t index, picollo_event *out);

/** Reports how an event is counted, or why it is not. */
PICOLLO_STATUS picollo_session_event_info(const picollo_session *session, size_t index,
    picollo_event_info *out);

/** Starts counting, and takes a new base. If the processor turns out to count nothing, this is not an error:
 * PICOLLO_EVENT_INFO_SILENT is set.
 *
 * Returns: PICOLLO_ERR_OS. If pinned events had to be opened again without pinning (PICOLLO_SESSION_PINNED) and that
 *   was refused, also PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION and PICOLLO_ERR_UNSUPPORTED. These events
 *   are then closed, as their infos show; with PICOLLO_SESSION_SKIP_UNAVAILABLE only the infos report it. After an
 *   error nothing counts.
 * Cost: a few system calls. */
PICOLLO_STATUS picollo_session_enable(picollo_session *session, picollo_error *error);

/** Stops counting. The counts can still be read.
 *
 * Returns: PICOLLO_ERR_OS.
 * Cost: a few system calls. */
PICOLLO_STATUS picollo_session_disable(picollo_session *session, picollo_error *error);

/** Measures how much a pair of reads adds to each event, and stores it in the infos. Previous readings and records
 * stay as they are, as if no time had passed.
 *
 * Returns: PICOLLO_ERR_UNSUPPORTED if the session counts another thread or a CPU, which reading does not slow down;
 *   PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
 * Threads: opening thread only.
 * Cost: a few milliseconds. */
PICOLLO_STATUS picollo_session_calibrate(picollo_session *session, picollo_error *error);

/** Takes a reading of all events. If one fails, nothing changes.
 *
 * Requires: how is PICOLLO_READ_....
 * Returns: PICOLLO_OK, also if some events were not counted: see their readings; PICOLLO_ERR_WRONG_THREAD;
 *   PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
 * Threads: PICOLLO_READ_AUTO opening thread only; PICOLLO_READ_SYSCALL any thread, one at a time.
 * Cost: one system call per group, unless it reads in user space. If pinned events lost their counters, a few more,
 *   and an allocation if they must be opened again. */
PICOLLO_STATUS picollo_session_read(picollo_session *session, uint32_t how, picollo_error *error);

/** Records the last reading of each event into its histogram. An event that was not counted records nothing, and
 * picollo_event_info.not_counted_count grows.
 *
 * Returns: PICOLLO_ERR_EMPTY if nothing was read since the base, or since the last record.
 * Cost: a record per event. */
PICOLLO_STATUS picollo_session_record(picollo_session *session, uint32_t since);

/** Reports the last reading of each event. There are as many readings as events.
 *
 * Returns: PICOLLO_ERR_EMPTY before the first read since the base. */
PICOLLO_STATUS picollo_session_readings(const picollo_session *session, uint32_t since, picollo_reading *out,
    size_t capacity, size_t *out_length);

/** Takes a new base, and resets the histograms. The counters themselves continue.
 *
 * Returns: PICOLLO_ERR_OS, and nothing has changed; PICOLLO_ERR_BUSY if others reset the same histogram;
 *   PICOLLO_ERR_FORKED. After PICOLLO_ERR_BUSY the event that error names has kept its histogram and its
 *   not_counted_count, so these still add up to the records made. The base is new, and all other events are reset.
 *   Try again.
 * Cost: one system call per group, and a copy of all counters of the histograms. */
PICOLLO_STATUS picollo_session_reset(picollo_session *session, picollo_error *error);

/** Returns the histogram of an event, for reading. It is in single-writer mode, and picollo_session_record is the
 * writer.
 *
 * Requires: nobody else records into it.
 * Returns: for a skipped event (PICOLLO_SESSION_SKIP_UNAVAILABLE) the status of its info, which explains the reason.
 * Ownership: free *out with picollo_histogram_free; it outlives the session.
 * Threads: any thread, one at a time. The histogram may be read on any thread at any time. */
PICOLLO_STATUS picollo_session_histogram_ref(const picollo_session *session, size_t index,
    picollo_histogram **out);

/* ----------------------------------------------------------------------------------------------------------
 * Known work: code whose cost is known in advance, to check clocks and counters.
 */

/** Runs repetitions times 256 dependent additions. Each takes one instruction and, on most processors, one cycle. The
 * loop takes two more instructions per repetition, which run in parallel with the chain.
 *
 * Cost: 256 cycles per repetition, on processors that add in one cycle. */
void picollo_work_add_chain_256(uint64_t repetitions);

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_PERF_H */
