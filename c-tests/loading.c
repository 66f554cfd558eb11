/* Programs that load the library. Threads that began before it was loaded record into it, and end after it was unloaded.
 * Others have used up the reserve of initial-exec thread-local storage, except for the library's share: it loads, and
 * counts. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.h"
#include "test.h"

static picollo_status (*histogram_create)(const picollo_histogram_options *, picollo_histogram **);
static void (*histogram_record)(picollo_histogram *, uint64_t);
static picollo_status (*histogram_summary)(picollo_histogram *, uint32_t, const double *, size_t, picollo_percentile *, picollo_summary *);
static void (*histogram_free)(picollo_histogram *);

static void *load_and_find(void)
{
    void *const library = load();
    find(library, "picollo_histogram_create", &histogram_create);
    find(library, "picollo_histogram_record", &histogram_record);
    find(library, "picollo_histogram_summary", &histogram_summary);
    find(library, "picollo_histogram_free", &histogram_free);
    return library;
}

#define THREADS 8
#define RECORDS 1000

static picollo_histogram *histogram;
static pthread_barrier_t barrier;
static int stop;

/* These threads began before the library was loaded, and end after it was unloaded. */
static void *record_and_outlive(void *is_busy)
{
    volatile uint64_t work = 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < RECORDS; i++) histogram_record(histogram, 100);
    pthread_barrier_wait(&barrier);
    while (is_busy != NULL && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) work++;
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void load_and_unload(uint32_t mode, void *is_busy, int number)
{
    for (int round = 0; round < number; round++) {
        picollo_histogram_options options = default_options();
        picollo_summary summary;
        pthread_t threads[THREADS];
        void *library;
        __atomic_store_n(&stop, 0, __ATOMIC_RELEASE);
        CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, record_and_outlive, is_busy) == 0);
        library = load_and_find();
        options.mode = mode;
        options.relative_error = 0.05;
        CHECK(histogram_create(&options, &histogram) == PICOLLO_OK);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        /* Every second time also by the main thread, which never ends. */
        if (round % 2 == 1) histogram_record(histogram, 100);
        CHECK(histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary) == PICOLLO_OK);
        CHECK_U64(THREADS * RECORDS + (uint64_t)(round % 2), summary.total_count);
        histogram_free(histogram);
        CHECK(dlclose(library) == 0);
        /* Long enough for eight threads to run on a few processors. */
        if (is_busy != NULL) usleep(50000);
        __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        pthread_barrier_destroy(&barrier);
    }
}

static void threads_outlive_the_library(void)
{
    load_and_unload(PICOLLO_MODE_THREAD_LOCAL, NULL, 2 * rounds(50));
}

/* After a thread's last record, the kernel reads its leftover state at the next interruption of the thread; here, some
 * time after the library was unloaded. */
static void the_kernel_outlives_it_too(void)
{
    load_and_unload(PICOLLO_MODE_PER_CPU, &stop, rounds(20) + 1);
}

/* The size of one copy of loading_taker.c, and all that the library may take: its own 320 bytes, those of Rust's
 * standard library, and the cost of aligning them. */
#define TAKEN 32
#define ALLOWED (320 + 96 + TAKEN)
#define MOST 200

static char directory[] = "/tmp/picollo-reserve-XXXXXX";
static char taker[4096];

/* Loads a copy of the taker, because a loaded library is not loaded again. */
static int take(int number)
{
    char path[sizeof directory + 32], block[4096];
    ssize_t length;
    void *library;
    int from, to;
    snprintf(path, sizeof path, "%s/%d.so", directory, number);
    from = open(taker, O_RDONLY);
    to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    if (from < 0 || to < 0) abort();
    while ((length = read(from, block, sizeof block)) > 0) {
        if (write(to, block, (size_t)length) != length) abort();
    }
    close(from);
    close(to);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    return library != NULL;
}

/* Runs a job in a separate process. Returns its answer. */
static int in_a_child(int (*job)(int), int argument)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(job(argument));
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int count_until_full(int most)
{
    int number = 0;
    while (number < most && take(number)) number++;
    return number;
}

/* More than the number of dedicated entries. */
#define HISTOGRAMS 20

static picollo_histogram *histograms[HISTOGRAMS];

static void *record_into_all(void *unused)
{
    for (int i = 0; i < HISTOGRAMS * RECORDS; i++) histogram_record(histograms[i % HISTOGRAMS], 100);
    return unused;
}

static int load_and_record(int taken)
{
    picollo_status (*create)(const picollo_histogram_options *, picollo_histogram **);
    picollo_status (*summarise)(picollo_histogram *, uint32_t, const double *, size_t, picollo_percentile *, picollo_summary *);
    picollo_histogram_options options = default_options();
    pthread_t thread;
    void *library;
    for (int number = 0; number < taken; number++) {
        if (!take(number)) return 1;
    }
    library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 2;
    find(library, "picollo_histogram_create", &create);
    find(library, "picollo_histogram_record", &histogram_record);
    find(library, "picollo_histogram_summary", &summarise);
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    for (int i = 0; i < HISTOGRAMS; i++) {
        if (create(&options, &histograms[i]) != PICOLLO_OK) return 3;
    }
    if (pthread_create(&thread, NULL, record_into_all, NULL) != 0) return 4;
    record_into_all(NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < HISTOGRAMS; i++) {
        picollo_summary summary;
        if (summarise(histograms[i], PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary) != PICOLLO_OK) return 5;
        if (summary.total_count != 2 * RECORDS) return 6;
    }
    return 0;
}

static void the_library_takes_no_more_than_it_may(void)
{
    int all;
    if (SANITIZED || is_quick()) {
        SKIPPED("sanitizers have such storage of their own, and memcheck loads in its own way");
        return;
    }
    all = in_a_child(count_until_full, MOST);
    if (all == MOST || all * TAKEN < ALLOWED) {
        SKIPPED("this C library has another way to load what has such storage");
        return;
    }
    CHECK_U64(0, (uint64_t)in_a_child(load_and_record, all - ALLOWED / TAKEN));
    /* With all of it used up the loader fails, so there was no more than that. */
    CHECK_U64(2, (uint64_t)in_a_child(load_and_record, all));
}

int main(int count, char **arguments)
{
    (void)count;
    /* The file beside this program. */
    snprintf(taker, sizeof taker, "%s", arguments[0]);
    if (strrchr(taker, '/') == NULL) return 2;
    strcpy(strrchr(taker, '/') + 1, "libloading_taker.so");
    if (mkdtemp(directory) == NULL) return 2;
    /* First, because its children begin without the library. */
    RUN(the_library_takes_no_more_than_it_may);
    rmdir(directory);
    RUN(the_kernel_outlives_it_too);
    RUN(threads_outlive_the_library);
    return report();
}
