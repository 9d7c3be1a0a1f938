public import Foundation
import NIOCore
import NIOSSL
import NIOTLS

/// Encrypts a server's connections, so that browsers speak HTTP/2 with it: one connection for all tabs of
/// a site. Without encryption they keep to HTTP/1.1 and to six connections.
public struct ServerTLS: Sendable {
    /// The names of the files that are kept in a server's folder.
    static let (certificateName, keyName) = ("tidemark-tls.crt", "tidemark-tls.key")

    /// The file of the certificate, in PEM: what a browser or a program is told to trust.
    public let certificatePath: String
    private let context: NIOSSLContext

    /// Uses a certificate that is there: one that a tool has made whom this machine trusts already.
    ///
    /// - Parameters:
    ///   - certificatePath: The certificate, in PEM, and behind it those that vouch for it.
    ///   - keyPath: Its key, in PEM.
    /// - Throws: What is wrong with the files, in a sentence.
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
                "\(certificatePath) and \(keyPath) are no certificate and its key.")
        }
    }

    /// Uses the certificate in a folder. It is made at the first start, and again when it ends soon or is
    /// not for all the names. Its key is its owner's alone to read.
    ///
    /// - Parameters:
    ///   - folder: It is made when it is missing.
    ///   - names: Names and addresses of hosts beside `localhost` and loopback's addresses.
    ///   - now: The current time.
    /// - Returns: How to encrypt, and whether the certificate is new: nobody has been told to trust it.
    /// - Throws: What the disk says, in a sentence.
    public static func kept(
        in folder: String, for names: [String], now: Date = Date()
    ) throws(ServerTLSError) -> (tls: ServerTLS, isNew: Bool) {
        let (certificate, key) = (folder + "/" + certificateName, folder + "/" + keyName)
        let wanted = ["localhost", "127.0.0.1", "::1"] + names
        let isKnown = read(certificate, key)?.isGood(for: wanted, now: now) ?? false
        if !isKnown {
            do {
                try write(ServerCertificate(for: wanted, now: now), certificate, key)
            } catch { throw ServerTLSError("A certificate cannot be made in \(folder): \(error)") }
        }
        return (try ServerTLS(certificatePath: certificate, keyPath: key), !isKnown)
    }

    private static func read(_ certificate: String, _ key: String) -> ServerCertificate? {
        guard let text = try? String(contentsOfFile: certificate, encoding: .utf8),
            let keyText = try? String(contentsOfFile: key, encoding: .utf8)
        else { return nil }
        return ServerCertificate(certificatePEM: text, keyPEM: keyText)
    }

    /// Writes the key first: a certificate without its key is made anew at the next start.
    private static func write(
        _ made: ServerCertificate, _ certificate: String, _ key: String
    ) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: URL(fileURLWithPath: certificate).deletingLastPathComponent(),
            withIntermediateDirectories: true)
        let text = try made.pem()
        try? files.removeItem(atPath: key)
        // Empty first, so that its mode is there before its bytes are.
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

    /// Encrypts a connection and gives it on once both sides have agreed.
    ///
    /// - Parameters:
    ///   - patience: How long the handshake may take; then the connection is closed.
    ///   - then: Takes the connection, and whether it speaks HTTP/2.
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

/// Why connections cannot be encrypted.
public struct ServerTLSError: Error, Hashable, Sendable {
    public let message: String

    init(_ message: String) { self.message = message }
}

/// Closes a connection whose handshake fails or does not end in time, and leaves when it has ended.
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
