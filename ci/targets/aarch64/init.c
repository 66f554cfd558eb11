/* The only process of the emulated machine: mounts the tests' file systems, runs the tests one after the other, reports
 * their results, and switches the machine off. Its arguments are the names of programs under /tests. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY);
    if (fd < 0)
        return -1;
    ssize_t written = write(fd, text, strlen(text));
    close(fd);
    return written < 0 ? -1 : 0;
}

/* Runs one program, "name,filter,filter"; its last line reports its tests. Only programs that die are counted here. */
static void run(char *name) {
    char path[128];
    /* One test at a time: tests that count themselves must not share the CPU. */
    char *arguments[16] = {path, (char *)"--test-threads=1"};
    int count = 2;
    for (char *comma = strchr(name, ','); comma != NULL && count < 15; comma = strchr(comma, ',')) {
        *comma++ = 0;
        arguments[count++] = comma;
    }
    snprintf(path, sizeof path, "/tests/%s", name);
    printf("init: running %s\n", name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execv(path, arguments);
        perror(path);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    /* 101 is the harness's status for a failed test, which it has already counted. */
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 101)) {
        printf("init: %s ended with status %#x\n", name, status);
        printf("init: 0 passed, 1 failed\n");
    }
}

int main(int count, char **arguments) {
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    mount("tmp", "/tmp", "tmpfs", 0, NULL);
    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
    char command[1024] = "";
    int fd = open("/proc/cmdline", O_RDONLY);
    if (fd >= 0) {
        if (read(fd, command, sizeof command - 1) < 0)
            command[0] = 0;
        close(fd);
    }
    int access = strstr(command, "picollo.access=1") != NULL;
    if (write_file("/proc/sys/kernel/perf_user_access", access ? "1" : "0") != 0)
        printf("init: perf_user_access cannot be set: 0 passed, 1 failed\n");
    setenv("PICOLLO_TEST_PMU", access ? "user" : "kernel", 1);
    setenv("RUST_BACKTRACE", "0", 1);
    /* The machine is thrown away. */
    setenv("PICOLLO_MAY_CHANGE_THIS_MACHINE", "1", 1);
    for (int i = 1; i < count; i++)
        run(arguments[i]);
    printf("init: done\n");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
