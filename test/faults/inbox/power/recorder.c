/*
 * Preloaded into a process (LD_PRELOAD), records what the process does to the files in POWER_FOLDER, in one order for all
 * threads and processes, at the end of POWER_LOG. One line for each call, `kind offset length who name`, followed by the
 * bytes, if any:
 *
 *   c  created a file    u  deleted it       t  truncated it to `offset` bytes   w  wrote
 *   b  fsync or fdatasync begins             e  it has succeeded
 *
 * The folder itself is `.`. A write is recorded when it is done, so only a sync that begins later covers it.
 * Includes no headers, so that a compiler is enough: these declarations are the same on every 64-bit Linux.
 */
typedef unsigned long size;
struct part {
  const void *bytes;
  size length;
};

#define NEXT ((void *)-1L)
#define MADE 0100
#define CUT 01000
#define LOG_FLAGS (01 | 0100 | 02000 | 02000000)

extern void *dlsym(void *from, const char *name);
extern char *getenv(const char *name);
extern int snprintf(char *to, size room, const char *format, ...);
extern int strncmp(const char *one, const char *other, size length);
extern size strlen(const char *text);
extern char *strchr(const char *text, int letter);
extern long readlink(const char *path, char *to, size room);
extern long writev(int file, const struct part *parts, int count);
extern long lseek(int file, long offset, int whence);
extern int access(const char *path, int mode);
extern int getpid(void);
extern void abort(void);

static int (*openNext)(const char *, int, ...);

static int logFile(void) {
  static int file = -1;
  if (file < 0) {
    if (!openNext) openNext = dlsym(NEXT, "open");
    int opened = openNext(getenv("POWER_LOG"), LOG_FLAGS, 0644);
    if (opened < 0) abort();
    file = opened;
  }
  return file;
}

/* Writes in one call, so that no other process or thread gets between the line and its bytes. */
static void tell(char kind, long offset, const void *bytes, size length, const void *who, const char *name) {
  char line[512];
  size used = snprintf(line, sizeof line, "%c %ld %lu %d-%p %s\n", kind, offset, length, getpid(), who, name);
  struct part parts[2] = {{line, used}, {bytes, length}};
  if (writev(logFile(), parts, 2) != (long)(used + length)) abort();
}

/* Returns the file's name in the folder, or 0 if it is not in it (any more). */
static const char *within(const char *path) {
  const char *folder = getenv("POWER_FOLDER");
  if (!folder) return 0;
  size length = strlen(folder);
  if (strncmp(path, folder, length) != 0) return 0;
  if (path[length] == 0) return ".";
  return path[length] == '/' && !strchr(path, ' ') ? path + length + 1 : 0;
}

static const char *nameOf(int file, char path[4096]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  long length = readlink(link, path, 4095);
  if (length < 0) return 0;
  path[length] = 0;
  return within(path);
}

/* The last argument is variadic in the header: these machines pass it the same way. */
#define OPEN(symbol)                                              \
  int symbol(const char *path, int flags, unsigned mode) {        \
    static int (*next)(const char *, int, ...);                   \
    if (!next) next = dlsym(NEXT, #symbol);                       \
    int isNew = flags & MADE && access(path, 0) != 0;             \
    int file = next(path, flags, mode);                           \
    if (file < 0 || !(flags & (MADE | CUT))) return file;         \
    char found[4096];                                             \
    const char *name = nameOf(file, found);                       \
    if (name && isNew) tell('c', 0, "", 0, 0, name);              \
    if (name && !isNew && flags & CUT) tell('t', 0, "", 0, 0, name); \
    return file;                                                  \
  }
OPEN(open)
OPEN(open64)

long write(int file, const void *bytes, size length) {
  static long (*next)(int, const void *, size);
  if (!next) next = dlsym(NEXT, "write");
  long done = next(file, bytes, length);
  if (done <= 0) return done;
  char path[4096];
  const char *name = nameOf(file, path);
  if (name) tell('w', lseek(file, 0, 1) - done, bytes, done, 0, name);
  return done;
}

#define PWRITE(symbol)                                                          \
  long symbol(int file, const void *bytes, size length, long offset) {          \
    static long (*next)(int, const void *, size, long);                         \
    if (!next) next = dlsym(NEXT, #symbol);                                     \
    long done = next(file, bytes, length, offset);                              \
    if (done <= 0) return done;                                                 \
    char path[4096];                                                            \
    const char *name = nameOf(file, path);                                      \
    if (name) tell('w', offset, bytes, done, 0, name);                          \
    return done;                                                                \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define CUT_TO(symbol)                                        \
  int symbol(int file, long length) {                         \
    static int (*next)(int, long);                            \
    if (!next) next = dlsym(NEXT, #symbol);                   \
    int failed = next(file, length);                          \
    if (failed) return failed;                                \
    char path[4096];                                          \
    const char *name = nameOf(file, path);                    \
    if (name) tell('t', length, "", 0, 0, name);              \
    return failed;                                            \
  }
CUT_TO(ftruncate)
CUT_TO(ftruncate64)

int unlink(const char *path) {
  static int (*next)(const char *);
  if (!next) next = dlsym(NEXT, "unlink");
  int failed = next(path);
  const char *name = failed ? 0 : within(path);
  if (name) tell('u', 0, "", 0, 0, name);
  return failed;
}

#define SYNC(symbol)                                    \
  int symbol(int file) {                                \
    static int (*next)(int);                            \
    if (!next) next = dlsym(NEXT, #symbol);             \
    char path[4096];                                    \
    const char *name = nameOf(file, path);              \
    if (name) tell('b', 0, "", 0, path, name);          \
    int failed = next(file);                            \
    if (name && !failed) tell('e', 0, "", 0, path, name); \
    return failed;                                      \
  }
SYNC(fsync)
SYNC(fdatasync)
