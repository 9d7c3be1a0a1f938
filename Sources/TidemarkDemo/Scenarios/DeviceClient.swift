import Foundation
import Tidemark
import TidemarkApp

/// An app's client on a device, where somebody is signed in.
struct DeviceClient: Sendable {
    let firestore: Firestore
    /// Files, accounts and Firestore of an app on Tidemark; nil of the app as it was.
    private let stack: TidemarkStack?

    /// Opens what the device holds. Whoever is not signed in there yet does so first.
    init(_ side: Side, _ place: DemoPlace, label: String) async throws {
        switch side {
        case .before, .filtered:
            stack = nil
            firestore = try place.firestore(label: label)
        case .after:
            let stack = try TidemarkStack(place.stackSettings(label: label))
            self.stack = stack
            firestore = stack.firestore
            if case .signedIn = await stack.accounts.load() { return }
            do { _ = try await stack.accounts.signIn(customToken: try place.customToken) } catch {
                await stack.close()
                throw error
            }
        }
    }

    /// As the system tells an app, of whatever make.
    func networkIsBack() async {
        if let stack { await stack.signal(.networkIsBack) } else { firestore.networkMayBeBack() }
    }

    /// Ends it, and says how many bytes it moved over the wire to Firestore.
    @discardableResult
    func close() async -> Int {
        let bytes = await firestore.terminateCountingBytes()
        // The client has ended; what listens for signals has not.
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
        // The row says when the network is back.
        settings.signals = .none
        return settings
    }

    /// Of the user, as a local server takes it: signed by nobody.
    fileprivate var customToken: String {
        get throws {
            struct Claims: Encodable {
                let uid: String
            }
            return String(decoding: try JSONEncoder().encode(Claims(uid: user)), as: UTF8.self)
        }
    }
}
