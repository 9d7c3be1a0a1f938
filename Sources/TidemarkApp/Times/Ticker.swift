import Foundation
public import Observation
public import Tidemark

/// The time, as of the last minute, for views that show the age of events.
///
/// All views share ``shared``: a timer runs while any view calls ``watch()``, and otherwise none.
/// The ticker reads neither the disk nor a server.
///
/// ```swift
/// let text = relative.text(for: sentAt, at: Ticker.shared.now)
/// ```
@MainActor @Observable
public final class Ticker {
    /// The shared ticker of the device's clock, which ticks once a minute.
    public static let shared = Ticker(
        clock: ContinuousClock(), wallClock: { Timestamp(date: Date()) })

    /// The time of the last tick, or of the moment when the first watcher began.
    public private(set) var now: Timestamp

    @ObservationIgnored private let period: Duration
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private let wallClock: @Sendable () -> Timestamp
    @ObservationIgnored private var timer: Task<Void, Never>?
    /// The number of watchers.
    @ObservationIgnored package private(set) var watchers = 0

    /// - Parameters:
    ///   - period: The time between two ticks; positive.
    ///   - clock: The clock that waits for the next tick.
    ///   - wallClock: Returns the present time.
    public init(
        every period: Duration = .seconds(60), clock: any Clock<Duration>,
        wallClock: @escaping @Sendable () -> Timestamp
    ) {
        precondition(period > .zero, "a ticker needs time between two ticks")
        self.period = period
        self.clock = clock
        self.wallClock = wallClock
        now = wallClock()
    }

    deinit { timer?.cancel() }

    /// Keeps the ticker running until the task is cancelled; a view's `task` is cancelled when the
    /// view disappears.
    public func watch() async {
        begin()
        defer { end() }
        let (stream, input) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        input.finish()
    }

    private func begin() {
        watchers += 1
        guard watchers == 1 else { return }
        now = wallClock()
        timer = Task { [weak self, clock, period] in
            while !Task.isCancelled {
                do { try await clock.sleep(for: period) } catch { return }
                guard let self, !Task.isCancelled else { return }
                now = wallClock()
            }
        }
    }

    private func end() {
        watchers -= 1
        guard watchers == 0 else { return }
        timer?.cancel()
        timer = nil
    }
}
