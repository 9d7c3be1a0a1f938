// Replaces the slow paths of `Mutex` in Swift's Synchronization, for a build under ThreadSanitizer.
// The library's own code is not instrumented, so ThreadSanitizer would report the data behind a
// lock after a thread has waited for the lock. A program that is linked with these functions uses
// them instead of the library's.
//
// The lock's word is the id of the thread that holds it, or 0. The library sets a bit of the word
// while a thread waits. These functions set none, so Swift's own code always unlocks.
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

__attribute__((swiftcall)) void tidemark_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *word)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void tidemark_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *word) {
    uint32_t nobody = 0;
    while (!atomic_compare_exchange_strong_explicit(
        word, &nobody, thread, memory_order_acquire, memory_order_relaxed)) {
        nobody = 0;
        sched_yield();
    }
}

__attribute__((swiftcall)) void tidemark_unlock_slow(
    __attribute__((swift_context)) _Atomic uint32_t *word)
    __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

__attribute__((swiftcall)) void tidemark_unlock_slow(
    __attribute__((swift_context)) _Atomic uint32_t *word) {
    atomic_store_explicit(word, 0, memory_order_release);
}
