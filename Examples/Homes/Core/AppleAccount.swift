import ExampleKit
import Foundation
import Tidemark
import TidemarkApp

extension PhoneUser {
    /// What *Sign in with Apple* gives. On a device it comes from Apple's sheet, as
    /// `AppleSignIn.identity(_:).credential`; here the server takes a token that nobody has signed.
    var appleCredential: ProviderCredential {
        struct Claims: Encodable {
            let sub, email: String
        }
        let claims = try? JSONEncoder().encode(Claims(sub: "apple-" + email, email: email))
        return ProviderCredential(
            provider: "apple.com", idToken: String(decoding: claims ?? Data(), as: UTF8.self))
    }
}
