import Foundation
import Tidemark
import TidemarkApp

/// The client of an app on a device with a signed-in user.
struct DeviceClient: Sendable {
    let firestore: Firestore
    /// The files, accounts and Firestore of an app on Tidemark; nil for the app as it was.
    private let stack: TidemarkStack?

    /// Opens the device's cache. Signs the user in if necessary.
    init(_ side: Side, _ place: DemoPlace, label: String) async throws {
        switch side {
        case .before, .filtered:
            stack = nil
            firestore = try place.firestore(label: label)
        case .after:
            let stack = try TidemarkStack(place.stackSettings(label: label))
            self.stack = stack
            firestore = stack.firestore
            if case .signedIn = await stack.identity.load() { return }
            do {
                _ = try await stack.accounts?.signIn(customToken: try place.customToken)
            } catch {
                await stack.close()
                throw error
            }
        }
    }

    /// Delivers the system's signal that the network is back, for every kind of app.
    func networkIsBack() async {
        if let stack { await stack.signal(.networkIsBack) } else { firestore.networkMayBeBack() }
    }

    /// Ends the client, and returns the number of bytes that it exchanged with Firestore.
    @discardableResult
    func close() async -> Int {
        let bytes = await firestore.terminateCountingBytes()
        // The client has ended, but the stack still listens for signals.
        await stack?.close()
        return bytes
    }
}

extension DemoPlace {
    fileprivate func stackSettings(label: String) -> StackSettings {
        var settings = StackSettings(
            folder: folder.path, projectID: Self.project, accounts: .local("127.0.0.1:\(accounts)"),
            firestore: FirestoreSettings(
                host: "127.0.0.1:\(port)", isSSLEnabled: false, label: label))
        // The row itself signals when the network is back.
        settings.signals = .none
        // A command-line tool has no keychain.
        settings.credentials = try? FileCredentialStore(folder: folder.path + "/secrets")
        return settings
    }

    /// The user's unsigned token, which a local server accepts.
    fileprivate var customToken: String {
        get throws {
            struct Claims: Encodable {
                let uid: String
            }
            return String(decoding: try JSONEncoder().encode(Claims(uid: user)), as: UTF8.self)
        }
    }
}
