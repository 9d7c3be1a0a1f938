import Foundation
import Testing
import Tidemark
import TidemarkApp

@testable import ChatsCore

struct `The chats in production` {
    @Test func `have Google's services, over TLS`() throws {
        let fields = ["PROJECT_ID": "my-app", "API_KEY": "k", "GOOGLE_APP_ID": "1:2:ios:3"]
        let data = try PropertyListSerialization.data(
            fromPropertyList: fields, format: .xml, options: 0)
        let settings = ChatsApp.settings(folder: "/nonexistent", try GoogleServiceInfo(data))
        #expect(settings.projectID == "my-app" && settings.firestore.isSSLEnabled)
        guard case .accounts(let endpoint) = settings.identity else {
            return #expect(Bool(false), "the app signs in itself")
        }
        #expect(endpoint.accounts == "https://identitytoolkit.googleapis.com")
        #expect(settings.firestore.host.hasPrefix("firestore.googleapis.com"))
    }
}
