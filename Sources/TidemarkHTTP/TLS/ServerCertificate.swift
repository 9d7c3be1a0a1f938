import Crypto
import Foundation
import NIOCore
import SwiftASN1
import TidemarkSystem
import X509

/// A self-signed certificate and its key. Browsers accept the certificate only after the user adds
/// it.
struct ServerCertificate {
    /// The lifetime in seconds: 397 days. Browsers refuse certificates with a longer lifetime.
    static let lifetime: TimeInterval = 397 * 86_400
    /// The time in seconds before the end at which a certificate is replaced: 30 days.
    static let renewal: TimeInterval = 30 * 86_400

    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    /// Makes a certificate for names and addresses, with a new key.
    ///
    /// - Parameters:
    ///   - names: Names and addresses of hosts, IPv6 without brackets. At least one.
    ///   - now: The current time. The certificate is valid from one hour earlier, for clients whose
    ///     clocks are slow.
    init(for names: [String], now: Date) throws {
        precondition(!names.isEmpty, "a certificate is somebody's")
        let key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName("Tidemark, a server for development") }
        certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey), notValidBefore: now - 3_600,
            notValidAfter: now - 3_600 + Self.lifetime, issuer: subject, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map(Self.name))
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        self.key = key
    }

    /// Reads a certificate and its key.
    ///
    /// - Returns: The certificate; nil if a text is invalid, or if the key does not belong to the
    ///   certificate.
    init?(certificatePEM: String, keyPEM: String) {
        guard let certificate = try? Certificate(pemEncoded: certificatePEM),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: keyPEM),
            certificate.publicKey == Certificate.PublicKey(key.publicKey)
        else { return nil }
        self.certificate = certificate
        self.key = key
    }

    /// Returns the certificate and the key in PEM.
    func pem() throws -> (certificate: String, key: String) {
        (try certificate.serializeAsPEM().pemString + "\n", key.pemRepresentation + "\n")
    }

    /// Returns true if the certificate covers all names and remains valid for at least 30 days.
    func isGood(for names: [String], now: Date) -> Bool {
        guard let known = try? certificate.extensions.subjectAlternativeNames else { return false }
        return certificate.notValidBefore <= now
            && now + Self.renewal < certificate.notValidAfter
            && Set(names.map(Self.name)).isSubset(of: known)
    }

    private static func name(_ text: String) -> GeneralName {
        guard let bytes = address(text) else { return .dnsName(text.lowercased()) }
        return .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
    }

    /// Returns the bytes of an address; nil if the text is a name.
    private static func address(_ text: String) -> [UInt8]? {
        switch try? SocketAddress(ipAddress: text, port: 0) {
        case .v4(let address)?: withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address)?: withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        default: nil
        }
    }
}
