import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// The plan of a feed's next read equals its bill, in reads and in the units of the Enterprise
/// edition.
@Suite struct FeedUnitTests {
    private static let indexes = """
        {"indexes": [
          {"collectionGroup": "stamps", "fields": [
            {"fieldPath": "createdAt", "order": "DESCENDING"}]},
          {"collectionGroup": "stamps", "fields": [
            {"fieldPath": "updatedAt", "order": "ASCENDING"}]}]}
        """

    private func start(_ edition: DatabaseEdition) throws -> LocalFirestore {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(edition)
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: Data(Self.indexes.utf8)))
        return try .start(configuration: configuration)
    }

    private func bill(_ local: LocalFirestore) -> (reads: Int, units: BilledUnits) {
        let row = local.meter().first { $0.label == "app" }
        return (row?.reads ?? 0, row?.units ?? BilledUnits())
    }

    @Test(arguments: DatabaseEdition.allCases)
    func `a plan equals its bill in both editions`(edition: DatabaseEdition) async throws {
        let local = try start(edition)
        let writer = try local.firestore(label: "writer")
        for number in 0..<30 {
            try await writer.document("stamps/s\(10 + number)").setData([
                "createdAt": Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
                "updatedAt": FieldValue.serverTimestamp(), "name": "Stamp \(number)",
            ])
        }
        let app = try local.firestore(label: "app")
        let feed = try Feed(
            FeedDefinition(
                query: app.collection("stamps"), itemTime: "createdAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt")))
        try await feed.open()
        for round in 0..<2 {
            let plan = await feed.plan
            let (reads, units) = bill(local)
            try await feed.sync()
            let after = bill(local)
            #expect(plan.prediction.allows(after.reads - reads), "round \(round): \(plan)")
            // A document of less than 4 KiB is a unit; an entry has a path, a time and 48 bytes.
            let predicted = plan.units(documentBytes: 200, entryBytes: 83)
            if edition == .enterprise {
                #expect(predicted.allows(after.units - units), "\(plan): \(after.units - units)")
            } else {
                #expect(after.units.isZero)
            }
            guard round == 1 else { continue }
            #expect(plan.prediction.ifUnchanged == after.reads - reads)
            if edition == .enterprise {
                #expect(predicted.ifUnchanged == after.units - units)
                #expect(after.units.read - units.read == 31, "30 documents, and their entries")
            }
        }
        await local.stop()
    }
}
