import Foundation

/// Returns the processor time that this thread uses for `body`. Other work of the machine does not
/// count.
public func processorTime(of body: () throws -> Void) rethrows -> Duration {
    let begin = now()
    try body()
    return now() - begin
}

private func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
