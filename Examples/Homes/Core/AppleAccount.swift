import ExampleKit
import Foundation
import Tidemark
import TidemarkApp

extension PhoneUser {
    /// The credential of *Sign in with Apple* in local mode: an unsigned token, which only a test
    /// server accepts. On a device, Apple's sheet makes it: ``HomesAfter/signIn(with:)``.
    var appleCredential: ProviderCredential {
        struct Claims: Encodable {
            let sub, email: String
        }
        let claims = try? JSONEncoder().encode(Claims(sub: "apple-" + email, email: email))
        return ProviderCredential(
            provider: "apple.com", idToken: String(decoding: claims ?? Data(), as: UTF8.self))
    }
}
