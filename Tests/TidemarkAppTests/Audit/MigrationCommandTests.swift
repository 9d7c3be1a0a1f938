import ArgumentParser
import Foundation
import Synchronization
import Testing
import TidemarkApp
import TidemarkModel
import TidemarkWire

@testable import TidemarkCLI
@testable import TidemarkMigration

/// The server that `tidemark doctor` asks.
struct `The command of the doctor` {
    private func place(_ arguments: String..., variable: String? = nil) throws -> String {
        let environment = variable.map { ["FIRESTORE_EMULATOR_HOST": $0] } ?? [:]
        let target = try DoctorCommand.parse(arguments).target(environment)
        return "\(target.host) \(target.port) \(target.usesTLS ? "TLS" : "plain")"
    }

    @Test func `asks Google's service by TLS, also by its name`() throws {
        let (name, google) = ("firestore.googleapis.com", "firestore.googleapis.com 443 TLS")
        #expect(try place() == google)
        #expect(try place("--host", name) == google)
        #expect(try place("--host", name, variable: "127.0.0.1:8080") == google)
    }

    @Test func `asks a local server without TLS`() throws {
        #expect(try place(variable: "127.0.0.1:9") == "127.0.0.1 9 plain")
        #expect(try place("--host", "box") == "box 8080 plain")
        #expect(try place("--host", "box", "--tls") == "box 443 TLS")
        #expect(throws: ValidationError.self) { try place("--host", ":1") }
    }
}

/// Tests `tidemark migrate change-times` without a host. The test replaces Google's services.
@Suite(.timeLimit(.minutes(2))) struct `The command that migrates` {
    private let folder = TestFolder()

    private func plan(_ arguments: String...) throws -> MigrationPlan {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let file = folder.path + "/progress.json"
        return try ChangeTimesCommand.parse(["posts", "--progress", file] + arguments).plan()
    }

    private static func calls(
        _ place: FirestorePlace, _ transport: GRPCTransport,
        _ tokens: @escaping MigrationCalls.Tokens
    ) throws -> MigrationCalls {
        MigrationCalls(
            transport, database: try DatabaseID(project: place.project),
            field: try FieldPath(encoded: "updatedAt"), tokens: tokens)
    }

    @Test func `writes over TLS as a service account, and renews a refused token`() async throws {
        let google = try await PlacedGoogle()
        let helpers = SideServers()
        let survey = try plan()
        let apply = try plan("--apply")
        try await helpers.serve { host in
            let place = try await FirestorePlace(
                host: nil, project: nil, environment: ["GCE_METADATA_HOST": host], token: nil,
                cloud: google.endpoint)
            #expect(place.project == PlacedGoogle.project && place.endpoint.usesTLS)
            let transport = GRPCTransport(place.endpoint)
            let context = CallContext(
                database: try DatabaseID(project: place.project),
                token: try await place.tokens(nil))
            let path = try DocumentPath("posts/a")
            _ = try await transport.commit(
                [Mutation(path: path, .set(["n": .integer(1)]))], context)

            let refused = Mutex<[String?]>([])
            let calls = try Self.calls(place, transport) { token in
                refused.withLock { $0.append(token) }
                return token == nil ? "stale" : try await place.tokens(token)
            }
            let before = try await MigrationRun(survey, calls).run { _ in }
            #expect(
                before.text == """
                    posts: 1 documents, 1 without updatedAt
                    The migration takes 1 reads and 1 writes: $0.00 at the list price of nam5, \
                    without free amounts.
                    Nothing was written. Add --apply to write.
                    This run has cost 3 reads and 0 writes.
                    """)
            let report = try await MigrationRun(apply, calls).run { _ in }
            #expect(report.failure == nil && report.writes == 1 && report.open == 0)
            #expect(refused.withLock { $0.contains("stale") })
            let documents = try await transport.documents(
                of: Query(collection: path.parent), context
            ).documents
            #expect(documents.count == 1 && documents[0].fields["updatedAt"] != nil)
            await transport.close()
        }
        try await google.stop()
    }

    @Test func `is local where the environment names an emulator`() async throws {
        let place = try await FirestorePlace(
            host: nil, project: nil,
            environment: [
                "FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080",
                "GOOGLE_APPLICATION_CREDENTIALS": folder.path + "/none.json",
            ], token: nil)
        #expect(!place.endpoint.usesTLS && place.endpoint.port == 8080)
        #expect(place.project == "demo")
        #expect(try await place.tokens(nil) == "owner")
    }

    @Test func `names a server by its host and port, with brackets around an IPv6 address`() throws
    {
        let places = [
            "localhost:8080": "localhost", "[::1]:8080": "::1", "10.0.0.7:8080": "10.0.0.7",
        ]
        for (text, host) in places {
            let endpoint = try FirestorePlace.endpoint(text)
            #expect(endpoint.host == host && endpoint.port == 8080 && !endpoint.usesTLS)
            #expect(endpoint.address == text)
        }
        for text in [
            "", "localhost", ":8080", "[]:8080", "::1:8080", "a:0", "a:65536", "a:b", "a:",
        ] {
            #expect(throws: ValidationError.self, "\(text)") { try FirestorePlace.endpoint(text) }
        }
    }

    @Test func `is Google's service if the variable of emulators is empty`() async throws {
        let place = try await FirestorePlace(
            host: nil, project: "p", environment: ["FIRESTORE_EMULATOR_HOST": ""], token: "t")
        #expect(place.endpoint == FirestorePlace.google)
    }

    @Test(arguments: [
        ["posts/a"], [], ["posts", "posts"], ["posts", "--since", "2026-11-28T00:00:00Z"],
        ["posts", "--check", "--since", "yesterday"], ["posts", "--rate", "0"],
        ["--group", "a/b/c"], ["posts", "--field", ""],
    ])
    func `refuses what is no order`(arguments: [String]) {
        #expect(throws: (any Error).self) { try ChangeTimesCommand.parse(arguments) }
    }
}
