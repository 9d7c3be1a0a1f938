import ExampleKit
import Foundation
import Tidemark
import TidemarkHTTP

/// The environment of the launches: a server with accounts and the app's security rules, and a gate
/// in front of it for each network.
struct LaunchGround: Sendable {
    let folder: URL
    let server: ServerProcess
    let gates: LaunchGates
    let bills: BillOptions

    /// - Parameters:
    ///   - name: The name of a folder that exists while the body runs.
    ///   - rules: The app's rules.
    ///   - bills: The edition of the server's database.
    static func play<Result>(
        _ name: String, under rules: ExampleRules, on networks: [LaunchNetwork],
        bills: BillOptions, _ body: (LaunchGround) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-\(name)-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("server")
        let server = try await ServerProcess(
            data: data, rules: rules,
            options: LaunchNetwork.serverOptions
                + EnterpriseIndexes.options(of: bills.edition, in: data))
        defer { server.stop() }
        let gates = try await LaunchGates(
            firestore: server.directPort, accounts: server.accountsPort, networks)
        let ground = LaunchGround(
            folder: folder, server: server, gates: gates, bills: bills)
        do {
            let result = try await body(ground)
            await gates.close()
            return result
        } catch {
            await gates.close()
            throw error
        }
    }

    /// Makes the example's access to its server, as an administrator and without a network.
    func project() throws -> PhoneProject {
        let firestore = try Firestore(
            projectID: DemoPlace.project,
            settings: FirestoreSettings(
                host: gates.direct.firestore, isSSLEnabled: false, cache: .memory, label: "project",
                token: TokenVariable.value ?? "owner"))
        return PhoneProject(
            firestore: firestore, user: PhoneUser(id: "project", name: "Project", email: ""),
            dayStart: Timestamp(date: Date()))
    }
}
