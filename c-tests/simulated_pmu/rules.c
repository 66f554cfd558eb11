/* The kernel's rules, as far as readers of a page need them: arch/x86/events/core.c and kernel/events/core.c.
 *
 * The quirk that makes reading hard is in `update` and `set_period`: the note of a written counter is sign-extended,
 * that of a read counter is raw, and RESET publishes the note. */
#include "internal.h"

static uint64_t mask(void) { return world->options.width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << world->options.width) - 1; }

static uint64_t period(void)
{
    const uint32_t bits = world->options.period != 0 ? world->options.period : world->options.width - 1;
    return (UINT64_C(1) << bits) - 1;
}

uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* The kernel reads the time once, and uses it for everything. */
uint64_t now(void) { return (uint64_t)(((unsigned __int128)world->time_ticks * world->mult) >> 32); }

static uint64_t rate(const struct event *event)
{
    if (event->type == PERF_TYPE_HARDWARE && event->config < MAX_RATES && world->rates[event->config] != 0) return world->rates[event->config];
    return event->config % 4 + 1;
}

/* Times advance while an event is enabled; the second only while it is on the PMU. */
void note_times(struct event *event)
{
    const uint64_t time = now(), passed = time - event->stamp;
    event->stamp = time;
    if (event->state == INACTIVE || event->state == ACTIVE) event->enabled += passed;
    if (event->state == ACTIVE) event->running += passed;
}

static int is_metric(const struct event *event)
{
    return event->type == PERF_TYPE_RAW && event->config >= 0x8000 && event->config <= 0x8700 && (event->config & 0xff) == 0;
}

/* perf_event_update_userpage. The writer is this thread itself, in a handler: compiler ordering is enough. */
void publish(struct event *event)
{
    struct perf_event_mmap_page *page = event->page;
    volatile uint32_t *lock = &page->lock;
    note_times(event);
    ++*lock;
    __asm__ volatile("" : : : "memory");
    const int active = event->state == ACTIVE && !event->software;
    page->cap_bit0_is_deprecated = 1;
    page->cap_user_rdpmc = !event->software && world->options.user_reads;
    page->index = active && !world->options.hidden ? event->index : 0;
    /* Intel's top-down metrics are parts of one register, which rdpmc reads by a special number. */
    if (page->index != 0 && is_metric(event)) page->index = (UINT32_C(1) << 29) + 1;
    page->offset = (int64_t)(page->index != 0 ? event->count - event->prev_count : event->count);
    page->pmc_width = (uint16_t)world->options.width;
    page->time_enabled = event->enabled;
    page->time_running = event->running;
    page->cap_user_time = world->options.user_time != 0;
    page->time_shift = 31;
    page->time_mult = (uint32_t)(world->mult >> 1);
    page->time_offset = 0 - (uint64_t)(((unsigned __int128)world->time_ticks * page->time_mult) >> 31);
    page->size = 96;
    __asm__ volatile("" : : : "memory");
    ++*lock;
}

/* x86_perf_event_set_period */
static void set_period(struct event *event)
{
    const int64_t full = (int64_t)period();
    if (event->period_left <= -full) event->period_left = full;
    else if (event->period_left <= 0) event->period_left += full;
    event->prev_count = (uint64_t)-event->period_left;
    event->reg = event->prev_count & mask();
    publish(event);
}

/* x86_perf_event_update */
void update(struct event *event)
{
    if (event->software || event->state != ACTIVE) return;
    const uint32_t shift = 64 - world->options.width;
    const int64_t delta = (int64_t)((event->reg << shift) - (event->prev_count << shift)) >> shift;
    event->prev_count = event->reg;
    event->count += (uint64_t)delta;
    event->period_left -= delta;
}

static void count_one(struct event *event, uint64_t n)
{
    n *= rate(event);
    event->truth += n;
    if (event->software) {
        event->count += n;
        return;
    }
    while (n > 0) {
        const uint64_t room = mask() - event->reg;
        if (n <= room) {
            event->reg += n;
            return;
        }
        /* The overflow interrupt: the counter wraps to 0, is read, and is written again. */
        event->reg = 0;
        n -= room + 1;
        update(event);
        set_period(event);
    }
}

void count_all(uint64_t n)
{
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (event->used && event->state == ACTIVE) count_one(event, n);
    }
}

void count_on(int tid, uint64_t n)
{
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (event->used && event->state == ACTIVE && event->tid == tid) count_one(event, n);
    }
}

/* Reads the time; with the clock, counts the time since the last call. */
void catch_up(void)
{
    /* Clocks of two CPUs may differ; time does not go back. */
    const uint64_t time = ticks();
    if (time > world->time_ticks) world->time_ticks = time;
    if (world->options.clock) count_all(world->time_ticks - world->last_ticks);
    world->last_ticks = world->time_ticks;
}

static int is_member(const struct event *event, const struct event *leader)
{
    return event->used && &world->events[event->leader] == leader;
}

static void take_off(struct event *event)
{
    if (event->state != ACTIVE) return;
    update(event);
    note_times(event);
    event->state = INACTIVE;
    publish(event);
}

static int is_fixed(const struct event *event)
{
    /* instructions, cycles and reference cycles have fixed counters. */
    return event->type == PERF_TYPE_HARDWARE && (event->config <= 1 || event->config == 9);
}

/* Finds counters for a whole group, or fails. `taken`: fixed ones in bits 32 and up, general ones below. */
static int place(struct event *leader, uint64_t *taken, int dry)
{
    uint64_t trial = *taken;
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (!is_member(event, leader) || event->software) continue;
        const uint32_t fixed = event->config == 9 ? 2 : (uint32_t)event->config ^ 1;
        if (is_fixed(event) && !(trial >> (32 + fixed) & 1)) {
            trial |= UINT64_C(1) << (32 + fixed);
            if (!dry) event->index = (UINT32_C(1) << 30 | fixed) + 1;
            continue;
        }
        uint32_t n = 0;
        for (; n < world->options.counters; n++) {
            const uint32_t counter = (world->first_counter + n) % world->options.counters;
            if (trial >> counter & 1) continue;
            trial |= UINT64_C(1) << counter;
            if (!dry) event->index = counter + 1;
            break;
        }
        if (n == world->options.counters) return 0;
    }
    *taken = trial;
    return 1;
}

int group_has_room(const struct event *leader, int more)
{
    int hardware = more;
    for (int i = 0; i < MAX_EVENTS; i++) hardware += is_member(&world->events[i], leader) && !world->events[i].software;
    return hardware <= (int)world->options.counters;
}

static void start_group(struct event *leader)
{
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (!is_member(event, leader) || event->state != INACTIVE) continue;
        note_times(event);
        event->state = ACTIVE;
        if (event->software) publish(event);
        else set_period(event);
    }
}

static void try_group(struct event *leader, uint64_t *taken, int *full)
{
    if (leader->state == OFF) return;
    uint64_t trial = *taken;
    if (!*full && place(leader, &trial, 1)) {
        place(leader, taken, 0);
        start_group(leader);
        return;
    }
    /* The kernel stops at the first group without room. */
    *full = 1;
}

/* Each thread has its own CPU, whose PMU has only its events. */
struct cpu {
    int tid;
    uint64_t taken;
    int full;
};

static struct cpu *cpu_of(struct cpu *cpus, int *count, int tid)
{
    for (int i = 0; i < *count; i++)
        if (cpus[i].tid == tid) return &cpus[i];
    cpus[*count] = (struct cpu){.tid = tid};
    return &cpus[(*count)++];
}

/* All events come off, then the groups go on in turn. */
void reschedule(void)
{
    /* Too large for a handler's stack; the caller holds the lock. */
    static struct cpu cpus[MAX_EVENTS];
    int count = 0;
    for (int i = 0; i < MAX_EVENTS; i++)
        if (world->events[i].used) take_off(&world->events[i]);
    if (world->out) return;
    for (int i = 0; i < MAX_EVENTS; i++) {
        const int slot = (int)((world->turn + (uint32_t)i) % MAX_EVENTS);
        struct event *event = &world->events[slot];
        if (!event->used || event->leader != slot) continue;
        struct cpu *cpu = cpu_of(cpus, &count, event->tid);
        try_group(event, &cpu->taken, &cpu->full);
    }
}

static void for_all(void (*what)(struct event *))
{
    for (int i = 0; i < MAX_EVENTS; i++)
        if (world->events[i].used) what(&world->events[i]);
}

static void reset_one(struct event *event)
{
    update(event);
    event->count = event->truth = 0;
    publish(event);
}

static void rearm_one(struct event *event)
{
    if (event->state != ACTIVE || event->software) return;
    update(event);
    set_period(event);
}

void act(int action)
{
    catch_up();
    switch (action) {
    case SIMULATED_PMU_SWITCH: reschedule(); break;
    case SIMULATED_PMU_REARM: for_all(rearm_one); break;
    case SIMULATED_PMU_RESET: for_all(reset_one); break;
    case SIMULATED_PMU_FOREIGN_READ: for_all(update); break;
    case SIMULATED_PMU_SILENCE: for_all(publish); break;
    case SIMULATED_PMU_MIGRATE:
        world->first_counter++;
        reschedule();
        break;
    case SIMULATED_PMU_ROTATE:
        /* The next slot that leads a group. */
        for (uint32_t i = 1; i <= MAX_EVENTS; i++) {
            const uint32_t slot = (world->turn + i) % MAX_EVENTS;
            if (!world->events[slot].used || world->events[slot].leader != (int)slot) continue;
            world->turn = slot;
            break;
        }
        reschedule();
        break;
    case SIMULATED_PMU_OUT:
    case SIMULATED_PMU_IN:
        world->out = action == SIMULATED_PMU_OUT;
        reschedule();
        break;
    default: break;
    }
}
