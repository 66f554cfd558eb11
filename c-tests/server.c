/* Servers of picollo_metrics.h: real sockets, slow clients, and forks. */
#include "golden.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static picollo_error error;

static picollo_server *serve(const char *address, const picollo_server_options *options)
{
    picollo_registry *of_server = NULL;
    picollo_metric_counter *counter = NULL;
    picollo_server *server = NULL;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    metric.name = "hits";
    CHECK_OK(picollo_registry_create(&of_server));
    CHECK_OK(picollo_registry_add_counter(of_server, &metric, &counter, NULL, NULL));
    picollo_metric_counter_add(counter, 3);
    CHECK_OK(picollo_server_start(of_server, address, options, &server, &error));
    /* The server keeps the registry, and that the counter. */
    picollo_registry_free(of_server);
    picollo_metric_counter_free(counter);
    FORMAT(picollo_server_address, server);
    return server;
}

/* A connection to the address that is in text, or -1. */
static int connected(void)
{
    const int is_path = strncmp(text, "unix:", 5) == 0;
    struct sockaddr_un path;
    struct sockaddr_in port;
    const struct timeval patience = {20, 0};
    const int client = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    memset(&path, 0, sizeof path);
    memset(&port, 0, sizeof port);
    path.sun_family = AF_UNIX;
    if (is_path) memcpy(path.sun_path, text + 5, strlen(text + 5));
    port.sin_family = AF_INET;
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!is_path) port.sin_port = htons((uint16_t)atoi(strrchr(text, ':') + 1));
    CHECK(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    if (connect(client, is_path ? (struct sockaddr *)&path : (struct sockaddr *)&port, is_path ? sizeof path : sizeof port) == 0) return client;
    close(client);
    return -1;
}

/* The status of the answer to a request, which must have a part; 0 without an answer. */
static int status_of(const char *request, const char *part)
{
    char answer[4096];
    size_t length = 0;
    ssize_t got;
    const int client = connected();
    if (client < 0) return 0;
    if (write(client, request, strlen(request)) < 0) perror("write");
    while ((got = read(client, answer + length, sizeof answer - 1 - length)) > 0) length += (size_t)got;
    answer[length] = 0;
    close(client);
    CHECK(length == 0 || strstr(answer, part) != NULL);
    return length > 9 ? atoi(answer + 9) : 0;
}
static const char get[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

static void servers_answer(void)
{
    picollo_server_options options = PICOLLO_SERVER_OPTIONS_INIT;
    picollo_server *server = serve("127.0.0.1:0", NULL), *second = NULL;
    picollo_registry *registry = NULL;
    CHECK(strncmp(text, "127.0.0.1:", 10) == 0 && strcmp(text + 10, "0") != 0);
    CHECK_U64(200, (uint64_t)status_of(get, "\nhits_total 3"));
    CHECK_U64(404, (uint64_t)status_of("GET /x HTTP/1.1\r\n\r\n", ""));

    /* The address is in use. */
    CHECK_OK(picollo_registry_create(&registry));
    CHECK_STATUS(PICOLLO_ERR_OS, picollo_server_start(registry, text, NULL, &second, &error));
    CHECK(error.os_errno == EADDRINUSE && strstr(error.message, "port 0 takes any free port") != NULL && second == NULL);
    picollo_server_stop(server);
    CHECK_U64(0, (uint64_t)status_of(get, ""));
    /* Now it is free. A port alone is one of 127.0.0.1. */
    CHECK_OK(picollo_server_start(registry, strchr(text, ':') + 1, NULL, &second, &error));
    CHECK_U64(200, (uint64_t)status_of(get, ""));
    picollo_server_stop(second);

    for (int i = 0; i < 8; i++) {
        static const char *const addresses[] = {"nonsense", "127.0.0.1:65536", "127.0.0.1:-1", "\xe9:1"};
        static const double times[] = {-1, 3601, NAN};
        picollo_server_options wrong = PICOLLO_SERVER_OPTIONS_INIT;
        if (i == 4) wrong.path = "metrics";
        else if (i > 4) wrong.timeout_seconds = times[i - 5];
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_server_start(registry, i < 4 ? addresses[i] : "0", &wrong, &second, &error));
    }
    picollo_registry_free(registry);

    options.path = "/here";
    options.hosts = "a.example, b.example";
    server = serve("localhost:0", &options);
    CHECK_U64(200, (uint64_t)status_of("GET /here HTTP/1.1\r\nHost: b.example\r\n\r\n", "\nhits_total 3"));
    CHECK_U64(403, (uint64_t)status_of("GET /here HTTP/1.1\r\nHost: c.example\r\n\r\n", ""));
    picollo_server_stop(server);
    /* Its only connection is taken, until the time for a request is over. */
    options.timeout_seconds = 0.5;
    options.connections = 1;
    server = serve("127.0.0.1:0", &options);
    const int slow = connected();
    CHECK_U64(503, (uint64_t)status_of("", "too many connections"));
    CHECK(read(slow, text, 12) == 12 && memcmp(text + 9, "408", 3) == 0);
    close(slow);
    picollo_server_stop(server);
}

static void servers_end_beside_slow_clients(void)
{
    picollo_server_options options = PICOLLO_SERVER_OPTIONS_INIT;
    options.timeout_seconds = 3600;
    picollo_server *const server = serve("127.0.0.1:0", &options);
    const int silent = connected(), half = connected();
    CHECK(write(half, get, 20) == 20);
    picollo_server_stop(server);
    CHECK(read(silent, text, 1) <= 0 && read(half, text, 1) <= 0);
    close(silent);
    close(half);
}

static void servers_survive_forks(void)
{
    char address[64];
    for (int is_path = 0; is_path < 2; is_path++) {
        int done[2];
        snprintf(address, sizeof address, is_path ? "unix:/tmp/picollo-%ld" : "127.0.0.1:0", (long)getpid());
        picollo_server *const server = serve(address, NULL);
        snprintf(address, sizeof address, "%.60s", text);
        CHECK(pipe(done) == 0);
        const pid_t child = fork();
        if (child == 0) {
            /* A child that hangs, as after a sanitizer's report, ends. */
            alarm(60);
            /* It has no thread of the server, and takes nothing from the parent. */
            picollo_server_stop(server);
            const char result = status_of(get, "\nhits_total 3") == 200 ? 'y' : 'n';
            if (write(done[1], &result, 1) != 1) abort();
            for (;;) pause();
        }
        CHECK(close(done[1]) == 0);
        CHECK(read(done[0], text + 64, 1) == 1 && text[64] == 'y');
        text[64] = 0;
        CHECK_U64(200, (uint64_t)status_of(get, "\nhits_total 3"));
        /* It ends, and leaves the address to others, though the child still has the sockets. */
        picollo_server_stop(server);
        CHECK_U64(0, (uint64_t)status_of(get, ""));
        picollo_server_stop(serve(address, NULL));
        /* At an orderly end of the child, checkers would miss what the threads refer to. */
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        CHECK(close(done[0]) == 0);
    }
}

int main(void)
{
    RUN(servers_answer);
    RUN(servers_end_beside_slow_clients);
    RUN(servers_survive_forks);
    return report();
}
