#define _GNU_SOURCE
#include "deprive.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_int oracle_is_opening;
atomic_ulong refusals;

static int supervised = -1;
static sem_t has_filter;

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define IF_CALL(number, answer) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int install(struct sock_filter *filter, unsigned short length, unsigned flags)
{
    const struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

int forbid_perf(void)
{
    struct sock_filter filter[] = {LOAD_NUMBER, IF_CALL(SYS_perf_event_open, SECCOMP_RET_ERRNO | EPERM), ALLOW};
    return install(filter, sizeof filter / sizeof *filter, 0) < 0 ? -1 : 0;
}

/* The path that a call to open, openat or openat2 has: it is in this process, so that it can be read as it is. */
static const char *path_of(const struct seccomp_data *call)
{
    const uint64_t address = call->args[call->nr == SYS_openat || call->nr == SYS_openat2 ? 1 : 0];
    return (const char *)(uintptr_t)address;
}

static int is_hidden(const char *path)
{
    static const char name[] = "schedstat";
    const size_t length = strlen(path);
    return length >= sizeof name - 1 && strcmp(path + length - (sizeof name - 1), name) == 0;
}

/* Answers for the kernel; itself it was started before there was a filter. */
static void *supervisor(void *unused)
{
    while (sem_wait(&has_filter) != 0) {}
    for (;;) {
        struct seccomp_notif call;
        struct seccomp_notif_resp answer;
        memset(&call, 0, sizeof call);
        memset(&answer, 0, sizeof answer);
        if (ioctl(supervised, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
            if (errno == EINTR || errno == ENOENT) continue;
            return unused;
        }
        answer.id = call.id;
        if (is_hidden(path_of(&call.data)) && !atomic_load(&oracle_is_opening)) {
            answer.error = -ENOENT;
            atomic_fetch_add(&refusals, 1);
        } else {
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        }
        ioctl(supervised, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

int hide_schedstat(void)
{
    struct sock_filter filter[] = {
        LOAD_NUMBER,
        IF_CALL(SYS_openat, SECCOMP_RET_USER_NOTIF),
#ifdef SYS_open
        IF_CALL(SYS_open, SECCOMP_RET_USER_NOTIF),
#endif
        IF_CALL(SYS_openat2, SECCOMP_RET_USER_NOTIF),
        ALLOW,
    };
    pthread_t thread;
    sem_init(&has_filter, 0, 0);
    if (pthread_create(&thread, NULL, supervisor, NULL) != 0) return -1;
    supervised = install(filter, sizeof filter / sizeof *filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (supervised < 0) return -1;
    sem_post(&has_filter);
    return pthread_detach(thread);
}
