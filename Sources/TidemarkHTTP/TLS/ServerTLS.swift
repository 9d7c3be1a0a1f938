public import Foundation
import NIOCore
import NIOSSL
import NIOTLS

/// Encrypts a server's connections. Browsers then use HTTP/2, with one connection for all tabs of a
/// site. Without encryption, they use HTTP/1.1 and at most six connections.
public struct ServerTLS: Sendable {
    /// The names of the files in a server's folder.
    static let (certificateName, keyName) = ("tidemark-tls.crt", "tidemark-tls.key")

    /// The path of the certificate, in PEM. Browsers and programs must be configured to trust it.
    public let certificatePath: String
    private let context: NIOSSLContext

    /// Uses an existing certificate, from a tool whose certificates this machine already trusts.
    ///
    /// - Parameters:
    ///   - certificatePath: The certificate in PEM, followed by the certificates that sign it.
    ///   - keyPath: The certificate's key, in PEM.
    /// - Throws: A sentence that states the error in the files.
    public init(certificatePath: String, keyPath: String) throws(ServerTLSError) {
        self.certificatePath = certificatePath
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificatePath)
            let key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["h2", "http/1.1"]
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw ServerTLSError(
                "\(certificatePath) and \(keyPath) are not a certificate and its key.")
        }
    }

    /// Uses the certificate in a folder. The certificate is made at the first start, and is
    /// replaced if it expires soon or does not cover all names. Only the owner can read the key.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is made if it does not exist.
    ///   - names: Names and addresses of hosts, in addition to `localhost` and the loopback
    ///     addresses.
    ///   - now: The current time.
    /// - Returns: The encryption, and whether the certificate is new. No client trusts a new
    ///   certificate yet.
    /// - Throws: A sentence with the error of the disk.
    public static func kept(
        in folder: String, for names: [String], now: Date = Date()
    ) throws(ServerTLSError) -> (tls: ServerTLS, isNew: Bool) {
        let (certificate, key) = (folder + "/" + certificateName, folder + "/" + keyName)
        let wanted = ["localhost", "127.0.0.1", "::1"] + names
        let isKnown = read(certificate, key)?.isGood(for: wanted, now: now) ?? false
        if !isKnown {
            do {
                try write(
                    ServerCertificate(for: wanted, now: now), certificate: certificate, key: key)
            } catch {
                throw ServerTLSError(
                    """
                    A certificate cannot be created in \(folder): \(error)
                    """)
            }
        }
        return (try ServerTLS(certificatePath: certificate, keyPath: key), !isKnown)
    }

    private static func read(_ certificate: String, _ key: String) -> ServerCertificate? {
        guard let text = try? String(contentsOfFile: certificate, encoding: .utf8),
            let keyText = try? String(contentsOfFile: key, encoding: .utf8)
        else { return nil }
        return ServerCertificate(certificatePEM: text, keyPEM: keyText)
    }

    /// Writes the key first. If a crash leaves a key and a certificate that do not match, the next
    /// start replaces both.
    private static func write(
        _ made: ServerCertificate, certificate: String, key: String
    ) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: URL(fileURLWithPath: certificate).deletingLastPathComponent(),
            withIntermediateDirectories: true)
        let text = try made.pem()
        try? files.removeItem(atPath: key)
        // The file is created empty with its mode, because the key must never be readable by
        // others.
        guard
            files.createFile(
                atPath: key, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: key)
        else { throw CocoaError(.fileWriteNoPermission) }
        try handle.write(contentsOf: Data(text.key.utf8))
        try handle.close()
        try Data(text.certificate.utf8).write(
            to: URL(fileURLWithPath: certificate), options: .atomic)
    }

    // MARK: Connections

    /// Encrypts a connection, and passes it on after the handshake.
    ///
    /// - Parameters:
    ///   - patience: The maximum duration of the handshake. Then the connection is closed.
    ///   - then: Takes the connection, and whether it uses HTTP/2.
    func accept(
        _ channel: any Channel, within patience: TimeAmount,
        then: @escaping @Sendable (_ channel: any Channel, _ isHTTP2: Bool) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: context))
            try pipeline.addHandler(HandshakePatience(patience))
            try pipeline.addHandler(
                ApplicationProtocolNegotiationHandler { result, channel in
                    then(channel, result == .negotiated("h2"))
                })
        }
    }
}

/// The reason why connections cannot be encrypted.
public struct ServerTLSError: Error, Hashable, Sendable {
    public let message: String

    init(_ message: String) { self.message = message }
}

/// Closes a connection whose handshake fails or takes too long. Removes itself after the handshake.
private final class HandshakePatience: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let patience: TimeAmount
    private var timer: Scheduled<Void>?

    init(_ patience: TimeAmount) { self.patience = patience }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: patience) {
            channel.close(mode: .all, promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted? = event as? TLSUserEvent else { return }
        timer?.cancel()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(mode: .all, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }
}
