import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Looks at one place on the network, one step at a time, on a thread of its own.
struct NetworkProbe: Sendable {
    /// Bytes of an answer that are looked at.
    static let maxAnswer = 4_096

    let loop: any EventLoop

    // MARK: This machine

    /// Addresses that are not this machine's own, with the names of their interfaces.
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
            // One that every interface gives itself leads nowhere.
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

    /// What the environment says, without a name and a password that it may hold.
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
            // The system's call cannot be ended; the thread is one of its own.
            Thread.detachNewThread { continuation.resume(returning: Self.lookUp(host)) }
        }
    }

    private static func lookUp(_ host: String) -> Lookup {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
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

    enum Connection: Sendable {
        case connected(String)
        case refused
        case unreachable(String)
    }

    /// The first of the addresses that takes a connection.
    func connect(to addresses: [String], port: Int) async -> Connection {
        var last = Connection.refused
        for address in addresses.prefix(4) {
            do {
                let channel = try await ClientBootstrap(group: loop)
                    .connectTimeout(.seconds(60)).connect(host: address, port: port).get()
                channel.close(promise: nil)
                return .connected("\(address) port \(port)")
            } catch { last = Self.failure(error) }
        }
        return last
    }

    private static func failure(_ error: any Error) -> Connection {
        let single = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        guard let error = single as? IOError else { return .unreachable("\(type(of: single))") }
        if error.errnoCode == ECONNREFUSED || error.errnoCode == ECONNRESET { return .refused }
        return .unreachable(String(cString: strerror(error.errnoCode)))
    }

    struct Security: Sendable {
        let finding: Evidence.Securing
        let detail: String
    }

    /// A handshake as clients make it; when it fails, one that trusts anybody, to see who is there.
    func secure(host: String, port: Int) async -> Security {
        if let dates = try? await certificate(host, port, verifies: true) {
            return Security(finding: .secured, detail: dates.text)
        }
        do {
            let dates = try await certificate(host, port, verifies: false)
            let now = Int64(Date().timeIntervalSince1970)
            if now < dates.from { return Security(finding: .notYetValid, detail: dates.text) }
            if now > dates.until { return Security(finding: .expired, detail: dates.text) }
            return Security(finding: .untrusted, detail: dates.text)
        } catch { return Security(finding: .otherProtocol, detail: "no TLS: \(type(of: error))") }
    }

    private struct Dates: Sendable {
        let from, until: Int64
        var text: String { "certificate from \(Self.day(from)) until \(Self.day(until))" }

        private static func day(_ seconds: Int64) -> String {
            Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        }
    }

    private func certificate(
        _ host: String, _ port: Int, verifies: Bool
    ) async throws -> Dates {
        let channel = try await channel(host, port, usesTLS: true, verifies: verifies)
        defer { channel.close(promise: nil) }
        return try await channel.eventLoop.submit {
            let handler = try channel.pipeline.syncOperations.handler(
                type: NIOSSLClientHandler.self)
            guard let certificate = handler.peerCertificate else {
                throw NIOSSLError.noCertificateToValidate
            }
            return Dates(
                from: Int64(certificate.notValidBefore), until: Int64(certificate.notValidAfter))
        }.get()
    }

    /// - Returns: Once the handshake is over.
    private func channel(
        _ host: String, _ port: Int, usesTLS: Bool, verifies: Bool = true,
        _ handler: (@Sendable () -> any ChannelHandler & Sendable)? = nil
    ) async throws -> any Channel {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["h2"]
        if !verifies { configuration.certificateVerification = .none }
        let context = usesTLS ? try NIOSSLContext(configuration: configuration) : nil
        let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
        let secured = loop.makePromise(of: Void.self)
        let connected = ClientBootstrap(group: loop)
            .connectTimeout(.seconds(60))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        let tls = try NIOSSLClientHandler(
                            context: context, serverHostname: isAddress ? nil : host)
                        try channel.pipeline.syncOperations.addHandlers(
                            tls, HandshakeWait(secured))
                    }
                    if let handler { try channel.pipeline.syncOperations.addHandler(handler()) }
                }
            }
            .connect(host: host, port: port)
        connected.whenFailure { secured.fail($0) }
        if !usesTLS { connected.whenSuccess { _ in secured.succeed() } }
        try await secured.futureResult.get()
        return try await connected.get()
    }

    // MARK: What is spoken there

    struct Speech: Sendable {
        let finding: Evidence.Speaking
        let detail: String
        var clockAhead: Int64?
    }

    /// Says hello in HTTP/2, and looks at what comes back.
    func speak(host: String, port: Int, usesTLS: Bool) async -> Speech {
        let answer = loop.makePromise(of: [UInt8].self)
        do {
            let channel = try await channel(host, port, usesTLS: usesTLS) { FirstWords(answer) }
            // The preface, and an empty SETTINGS frame.
            let hello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            var bytes = channel.allocator.buffer(string: hello)
            bytes.writeBytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
            channel.writeAndFlush(bytes, promise: nil)
            defer { channel.close(promise: nil) }
            return Self.speech(
                try await answer.futureResult.get(), now: Int64(Date().timeIntervalSince1970))
        } catch {
            answer.fail(error)
            return Speech(finding: .closed, detail: "closed: \(type(of: error))")
        }
    }

    /// What the first bytes of an answer are.
    static func speech(_ bytes: [UInt8], now: Int64) -> Speech {
        if bytes.isEmpty { return Speech(finding: .closed, detail: "closed without a word") }
        if bytes.count >= 4, bytes[3] == 4 { return Speech(finding: .http2, detail: "HTTP/2") }
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
            return Speech(finding: .otherProtocol, detail: "\(bytes.count) bytes of no HTTP")
        }
        func header(_ name: String) -> String? {
            lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
        let place = header("location").map { " to \($0)" } ?? ""
        let date = header("date").flatMap(Self.httpDate)
        let finding: Evidence.Speaking =
            switch status {
            case 300..<400, 511: .redirected
            case 407: .proxyAsks
            default:
                (header("content-type") ?? "").lowercased().hasPrefix("text/html")
                    && status == 200 ? .redirected : .otherProtocol
            }
        return Speech(
            finding: finding, detail: "HTTP status \(status)\(place)",
            clockAhead: date.map { now - $0 })
    }

    private static func httpDate(_ text: String) -> Int64? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text).map { Int64($0.timeIntervalSince1970) }
    }
}

/// Tells when a handshake is over, or will never be.
private final class HandshakeWait: ChannelInboundHandler, Sendable {
    typealias InboundIn = NIOAny

    private let done: EventLoopPromise<Void>

    init(_ done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}

/// The first bytes that come; none when the connection ends before.
private final class FirstWords: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let answer: EventLoopPromise<[UInt8]>

    init(_ answer: EventLoopPromise<[UInt8]>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        answer.succeed(
            Array(unwrapInboundIn(data).readableBytesView.prefix(NetworkProbe.maxAnswer)))
    }

    func channelInactive(context: ChannelHandlerContext) { answer.succeed([]) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.succeed([])
        context.close(promise: nil)
    }
}
