import Foundation
import Synchronization

#if canImport(Network)
    import Network
#endif

/// What the system tells an app that concerns its data.
public enum AppSignal: Hashable, Sendable {
    /// There is a network again, or another one.
    case networkIsBack
    /// The device was unlocked for the first time: what was protected can be read.
    case protectedDataIsReadable
    /// The app came to the foreground.
    case cameForward
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

    /// The system's: on Apple's systems changes of the network's path, the first unlocking and the way to
    /// the foreground. Linux has no such words, and ``none`` is all.
    public static let system = AppSignals {
        #if canImport(Network)
            AsyncStream(bufferingPolicy: .bufferingNewest(16)) { input in
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { path in
                    if path.status == .satisfied { input.yield(.networkIsBack) }
                }
                monitor.start(queue: DispatchQueue(label: "tidemark.path"))
                let observers = SystemObservers(input)
                input.onTermination = { _ in
                    monitor.cancel()
                    observers.end()
                }
            }
        #else
            AsyncStream { $0.finish() }
        #endif
    }
}

#if canImport(Network)
    /// By the names that UIKit gives, so that no user interface is linked.
    private final class SystemObservers: Sendable {
        private let tokens: Mutex<[any NSObjectProtocol & Sendable]>

        init(_ input: AsyncStream<AppSignal>.Continuation) {
            let names: [(String, AppSignal)] = [
                ("UIApplicationProtectedDataDidBecomeAvailable", .protectedDataIsReadable),
                ("UIApplicationWillEnterForegroundNotification", .cameForward),
            ]
            tokens = Mutex(
                names.compactMap { name, signal in
                    NotificationCenter.default.addObserver(
                        forName: Notification.Name(name), object: nil, queue: nil
                    ) { _ in input.yield(signal) } as? any NSObjectProtocol & Sendable
                })
        }

        func end() {
            for token in tokens.withLock({ $0 }) {
                NotificationCenter.default.removeObserver(token)
            }
        }
    }
#endif
