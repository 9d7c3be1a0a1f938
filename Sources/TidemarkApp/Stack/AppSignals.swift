/// What the system tells an app that concerns its data.
public enum AppSignal: Hashable, Sendable {
    /// There is a network again, or another one.
    case networkIsBack
    /// There is no network.
    case networkIsGone
    /// Whether the network is paid by the amount, or one on which the person asks apps to save data. False
    /// until it is told.
    case networkIsExpensive(Bool)
    /// Whether the device saves power. False until it is told.
    case powerIsLow(Bool)
    /// The device was unlocked for the first time: what was protected can be read.
    case protectedDataIsReadable
    /// The app came to the foreground.
    case cameForward
    /// The app went to the background, and the system may suspend it in some seconds.
    case wentBack
}

/// Where an app's signals come from: the system, or a test.
public struct AppSignals: Sendable {
    /// Signals from now on, until the stream is dropped.
    public var stream: @Sendable () -> AsyncStream<AppSignal>

    public init(_ stream: @escaping @Sendable () -> AsyncStream<AppSignal>) {
        self.stream = stream
    }

    /// None: the app tells them itself, by ``TidemarkStack/signal(_:)``.
    public static let none = AppSignals { AsyncStream { $0.finish() } }

    /// The system's: on Apple's systems changes of the network's path, of the power mode, the first
    /// unlocking and the way to the foreground. Linux has no such words, and ``none`` is all.
    public static let system = AppSignals {
        #if canImport(Network)
            SystemSignals.stream()
        #else
            AsyncStream { $0.finish() }
        #endif
    }
}
