import Crypto
import Foundation
import NIOSSL

/// An X.509 certificate for tests, with any names and dates and any signer.
///
/// The code writes DER (RFC 5280) directly, because the doctor has to distinguish certificates that
/// no common tool makes.
struct TestCertificate {
    /// Signs certificates. A client trusts one authority.
    struct Authority {
        let name: String
        let key = P256.Signing.PrivateKey()

        var certificate: TestCertificate {
            TestCertificate(subject: name, key: key, by: self, isAuthority: true)
        }
    }

    static let longAgo = day("2020-01-01")
    static let farAhead = day("2045-01-01")

    let der: [UInt8]
    let key: P256.Signing.PrivateKey

    /// - Parameters:
    ///   - hosts: The names for which the certificate is valid.
    ///   - authority: The signer; nil if the certificate signs itself.
    init(
        subject: String = "server", hosts: [String] = [],
        key: P256.Signing.PrivateKey = P256.Signing.PrivateKey(), by authority: Authority? = nil,
        isAuthority: Bool = false, from: Date = Self.longAgo, until: Date = Self.farAhead
    ) {
        self.key = key
        let extensions =
            DER.constraints(isAuthority: isAuthority)
            + (hosts.isEmpty ? [] : DER.hosts(hosts))
        let content = DER.sequence(
            DER.node(0xA0, [2, 1, 2]),  // version 3
            [2, 8, 1] + (0..<7).map { _ in UInt8.random(in: 0...255) },
            DER.algorithm, DER.name(authority?.name ?? subject),
            DER.sequence(DER.time(from), DER.time(until)), DER.name(subject),
            Array(key.publicKey.derRepresentation),
            DER.node(0xA3, DER.sequence(extensions)))
        let signature = try! (authority?.key ?? key).signature(for: content)
        der = DER.sequence(
            content, DER.algorithm, DER.node(3, [0] + Array(signature.derRepresentation)))
    }

    var pem: [UInt8] {
        let lines = Data(der).base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        return Array("-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n".utf8)
    }

    func serverContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: der, format: .der))],
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)))
        configuration.applicationProtocols = ["h2", "http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    static func day(_ text: String) -> Date {
        ISO8601DateFormatter().date(from: text + "T00:00:00Z")!
    }
}

/// The part of DER that a certificate needs: a tag, a length, and the content.
private enum DER {
    static func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        precondition(count < 65_536)
        let length: [UInt8] =
            count < 128
            ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        // DER demands the shortest form of a length, which takes one byte here.
        let shortest = (128..<256).contains(count) ? [0x81, UInt8(count)] : length
        return [tag] + shortest + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { node(0x30, parts.flatMap { $0 }) }

    private static func object(_ bytes: [UInt8]) -> [UInt8] { node(6, bytes) }

    /// ECDSA with SHA-256.
    static var algorithm: [UInt8] {
        sequence(object([0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]))
    }

    /// A name that consists of a common name only.
    static func name(_ text: String) -> [UInt8] {
        sequence(node(0x31, sequence(object([0x55, 4, 3]), node(0x0C, Array(text.utf8)))))
    }

    /// Encodes a time between 1950 and 2049.
    static func time(_ date: Date) -> [UInt8] {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "yyMMddHHmmss'Z'"
        return node(0x17, Array(format.string(from: date).utf8))
    }

    static func constraints(isAuthority: Bool) -> [UInt8] {
        let value = sequence(isAuthority ? [1, 1, 0xFF] : [])
        return sequence(object([0x55, 0x1D, 0x13]), [1, 1, 0xFF], node(4, value))
    }

    static func hosts(_ names: [String]) -> [UInt8] {
        let value = node(0x30, names.flatMap { node(0x82, Array($0.utf8)) })
        return sequence(object([0x55, 0x1D, 0x11]), node(4, value))
    }
}
