package import ExampleKit
import Foundation
import Tidemark
import TidemarkApp
package import TidemarkModel
package import TidemarkTestKit

/// Plays the version of an app before its update: it leaves a signed-in user and
/// FirebaseFirestore's store on a phone.
package struct OldVersion: Sendable {
    private let use: OldUse
    private let project: PhoneProject
    private let settings: PhoneSettings

    /// - Parameters:
    ///   - project: The project of the phone.
    ///   - settings: The settings of the phone, with the folder of the store.
    package init(_ use: OldUse, in project: PhoneProject, _ settings: PhoneSettings) {
        (self.use, self.project, self.settings) = (use, project, settings)
    }

    /// Returns the folder of FirebaseFirestore's store below an app's folder.
    package static func folder(in folder: String, project: String) -> String {
        folder + "/firestore/__FIRAPP_DEFAULT/\(project)/main"
    }

    /// Plays the version to its end.
    ///
    /// - Parameters:
    ///   - host: The address of the server, beside the phone's network.
    ///   - port: The port of the server.
    package func play(at host: String = "127.0.0.1", port: Int) async throws {
        guard let folder = settings.oldStore else { return }
        let stack = try TidemarkStack(settings.stackSettings { _, _ in [] })
        _ = try await stack.accounts?.signIn(
            email: settings.user.email, password: settings.user.password)
        await stack.close()
        try await leaveStore(
            in: URL(fileURLWithPath: folder),
            OldListener(
                host: host, port: port,
                CallContext(
                    database: try DatabaseID(project: settings.project), label: "old-version",
                    token: "owner")))
    }

    private func leaveStore(in folder: URL, _ listener: OldListener) async throws {
        var phone = try OldPhone(folder, project: settings.project)
        phone.leaveTrace(of: project.user.id)
        for query in use.queries(project) {
            let value = try query.runnable()
            // tidemark:ignore read-in-loop an old version has a few queries
            let result = try await listener.result(of: value)
            phone.put(value, result)
        }
        for reference in use.documents(project) {
            // tidemark:ignore read-in-loop an old version reads a few documents
            let document = try await reference.getDocument(source: .server)
            guard let fields = document.fields, let time = document.updateTime else { continue }
            phone.put(
                document: reference.path,
                TestMessage.document(
                    phone.root + "/" + reference.path,
                    fields: fields.entries.map { ($0.key, $0.value) }, updateTime: time))
        }
        try phone.finish()
    }
}

extension OldPhone {
    /// Writes the target of a query with its result, as FirebaseFirestore does.
    ///
    /// - Precondition: The query has no filter.
    package mutating func put(_ query: TidemarkModel.Query, _ result: OldListener.Result) {
        precondition(query.filter == nil, "an old query has no filter")
        let documents = result.documents.map { document in
            (
                document.path.text,
                TestMessage.document(
                    root + "/" + document.path.text,
                    fields: document.fields.entries.map { ($0.key, $0.value) },
                    updateTime: document.updateTime)
            )
        }
        put(
            target: TestMessage.query(
                query.collectionID ?? "",
                orders: query.normalizedOrders.map {
                    ($0.field.encoded, $0.direction == .descending)
                }, limit: query.limit.map { Int64($0.count) }),
            parent: query.parent.map { "\(root)/\($0.text)" }, rows: documents.map(\.0),
            version: result.version, token: result.token, documents: documents)
    }
}
