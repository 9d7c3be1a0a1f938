// What `Mutex` of Swift's Synchronization does when somebody else has the lock, for a build under
// ThreadSanitizer. The library's own is not instrumented: whoever has waited for a lock would be reported
// for what the lock guards. These take the place of the library's where a program is linked with them.
//
// The lock's word is the id of the thread that holds it, and 0 where nobody does. The library sets a bit of
// it while somebody waits; these set none, so unlocking is always done in Swift.
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
