import Foundation
public import Observation
public import Tidemark

/// The time, as of the last minute, for views that show how long ago things were.
///
/// All views share ``shared``: one timer runs while any view calls ``watch()``, none otherwise. It
/// reads nothing, from disk or server.
///
/// ```swift
/// let text = relative.text(for: sentAt, at: Ticker.shared.now)
/// ```
@MainActor @Observable
public final class Ticker {
    /// Of the device's clock, a step a minute.
    public static let shared = Ticker(
        clock: ContinuousClock(), wallClock: { Timestamp(date: Date()) })

    /// When it last ticked; the present time when somebody begins to look.
    public private(set) var now: Timestamp

    @ObservationIgnored private let period: Duration
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private let wallClock: @Sendable () -> Timestamp
    @ObservationIgnored private var timer: Task<Void, Never>?
    /// How many look.
    @ObservationIgnored package private(set) var watchers = 0

    /// - Parameters:
    ///   - period: Between two ticks; positive.
    ///   - clock: What waits for the next tick.
    ///   - wallClock: What time it is.
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

    /// Keeps the time going until the task is cancelled, as a view's `task` is when it goes.
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
