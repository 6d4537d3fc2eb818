/* Simulates a disk that needs 2 ms for each fsync: calls the system's own, then sleeps. For LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#define LEAST_NS 2000000L

static long since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - start->tv_sec) * 1000000000L + now.tv_nsec - start->tv_nsec;
}

static int slowly(const char *name, int descriptor) {
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int result = sync(descriptor);
  long rest = LEAST_NS - since(&start);
  if (rest > 0) {
    struct timespec pause = {0, rest};
    nanosleep(&pause, 0);
  }
  return result;
}

int fsync(int descriptor) { return slowly("fsync", descriptor); }
int fdatasync(int descriptor) { return slowly("fdatasync", descriptor); }
