/* measure REPORT COMMAND...: runs the command and writes one line to REPORT: wall-clock seconds,
 * peak memory in bytes, exit status (128 + signal if killed), seconds of all processors.
 *
 * A program and not a few lines of Python, because a process inherits the peak of the one that
 * started it: under Python nothing would seem to need less memory than Python.
 */
#define _DEFAULT_SOURCE

#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
enum { PEAK_UNIT = 1 };
#else
enum { PEAK_UNIT = 1024 };
#endif

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

int main(int count, char **words)
{
    if (count < 3) {
        fputs("usage: measure REPORT COMMAND...\n", stderr);
        return 2;
    }
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(words[2], words + 2);
        perror(words[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("measure");
        return 2;
    }
    double seconds = now() - start;
    FILE *report = fopen(words[1], "w");
    if (report == NULL) {
        perror(words[1]);
        return 2;
    }
    fprintf(report, "%.6f %lld %d %.6f\n", seconds, (long long)usage.ru_maxrss * PEAK_UNIT,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
    return fclose(report) == 0 ? 0 : 2;
}
