// What stands for the nonce here: the package's own is hashed by a library that the check does not build.
import Foundation

struct AppleNonce: Sendable {
    let text = UUID().uuidString
    var hashed: String { "hash of " + text }
}
