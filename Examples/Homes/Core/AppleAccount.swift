import ExampleKit
import Foundation
import Tidemark
import TidemarkApp

extension PhoneUser {
    /// The credential of *Sign in with Apple*. On a device, it is made by Apple's sheet, as
    /// `AppleSignIn.identity(_:).credential`. Here it is an unsigned token, which the test server
    /// accepts.
    var appleCredential: ProviderCredential {
        struct Claims: Encodable {
            let sub, email: String
        }
        let claims = try? JSONEncoder().encode(Claims(sub: "apple-" + email, email: email))
        return ProviderCredential(
            provider: "apple.com", idToken: String(decoding: claims ?? Data(), as: UTF8.self))
    }
}
