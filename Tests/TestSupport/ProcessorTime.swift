import Foundation

/// Returns how much processor time this thread takes for `body`, whatever else the machine does meanwhile.
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
