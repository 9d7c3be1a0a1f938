import Foundation
import Testing
import TidemarkModel

@testable import TidemarkServer

/// The bill of a database of the Enterprise edition, on the server: Google's published examples
/// with real documents.
struct UnitTests {
    /// A server with declared indexes.
    private func server(_ indexes: String = "[]") throws -> TestServer {
        let configuration = try IndexConfiguration(json: Data("{\"indexes\": \(indexes)}".utf8))
        return try TestServer(
            indexes: IndexSettings(configuration), editions: DatabaseEditions(.enterprise))
    }

    private static let byName =
        #"[{"collectionGroup": "c", "fields": [{"fieldPath": "name", "order": "ASCENDING"}]}]"#

    /// Returns the fields of a document that is as large as wanted, with its path.
    private func fields(_ bytes: Int, at path: String, name: String = "") throws -> MapValue {
        var fields: MapValue = ["name": .string(name)]
        let place = try DocumentPath(path)
        let empty: MapValue = ["name": .string(name), "x": .string("")]
        let rest = bytes - Document.storageSize(of: empty, at: place)
        fields["x"] = .string(String(repeating: "x", count: rest))
        #expect(Document.storageSize(of: fields, at: place) == bytes)
        return fields
    }

    private func fill(_ server: TestServer, documents: Int, bytes: Int) throws {
        for number in 0..<documents {
            let path = "c/\(1_000 + number)"
            try server.commit(set(path, try fields(bytes, at: path, name: "\(1_000 + number)")))
        }
    }

    private func units(_ server: TestServer, _ label: String) -> BilledUnits {
        server.server.meter().first { $0.label == label }?.units ?? BilledUnits()
    }

    private func named(_ name: String) -> Query {
        Query(
            collectionID: "c", filter: .field(field("name"), .equal, .string(name)))
    }

    @Test func `a query without an index scans its collection, and says what that costs`() throws {
        let server = try server()
        try fill(server, documents: 100, bytes: 2_048)
        #expect(try server.query(named("1050"), label: "app").compactMap(\.document).count == 1)
        #expect(units(server, "app") == BilledUnits(read: 50), "200 KiB in units of 4 KiB")
        #expect(server.reads("app") == 1)
        let scan = try #require(server.server.indexReport().scans?.first)
        #expect(scan.collectionGroup == "c" && scan.properties.contains("name ASC"))
        #expect(scan.documents == 100 && scan.readUnits == 50 && scan.queries == 1)
        #expect(server.machine.log.contains { $0.contains("50 read units") })
    }

    @Test func `a declared index costs its entries and its documents`() throws {
        let server = try server(Self.byName)
        try fill(server, documents: 100, bytes: 2_048)
        #expect(try server.query(named("1050"), label: "app").compactMap(\.document).count == 1)
        #expect(units(server, "app") == BilledUnits(read: 2))
        let ordered = Query(collectionID: "c", orders: [Order(field("name"))])
        var newest = ordered
        newest.limit = .first(10)
        _ = try server.query(newest, label: "list")
        #expect(units(server, "list") == BilledUnits(read: 11), "a scan of entries, ten documents")
        #expect(server.server.indexReport().scans == nil)
    }

    @Test func `documents in the order of names are scanned, and only as far as the limit`() throws
    {
        let server = try server()
        try fill(server, documents: 20, bytes: 1_024)
        _ = try server.query(collection("c"), label: "all")
        #expect(units(server, "all") == BilledUnits(read: 5))
        var first = collection("c")
        first.limit = .first(4)
        _ = try server.query(first, label: "four")
        #expect(units(server, "four") == BilledUnits(read: 1))
        first.offset = 4
        _ = try server.query(first, label: "next")
        #expect(units(server, "next") == BilledUnits(read: 2), "skipped documents are read")
    }

    @Test func `a long answer is billed as a whole`() throws {
        let server = try server()
        try fill(server, documents: 300, bytes: 4_096)
        _ = try server.query(collection("c"), label: "all")
        #expect(units(server, "all") == BilledUnits(read: 300) && server.reads("all") == 300)
    }

    @Test func `a document is read in units of its size, and so are counts`() throws {
        let server = try server()
        let path = "c/large"
        try server.commit(set(path, try fields(8_193, at: path)))
        _ = try server.get(path, label: "get")
        #expect(units(server, "get") == BilledUnits(read: 3))
        #expect(throws: RPCStatus.self) { try server.get("c/none", label: "missing") }
        #expect(units(server, "missing") == BilledUnits(read: 1))
        try fill(server, documents: 200, bytes: 2_048)
        let count = RunAggregationQueryRequest(
            query: collection("c"),
            aggregations: [Aggregation(alias: "n", .count(upTo: nil))])
        _ = try server.aggregate(count, label: "count")
        #expect(units(server, "count") == BilledUnits(read: 2), "201 items of 32 bytes")
    }

    @Test func `writes cost a unit for each KiB and for each changed index entry`() throws {
        let server = try server(Self.byName)
        func write(_ label: String, _ mutation: Mutation) throws -> Int {
            try server.commit(mutation, label: label)
            return units(server, label).write
        }
        let place = "d/a"
        #expect(try write("create", set(place, try fields(10_240, at: place))) == 10)
        #expect(try write("update", set(place, try fields(10_240, at: place, name: "n"))) == 10)
        let indexed = "c/a"
        #expect(try write("indexed", set(indexed, try fields(1_024, at: indexed))) == 2)
        let renamed = try fields(1_024, at: indexed, name: "z")
        #expect(try write("renamed", set(indexed, renamed)) == 3, "an entry less, an entry more")
        #expect(try write("same", set(indexed, renamed)) == 1)
        #expect(try write("delete", delete(indexed)) == 2)
        #expect(try write("nothing", delete("c/none")) == 1)
    }

    @Test func `a listener pays read units first, and then update units`() throws {
        let server = try server()
        try fill(server, documents: 20, bytes: 1_024)
        let listen = server.listen(label: "app")
        _ = listen.add(target(1, collection("c")))
        #expect(units(server, "app") == BilledUnits(read: 5))
        let path = "c/1000"
        try server.commit(set(path, try fields(6_144, at: path)))
        #expect(units(server, "app") == BilledUnits(read: 5, realtimeUpdate: 2))
        try server.commit(delete(path))
        #expect(units(server, "app").realtimeUpdate == 2, "a delete costs nothing")
    }

    @Test func `a document that leaves a listener's result costs a unit`() throws {
        let server = try server(Self.byName)
        try fill(server, documents: 3, bytes: 1_024)
        let listen = server.listen(label: "app")
        _ = listen.add(target(1, named("1001")))
        #expect(units(server, "app") == BilledUnits(read: 2))
        try server.commit(set("c/1001", try fields(9_000, at: "c/1001", name: "other")))
        #expect(units(server, "app") == BilledUnits(read: 2, realtimeUpdate: 1))
    }

    @Test func `documents may have 16 MiB, and not a byte more`() throws {
        let server = try server()
        let path = "c/large"
        let most = DocumentLimits.enterpriseDocumentBytes
        func value(_ bytes: Int) throws -> MapValue {
            let empty: MapValue = ["a": .bytes([]), "b": .bytes([])]
            let rest = bytes - Document.storageSize(of: empty, at: try DocumentPath(path))
            return [
                "a": .bytes([UInt8](repeating: 1, count: rest / 2)),
                "b": .bytes([UInt8](repeating: 2, count: rest - rest / 2)),
            ]
        }
        try server.commit(set(path, try value(most)), label: "write")
        #expect(units(server, "write").write == 16_384)
        _ = try server.get(path, label: "read")
        #expect(units(server, "read") == BilledUnits(read: 4_096))
        let status = refusal { try server.commit(set(path, try value(most + 1))) }
        #expect(status?.message.contains("16,777,216 bytes") == true)
        let standard = try TestServer()
        #expect(refusal { try standard.commit(set(path, try value(1_048_577))) } != nil)
    }

    @Test func `a strict index file refuses nothing here, and the Standard edition has no units`()
        throws
    {
        let server = try server()
        try fill(server, documents: 2, bytes: 1_024)
        var query = named("1000")
        query.orders = [Order(field("x"), .descending)]
        #expect(try server.query(query).compactMap(\.document).count == 1)
        let standard = try TestServer.withThree()
        _ = try standard.query(collection("c"), label: "app")
        #expect(standard.server.meter().allSatisfy { $0.units == nil })
    }

    @Test func `what Google leaves open can be set`() throws {
        var billing = Billing()
        billing.units.missingDocumentUnits = 0
        let server = try TestServer(
            billing: billing, editions: DatabaseEditions(.enterprise))
        #expect(throws: RPCStatus.self) { try server.get("c/none", label: "missing") }
        #expect(units(server, "missing") == BilledUnits() && server.reads("missing") == 1)
    }
}
