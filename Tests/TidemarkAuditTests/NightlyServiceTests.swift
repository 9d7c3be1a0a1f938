import Foundation
import Logging
import ServiceLifecycle
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTesting
import TidemarkWire

@testable import TidemarkAudit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The nightly audit runs in a service group, over sockets to a Firestore and its accounts. The
/// test moves the time.
struct NightlyServiceTests {
    private let project = "local"

    /// A Firestore, its accounts, and a clock for sleeps. The wall clock shows the Firestore's
    /// time, which moves with that clock.
    private struct World {
        let local: LocalFirestore
        let accounts: LocalAccounts
        let transport: GRPCTransport
        let clock = ManualClock()

        init() async throws {
            local = try LocalFirestore.start()
            accounts = try await LocalAccounts.start(beside: local)
            let port = try await local.serve().port
            transport = GRPCTransport(
                GRPCTransport.Endpoint(host: "127.0.0.1", port: port, usesTLS: false))
        }

        /// Moves both clocks. ``DailyAudit`` sleeps in steps of hours, so a test moves the time by
        /// hours.
        func pass(_ duration: Duration) async {
            await clock.sleepers()
            local.advance(by: duration)
            clock.advance(by: duration)
        }

        func stop() async {
            await transport.close()
            await accounts.stop()
            await local.stop()
        }
    }

    private func path(_ text: String) throws -> DocumentPath { try DocumentPath(text) }

    private func makeAccounts(_ ids: [String], _ world: World) async throws {
        let users = ids.map { #"{"localId": "\#($0)", "createdAt": "1600000000000"}"# }
        var request = URLRequest(
            url: try #require(
                URL(string: "http://\(world.accounts.host)/v1/projects/local/accounts:batchCreate"))
        )
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        request.setValue("Bearer owner", forHTTPHeaderField: "authorization")
        request.httpBody = Data(#"{"users": [\#(users.joined(separator: ","))]}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        try #require((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test(.timeLimit(.minutes(2)))
    func `at two in Zurich it finds both kinds, writes them down, and ends when it is told`()
        async throws
    {
        let world = try await World()
        let database = try DatabaseID(project: project)
        let context = CallContext(database: database, token: "owner")
        try await makeAccounts(["ann", "bea"], world)
        _ = try await world.transport.commit(
            [
                Mutation(path: try path("users/bea"), .set(["name": .string("Bea")])),
                Mutation(path: try path("users/eve"), .set(["name": .string("Eve")])),
            ], context)

        let local = world.local
        let audit = OrphanAudit(
            accounts: AccountDirectory(project: project, host: world.accounts.host, token: "owner"),
            profiles: ProfileDirectory(
                world.transport, database: database, collection: try CollectionPath("users"),
                token: "owner"),
            report: try path("admin/orphanedUsers"), now: { local.now })
        let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
        let schedule = try #require(DailySchedule("02:00", in: zone))
        let (reports, sink) = AsyncStream.makeStream(of: OrphanReport.self)
        let service = DailyAudit(
            schedule, clock: world.clock, logger: .silent,
            now: { Date(timeIntervalSince1970: Double(local.now.seconds)) }
        ) { sink.yield(try await audit.run()) }
        let group = ServiceGroup(services: [service], logger: .silent)
        let running = Task { try await group.run() }

        // The time is 22:13:20 UTC on the 14th of November 2023. Two in Zurich is at one UTC.
        await world.pass(.seconds(3_600))
        await world.pass(.seconds(3_600))
        await world.clock.sleepers()
        let early = try await world.transport.replies(
            to: .batchGetDocuments(
                BatchGetDocumentsRequest(paths: [try path("admin/orphanedUsers")])), context)
        guard case .batchGetDocuments(let row)? = early.first, case .missing? = row.row else {
            Issue.record("nothing is done before the time: \(early)")
            return
        }
        await world.pass(.seconds(2_800))
        var found = reports.makeAsyncIterator()
        let report = try #require(await found.next())
        let two = try #require(ISO8601DateFormatter().date(from: "2023-11-15T01:00:00Z"))
        #expect(Double(report.detectedAt.seconds) == two.timeIntervalSince1970)
        #expect(report.accountsWithoutProfile.ids == ["ann"])
        #expect(report.profilesWithoutAccount.ids == ["eve"])
        #expect(report.repaired == 0)
        let written = try await world.transport.replies(
            to: .getDocument(GetDocumentRequest(path: try path("admin/orphanedUsers"))), context)
        guard case .document(let document)? = written.first else {
            Issue.record("no report was written: \(written)")
            return
        }
        #expect(document.fields["count"] == .integer(1), "of accounts without a profile")
        #expect(document.fields["userIds"] == .array([.string("ann")]))
        #expect(document.fields["orphans"] == .integer(2))
        #expect(document.fields["ids"] == .array([.string("ann"), .string("eve")]))
        #expect(document.fields["detectedAt"] == .timestamp(report.detectedAt))

        // The next night passes, and then the service ends in the middle of a wait.
        for _ in 0..<24 { await world.pass(.seconds(3_600)) }
        #expect(await found.next()?.count == 2)
        await world.clock.sleepers()
        await group.triggerGracefulShutdown()
        try await running.value
        await world.stop()
    }
}
