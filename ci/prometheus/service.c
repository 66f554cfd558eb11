/* A service that serves its metrics itself: one scrape at a time, on a dedicated thread. A real service would use its
 * HTTP library. Prints its port, records until its input ends, and then prints the number of records. */
#include <arpa/inet.h>
#include <picollo_metrics.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static picollo_registry *registry;
static char body[1 << 20];

static void *serve(void *listener)
{
    for (;;) {
        char request[4096], head[512], type[128], *accept = NULL;
        size_t type_length, length;
        uint32_t format;
        int connection = accept4(*(int *)listener, NULL, NULL, 0);
        ssize_t got = recv(connection, request, sizeof request - 1, 0);
        if (got > 0) {
            request[got] = 0;
            accept = strcasestr(request, "\r\nAccept:");
            if (accept != NULL) accept[9 + strcspn(accept + 9, "\r")] = 0;
            if (picollo_registry_negotiate(accept ? accept + 9 : NULL, &format, type, sizeof type, &type_length) == PICOLLO_OK
                && picollo_registry_update(registry) == PICOLLO_OK
                && picollo_registry_encode(registry, format, body, sizeof body, &length) == PICOLLO_OK) {
                int head_length = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                                           "Connection: close\r\n\r\n", type, length);
                if (write(connection, head, (size_t)head_length) < 0 || write(connection, body, length) < 0) perror("write");
            }
        }
        close(connection);
    }
    return NULL;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    picollo_histogram *latency;
    picollo_metric_counter *requests;
    pthread_t thread;
    picollo_metric_exemplar slow = {0};
    uint64_t bounds[20], id;
    struct timespec now;
    char input[64];
    unsigned long long recorded = 0;

    options.relative_error = 0.01;
    metric.name = "c_seconds";
    metric.help = "How long requests took";
    metric.unit = "seconds";
    metric.divisor = 1e9;
    for (uint64_t step = 1; step <= 20; step++) bounds[step - 1] = step * 50000000;
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0
        || picollo_histogram_create(&options, &latency) != PICOLLO_OK || picollo_registry_create(&registry) != PICOLLO_OK
        || picollo_registry_add(registry, latency, &metric, bounds, 20, &id, NULL) != PICOLLO_OK) return 1;
    metric.name = "c_requests";
    metric.help = "Requests that were served";
    metric.unit = NULL;
    metric.divisor = 0;
    if (picollo_registry_add_counter(registry, &metric, &requests, NULL, NULL) != PICOLLO_OK) return 1;
    if (pthread_create(&thread, NULL, serve, &listener) != 0) return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    /* A line of input: a round of 1 to 1,000 ms. */
    while (fgets(input, sizeof input, stdin) != NULL) {
        for (uint64_t value = 1; value <= 1000; value++) picollo_histogram_record(latency, value * 1000000);
        picollo_metric_counter_add(requests, 1000);
        recorded += 1000;
        clock_gettime(CLOCK_REALTIME, &now);
        slow.value = 993000000;
        slow.unix_nanos = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        memset(slow.trace_id, 0xc1, sizeof slow.trace_id);
        if (picollo_registry_set_exemplars(registry, id, &slow, 1, NULL) != PICOLLO_OK) return 1;
    }
    printf("%llu\n", recorded);
    fflush(stdout);
    sleep(600);
    return 0;
}
