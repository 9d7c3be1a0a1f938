#if canImport(Network)
    import Foundation
    import Network
    import Synchronization

    /// The signals of Apple's systems. ``NetworkPathMachine`` interprets the path.
    enum SystemSignals {
        /// The maximum number of unread signals; above it, the oldest are dropped.
        private static let mostWaiting = 16

        static func stream() -> AsyncStream<AppSignal> {
            AsyncStream(bufferingPolicy: .bufferingNewest(mostWaiting)) { input in
                let machine = Mutex(NetworkPathMachine())
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { path in
                    let signals = machine.withLock { $0.step(NetworkPath(path)) }
                    for signal in signals { input.yield(signal) }
                }
                monitor.start(queue: DispatchQueue(label: "tidemark.path"))
                let observers = SystemObservers { input.yield($0) }
                if ProcessInfo.processInfo.isLowPowerModeEnabled { input.yield(.powerIsLow(true)) }
                input.onTermination = { _ in
                    monitor.cancel()
                    observers.end()
                }
            }
        }
    }

    extension NetworkPath {
        init(_ path: NWPath) {
            isUsable = path.status == .satisfied
            isExpensive = path.isExpensive
            isConstrained = path.isConstrained
            ways =
                path.availableInterfaces.map(\.name) + path.gateways.map { String(describing: $0) }
        }
    }

    /// Observes signals by the names of UIKit and Foundation, so no user interface is linked.
    // @unchecked: the tokens are only returned to the centre, which any thread may call.
    private final class SystemObservers: @unchecked Sendable {
        private let tokens: [any NSObjectProtocol]

        init(_ notify: @escaping @Sendable (AppSignal) -> Void) {
            let signals: [(name: String, signal: @Sendable () -> AppSignal)] = [
                (
                    "UIApplicationProtectedDataDidBecomeAvailable",
                    { .protectedDataIsReadable }
                ),
                ("UIApplicationWillEnterForegroundNotification", { .cameForward }),
                ("UIApplicationDidEnterBackgroundNotification", { .wentBack }),
                (
                    "NSProcessInfoPowerStateDidChangeNotification",
                    { .powerIsLow(ProcessInfo.processInfo.isLowPowerModeEnabled) }
                ),
            ]
            tokens = signals.map { name, signal in
                NotificationCenter.default.addObserver(
                    forName: Notification.Name(name), object: nil, queue: nil
                ) { _ in notify(signal()) }
            }
        }

        func end() {
            for token in tokens { NotificationCenter.default.removeObserver(token) }
        }
    }
#endif
