/// A signal of the system that concerns the app's data.
public enum AppSignal: Hashable, Sendable {
    /// A network is available again, or another network.
    case networkIsBack
    /// There is no network.
    case networkIsGone
    /// True if the network is paid by the amount: a phone's network, or a phone's hotspot. False
    /// until the first signal.
    case networkIsExpensive(Bool)
    /// True if the user asks apps to save data on the network: Low Data Mode. False until the first
    /// signal.
    case networkSavesData(Bool)
    /// True if the device saves power. False until the first signal.
    case powerIsLow(Bool)
    /// The device was unlocked for the first time: protected data can be read.
    case protectedDataIsReadable
    /// The app entered the foreground.
    case cameForward
    /// The app entered the background, and the system may suspend it in some seconds.
    case wentBack
}

/// The source of an app's signals: the system, or a test.
public struct AppSignals: Sendable {
    /// Returns a stream of the signals from now on, until the stream is released.
    public var stream: @Sendable () -> AsyncStream<AppSignal>

    public init(_ stream: @escaping @Sendable () -> AsyncStream<AppSignal>) {
        self.stream = stream
    }

    /// No signals: the app sends them itself, with ``TidemarkStack/signal(_:)``.
    public static let none = AppSignals { AsyncStream { $0.finish() } }

    /// The system's signals: on Apple's systems, changes of the network's path, of the power mode,
    /// the first unlock and the entry to the foreground. On Linux there are no such signals.
    public static let system = AppSignals {
        #if canImport(Network)
            SystemSignals.stream()
        #else
            AsyncStream { $0.finish() }
        #endif
    }
}
