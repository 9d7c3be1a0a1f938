import Crypto
import Foundation
import NIOCore
import SwiftASN1
import TidemarkSystem
import X509

/// A certificate that vouches for itself, and its key. Browsers take it once they are told to.
struct ServerCertificate {
    /// In seconds: 397 days. Browsers refuse certificates that are good for longer.
    static let lifetime: TimeInterval = 397 * 86_400
    /// In seconds: a certificate with less than 30 days left is made anew.
    static let renewal: TimeInterval = 30 * 86_400

    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    /// Makes one for names and addresses, with a new key.
    ///
    /// - Parameters:
    ///   - names: Names and addresses of hosts, IPv6 without brackets. At least one.
    ///   - now: The current time. It is good from an hour before, for clocks that are behind.
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

    /// Reads one.
    ///
    /// - Returns: Nil for texts that are none, and for a key that is not the certificate's.
    init?(certificatePEM: String, keyPEM: String) {
        guard let certificate = try? Certificate(pemEncoded: certificatePEM),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: keyPEM),
            certificate.publicKey == Certificate.PublicKey(key.publicKey)
        else { return nil }
        self.certificate = certificate
        self.key = key
    }

    /// The texts of both.
    func pem() throws -> (certificate: String, key: String) {
        (try certificate.serializeAsPEM().pemString + "\n", key.pemRepresentation + "\n")
    }

    /// True if it is one for all of these names and does not end soon.
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

    /// The bytes of an address; nil for a name.
    private static func address(_ text: String) -> [UInt8]? {
        switch try? SocketAddress(ipAddress: text, port: 0) {
        case .v4(let address)?: withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address)?: withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        default: nil
        }
    }
}
