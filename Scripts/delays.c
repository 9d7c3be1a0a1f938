// Delays some of Swift's tasks at random, so that a test meets orders of events that are rare on
// an idle machine. Scripts/delays loads this library before the tests.
//
// The seed is TIDEMARK_DELAYS. Of 1,000 jobs of the shared pool, 20 begin up to 30 ms later, and 4
// up to 400 ms later. The main queue sleeps as often and as long. Jobs of an actor keep their order.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Job Job;
typedef __attribute__((swiftcall)) void (*Enqueue)(Job *);
typedef __attribute__((swiftcall)) void (*Hook)(Job *, Enqueue);
// The hooks of Swift's runtime, for an executor of another library.
extern Hook swift_task_enqueueGlobal_hook;
extern Hook swift_task_enqueueMainExecutor_hook;

struct Late {
    Job *job;
    Enqueue enqueue;
};

static _Atomic uint64_t counter;

// SplitMix64: a number of a sequence that the seed decides.
static uint64_t next_number(void) {
    uint64_t z = atomic_fetch_add(&counter, 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// Returns a delay in nanoseconds, mostly 0.
static uint64_t next_delay(void) {
    uint64_t choice = next_number() % 1000;
    if (choice < 4) return next_number() % 400000000;
    if (choice < 24) return next_number() % 30000000;
    return 0;
}

static void enqueue_late(void *context) {
    struct Late late = *(struct Late *)context;
    free(context);
    late.enqueue(late.job);
}

static __attribute__((swiftcall)) void enqueue_global(Job *job, Enqueue enqueue) {
    uint64_t delay = next_delay();
    struct Late *late = delay ? malloc(sizeof *late) : NULL;
    if (!late) {
        enqueue(job);
        return;
    }
    *late = (struct Late){job, enqueue};
    dispatch_after_f(
        dispatch_time(DISPATCH_TIME_NOW, (int64_t)delay), dispatch_get_global_queue(0, 0), late,
        enqueue_late);
}

static void sleep_here(void *delay) { usleep((useconds_t)((uintptr_t)delay / 1000)); }

static __attribute__((swiftcall)) void enqueue_main(Job *job, Enqueue enqueue) {
    uint64_t delay = next_delay();
    if (delay) {
        dispatch_async_f(dispatch_get_main_queue(), (void *)(uintptr_t)delay, sleep_here);
    }
    enqueue(job);
}

__attribute__((constructor)) static void begin(void) {
    const char *seed = getenv("TIDEMARK_DELAYS");
    if (!seed) return;
    counter = strtoull(seed, NULL, 10) * 0x9e3779b97f4a7c15ull;
    swift_task_enqueueGlobal_hook = enqueue_global;
    swift_task_enqueueMainExecutor_hook = enqueue_main;
}
