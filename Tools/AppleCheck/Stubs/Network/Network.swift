// https://developer.apple.com/documentation/network
public import Dispatch
import Synchronization

/// https://developer.apple.com/documentation/network/nwinterface
public struct NWInterface: Hashable, Sendable {
    public let name: String
    public init(stub name: String) { self.name = name }
}

/// https://developer.apple.com/documentation/network/nwendpoint
public struct NWEndpoint: Hashable, Sendable, CustomDebugStringConvertible {
    public let debugDescription: String
    public init(stub text: String) { debugDescription = text }
}

/// https://developer.apple.com/documentation/network/nwpath
public struct NWPath: Equatable, Sendable {
    /// https://developer.apple.com/documentation/network/nwpath/status-swift.enum
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }

    public let status: Status
    public let availableInterfaces: [NWInterface]
    public let isExpensive: Bool
    public let isConstrained: Bool
    public let gateways: [NWEndpoint]

    public init(
        stub status: Status, _ interfaces: [String], gateways: [String] = [],
        isExpensive: Bool = false, isConstrained: Bool = false
    ) {
        self.status = status
        availableInterfaces = interfaces.map(NWInterface.init(stub:))
        self.gateways = gateways.map(NWEndpoint.init(stub:))
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }
}

/// Passes the paths that a test sets to the handler, on its queue, while the monitor is started.
///
/// https://developer.apple.com/documentation/network/nwpathmonitor
public final class NWPathMonitor: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
    }

    private let state = Mutex(State())
    private static let started = Mutex<[ObjectIdentifier: NWPathMonitor]>([:])

    public init() {}

    /// https://developer.apple.com/documentation/network/nwpathmonitor/pathupdatehandler
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { state.withLock(\.handler) }
        set { state.withLock { $0.handler = newValue } }
    }

    /// https://developer.apple.com/documentation/network/nwpathmonitor/start(queue:)
    public func start(queue: DispatchQueue) {
        state.withLock { $0.queue = queue }
        Self.started.withLock { $0[ObjectIdentifier(self)] = self }
    }

    /// https://developer.apple.com/documentation/network/nwpathmonitor/cancel()
    public func cancel() {
        _ = Self.started.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    }

    /// The number of started monitors.
    public static var stubCount: Int { started.withLock(\.count) }

    /// Passes a path to all started monitors.
    public static func stubTell(_ path: NWPath) {
        for monitor in started.withLock({ Array($0.values) }) {
            let (handler, queue) = monitor.state.withLock { ($0.handler, $0.queue) }
            queue?.sync { handler?(path) }
        }
    }
}
