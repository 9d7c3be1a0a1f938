import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TidemarkSystem

/// Examines a place on the network, one step at a time, on a separate thread.
///
/// ``close()`` ends abandoned steps: it closes the connections, and the thread ends with the last
/// step.
final class NetworkProbe: Sendable {
    /// The maximum number of bytes of an answer that are examined.
    static let maxAnswer = 4_096

    private struct State {
        var steps = 0
        var isClosed = false
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let state = Mutex(State())
    /// The trusted certificates, each as PEM; empty for the system's own.
    let authorities: [[UInt8]]
    /// Returns the seconds since 1970 by this device's clock.
    let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    init(authorities: [[UInt8]] = []) { self.authorities = authorities }

    var loop: any EventLoop { group.next() }
    /// True if the probe is closed and no step runs any longer.
    var isOver: Bool { state.withLock { $0.isClosed && $0.steps == 0 } }

    /// Ends running steps. No later step begins.
    func close() {
        let (channels, isIdle) = state.withLock { state in
            let wasClosed = state.isClosed
            state.isClosed = true
            return (Array(state.channels.values), !wasClosed && state.steps == 0)
        }
        for channel in channels { channel.close(promise: nil) }
        if isIdle { group.shutdownGracefully { _ in } }
    }

    /// Runs a step that needs the thread, which lives until the step ends.
    ///
    /// - Returns: The result; nil if the probe was closed.
    func step<T: Sendable>(_ body: () async -> T) async -> T? {
        let begins = state.withLock { state in
            if !state.isClosed { state.steps += 1 }
            return !state.isClosed
        }
        guard begins else { return nil }
        let value = await body()
        let isLast = state.withLock { state in
            state.steps -= 1
            return state.isClosed && state.steps == 0
        }
        if isLast { group.shutdownGracefully { _ in } }
        return value
    }

    /// Registers a connection, which is closed together with the probe.
    func keep(_ channel: any Channel) throws {
        let id = ObjectIdentifier(channel)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.channels[id] = channel }
            return state.isClosed
        }
        if isClosed { throw CancellationError() }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { _ = $0.channels.removeValue(forKey: id) }
        }
    }

    // MARK: This machine

    /// Returns the addresses that are not loopback, with the names of their interfaces.
    static func interfaces() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [String] = []
        var next = list
        while let item = next {
            next = item.pointee.ifa_next
            let flags = Int(item.pointee.ifa_flags)
            guard let address = item.pointee.ifa_addr, flags & Int(IFF_UP) != 0,
                flags & Int(IFF_LOOPBACK) == 0
            else { continue }
            let family = Int32(address.pointee.sa_family)
            guard family == AF_INET || family == AF_INET6, let text = text(of: address) else {
                continue
            }
            // A link-local address, which every interface assigns to itself, leads to no network.
            if text.hasPrefix("fe80") || text.hasPrefix("169.254.") { continue }
            found.append("\(String(cString: item.pointee.ifa_name)) \(text)")
        }
        return found
    }

    private static func text(of address: UnsafePointer<sockaddr>) -> String? {
        let isFour = Int32(address.pointee.sa_family) == AF_INET
        let size = isFour ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(
            address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the proxy of the environment, without a name and a password in it.
    static var proxy: String? {
        let environment = ProcessInfo.processInfo.environment
        let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        guard let text = names.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
            return nil
        }
        return text.split(separator: "@").last.map(String.init)
    }

    // MARK: Names

    enum Lookup: Sendable {
        case found([String])
        case unknown(String)
        case failed(String)
    }

    func addresses(of host: String) async -> Lookup {
        await withCheckedContinuation { continuation in
            // The system's call cannot be cancelled, so it has a separate thread.
            Thread.detachNewThread { continuation.resume(returning: Self.lookUp(host)) }
        }
    }

    private static func lookUp(_ host: String) -> Lookup {
        var hints = addrinfo()
        hints.ai_socktype = SystemCalls.streamSocket
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else {
            let reason = String(cString: gai_strerror(code))
            return code == EAI_NONAME ? .unknown(reason) : .failed(reason)
        }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var next = list
        while let item = next {
            next = item.pointee.ai_next
            if let address = item.pointee.ai_addr, let text = text(of: address),
                !found.contains(text)
            {
                found.append(text)
            }
        }
        return found.isEmpty ? .unknown("no address") : .found(found)
    }

    // MARK: Connections

    enum Connection: Hashable, Sendable {
        /// The address that accepted the connection.
        case connected(String)
        case refused
        case unreachable(String)
    }

    /// Connects to the first address that accepts a connection.
    func connect(to addresses: [String], port: Int) async -> Connection {
        await step {
            var last = Connection.refused
            for address in addresses.prefix(4) {
                do {
                    let channel = try await bootstrap().connect(to: address, port).get()
                    channel.close(promise: nil)
                    return .connected(address)
                } catch { last = Self.failure(error) }
            }
            return last
        } ?? .unreachable("closed")
    }

    /// - Parameter configure: Adds the handlers of the connection's pipeline.
    func bootstrap(
        _ configure: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) -> ClientBootstrap {
        ClientBootstrap(group: loop).connectTimeout(.seconds(60)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try self.keep(channel)
                try configure(channel)
            }
        }
    }

    private static func failure(_ error: any Error) -> Connection {
        let single = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        guard let error = single as? IOError else { return .unreachable("\(type(of: single))") }
        if error.errnoCode == ECONNREFUSED || error.errnoCode == ECONNRESET { return .refused }
        return .unreachable(String(cString: strerror(error.errnoCode)))
    }
}

extension ClientBootstrap {
    /// Connects without a second lookup of the name: all steps examine the address that the lookup
    /// step found.
    func connect(to address: String, _ port: Int) -> EventLoopFuture<any Channel> {
        guard let socket = try? SocketAddress(ipAddress: address, port: port) else {
            return connect(host: address, port: port)
        }
        return connect(to: socket)
    }
}
