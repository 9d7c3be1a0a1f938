// A replacement of the nonce, because the package's own uses a hash from a library that the check
// does not build.
import Foundation

struct AppleNonce: Sendable {
    let text = UUID().uuidString
    var hashed: String { "hash of " + text }
}
