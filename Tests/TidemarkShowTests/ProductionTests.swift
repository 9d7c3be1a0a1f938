import ExampleKit
import Foundation
import Testing
import Tidemark
import TidemarkApp

@testable import HomesCore
@testable import StampsCore

/// The example apps on a real project. Nothing is sent.
struct `An example app in production` {
    private let info: GoogleServiceInfo

    init() throws {
        let fields = [
            "PROJECT_ID": "my-app", "API_KEY": "AIza-key", "GOOGLE_APP_ID": "1:2:ios:3",
            "BUNDLE_ID": "com.example.stamps",
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: fields, format: .xml, options: 0)
        info = try GoogleServiceInfo(data)
    }

    private func check(_ settings: StackSettings) {
        #expect(settings.projectID == "my-app")
        #expect(settings.accounts == .cloud(key: "AIza-key", bundleID: "com.example.stamps"))
        #expect(settings.firestore.isSSLEnabled)
        #expect(settings.firestore.host.hasPrefix("firestore.googleapis.com"))
    }

    @Test func `has Google's services, over TLS`() {
        let phone = PhoneSettings(folder: "/nonexistent", info)
        check(StampsAfter.settings(phone))
        check(HomesAfter.settings(phone))
    }

    @Test func `is local with the addresses of local servers`() {
        let phone = PhoneSettings(
            folder: "/nonexistent", project: "demo", firestore: "127.0.0.1:8080",
            accounts: "127.0.0.1:9099", user: PhoneUser(id: "a", name: "A", email: "a@b"),
            label: "phone")
        let settings = HomesAfter.settings(phone)
        #expect(settings.accounts == .local("127.0.0.1:9099"))
        #expect(!settings.firestore.isSSLEnabled && settings.firestore.host == "127.0.0.1:8080")
    }
}

extension StackSettings {
    fileprivate var accounts: AccountsEndpoint? {
        if case .accounts(let endpoint) = identity { endpoint } else { nil }
    }
}
