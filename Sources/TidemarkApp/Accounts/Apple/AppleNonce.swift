import Crypto
import Foundation

/// A random text that ties Apple's answer to a request: Apple receives its hash and puts the hash
/// into the token; the accounts server receives the text.
struct AppleNonce: Sendable {
    let text: String
    /// SHA-256 of the text, in hexadecimal.
    let hashed: String

    /// 256 random bits of the system's generator.
    init() { self.init((0..<32).map { _ in UInt8.random(in: .min ... .max) }) }

    init(_ bytes: [UInt8]) {
        text = Self.hexadecimal(bytes)
        hashed = Self.hexadecimal(SHA256.hash(data: Data(text.utf8)))
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
