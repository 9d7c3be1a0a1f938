import Foundation
import NIOCore
import NIOSSL
import NIOTLS

/// The place to examine: the called name, and its address.
struct ProbedPlace: Hashable, Sendable {
    var host: String
    var address: String
    var port: Int
}

// TLS, and the trust in the other side.

extension NetworkProbe {
    struct Security: Sendable {
        let finding: Evidence.Securing
        let detail: String
    }

    /// The trust of a handshake.
    enum Trust: Sendable {
        /// The certificate authorities, as clients trust them.
        case authorities
        /// Only the owner of this certificate.
        case only(NIOSSLCertificate)
        /// Every certificate, to see the other side. No secret is sent.
        case anybody
    }

    /// Makes a handshake like clients. If it fails, makes a second that trusts every certificate,
    /// to see the other side.
    func secure(_ place: ProbedPlace) async -> Security {
        await step { () async -> Security in
            let reason: any Error
            do {
                let certificate = try await certificate(place, .authorities)
                return Security(finding: .secured, detail: Self.dates(certificate))
            } catch { reason = error }
            guard let certificate = try? await certificate(place, .anybody) else {
                return Security(finding: .otherProtocol, detail: "no TLS: \(type(of: reason))")
            }
            return await judge(certificate, place: place, reason: reason)
        } ?? Security(finding: .noAnswer, detail: "closed")
    }

    private func judge(
        _ certificate: NIOSSLCertificate, place: ProbedPlace, reason: any Error
    ) async -> Security {
        let dates = Self.dates(certificate)
        // Names are compared after everything else was found valid.
        if let error = reason as? NIOSSLExtraError, error == .failedToValidateHostname {
            let names = Self.names(certificate).joined(separator: ", ")
            return Security(
                finding: .otherName, detail: "\(dates), for \(names) and not for \(place.host)")
        }
        let now = now()
        if now < certificate.notValidBefore {
            return Security(finding: .notYetValid, detail: dates)
        }
        if now > certificate.notValidAfter { return Security(finding: .expired, detail: dates) }
        let isItsOwn = (try? await self.certificate(place, .only(certificate))) != nil
        let who = isItsOwn ? "itself" : "an unknown issuer"
        return Security(finding: .untrusted, detail: "\(dates), signed by \(who)")
    }

    private static func dates(_ certificate: NIOSSLCertificate) -> String {
        func day(_ seconds: Int) -> String {
            Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        }
        return "certificate from \(day(certificate.notValidBefore)) "
            + "until \(day(certificate.notValidAfter))"
    }

    /// Returns the first hosts of a certificate, at most five.
    private static func names(_ certificate: NIOSSLCertificate) -> [String] {
        let names = certificate._subjectAlternativeNames().filter { $0.nameType == .dnsName }
        return names.isEmpty
            ? ["no host"] : names.prefix(5).map { String(decoding: $0.contents, as: UTF8.self) }
    }

    private func certificate(
        _ place: ProbedPlace, _ trust: Trust
    ) async throws -> NIOSSLCertificate {
        let channel = try await connection(to: place, tls: TLS(trust: trust))
        defer { channel.close(promise: nil) }
        return try await channel.eventLoop.submit {
            let handler = try channel.pipeline.syncOperations.handler(
                type: NIOSSLClientHandler.self)
            guard let certificate = handler.peerCertificate else {
                throw NIOSSLError.noCertificateToValidate
            }
            return certificate
        }.get()
    }

    // MARK: Connections

    struct TLS: Sendable {
        var trust = Trust.authorities
        var protocols = ["h2"]
    }

    /// - Returns: The connection, after the handshake, or without TLS after the connection.
    func connection(
        to place: ProbedPlace, tls: TLS?,
        _ handler: (@Sendable () -> any ChannelHandler & Sendable)? = nil
    ) async throws -> any Channel {
        let context = try tls.map(context)
        let isAddress = (try? SocketAddress(ipAddress: place.host, port: place.port)) != nil
        let secured = loop.makePromise(of: Void.self)
        let connected = bootstrap { channel in
            if let context {
                let client = try NIOSSLClientHandler(
                    context: context, serverHostname: isAddress ? nil : place.host)
                try channel.pipeline.syncOperations.addHandlers(client, HandshakeWait(secured))
            }
            if let handler { try channel.pipeline.syncOperations.addHandler(handler()) }
        }.connect(to: place.address, place.port)
        connected.whenFailure { secured.fail($0) }
        if context == nil { connected.whenSuccess { _ in secured.succeed() } }
        try await secured.futureResult.get()
        return try await connected.get()
    }

    private func context(_ tls: TLS) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = tls.protocols
        switch tls.trust {
        case .authorities where authorities.isEmpty: break
        case .authorities:
            configuration.trustRoots = .certificates(
                try authorities.map { try NIOSSLCertificate(bytes: $0, format: .pem) })
        case .only(let certificate):
            configuration.trustRoots = .certificates([certificate])
            configuration.certificateVerification = .noHostnameVerification
        case .anybody: configuration.certificateVerification = .none
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// Reports the end of a handshake, or its failure.
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
