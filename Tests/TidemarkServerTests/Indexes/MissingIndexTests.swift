import Testing
import TidemarkModel

@testable import TidemarkServer

/// The texts of server-protocol 2.2, a to d.
struct MissingIndexTests {
    let database = try! DatabaseID(project: "test")

    private func refusal(_ plan: PlanCase, in database: DatabaseID) throws -> RPCStatus {
        let index = try #require(plan.requirement.missing.first)
        return index.refusal(
            in: database, hasManyRanges: plan.query.inequalityFields.count > 1)
    }

    /// Google's own `google.firestore.admin.v1.Index` made these texts.
    static let composite =
        "Cj5wcm9qZWN0cy90ZXN0L2RhdGFiYXNlcy8oZGVmYXVsdCkvY29sbGVjdGlvbkdyb3Vwcy9jL2luZGV4ZXMv"
        + "XxABGgUKAWEQARoFCgF0GAEaBQoBYhACGgwKCF9fbmFtZV9fEAI"
    static let exemption =
        "Cj1wcm9qZWN0cy90ZXN0L2RhdGFiYXNlcy8oZGVmYXVsdCkvY29sbGVjdGlvbkdyb3Vwcy9jL2ZpZWxkcy9h"
        + "EAIaBQoBYRAB"

    @Test func `a composite index`() throws {
        let plan = PlanCase("", equal("a"), contains("t"), orders: "b DESC")
        let status = try refusal(plan, in: database)
        #expect(status.code == .failedPrecondition)
        #expect(status.details.isEmpty)
        #expect(
            status.message
                == "The query requires an index. You can create it here: "
                + "https://console.firebase.google.com/v1/r/project/test/firestore/indexes"
                + "?create_composite=\(Self.composite)")
    }

    @Test func `several ranges get a word of advice`() throws {
        let status = try refusal(PlanCase("", above("a"), above("b")), in: database)
        #expect(
            status.message.hasSuffix(
                " .\nThe query contains range and inequality filters on multiple fields, please "
                    + "refer to the documentation for index selection best practices: "
                    + "https://cloud.google.com/firestore/docs/query-data/multiple-range-fields."))
        let one = try refusal(PlanCase("", above("a"), orders: "b"), in: database)
        #expect(!one.message.contains("multiple"))
    }

    @Test func `a single field of a group`() throws {
        let status = try refusal(PlanCase("", equal("a"), isGroup: true), in: database)
        #expect(status.code == .failedPrecondition)
        #expect(
            status.message
                == "The query requires a COLLECTION_GROUP_ASC index for collection c and field a. "
                + "You can create it here: "
                + "https://console.firebase.google.com/v1/r/project/test/firestore/indexes"
                + "?create_exemption=\(Self.exemption)")
    }

    @Test func `a vector`() throws {
        let plan = PlanCase("", equal("color"), nearest: nearest("emb"))
        let status = try refusal(plan, in: database)
        #expect(status.code == .failedPrecondition)
        let command =
            "gcloud firestore indexes composite create --project=test --collection-group=c "
            + "--query-scope=COLLECTION --field-config=order=ASCENDING,field-path=color "
            + #"--field-config=vector-config='{"dimension":"3","flat": "{}"}',field-path=emb"#
        let start =
            "Missing vector index configuration. Please create the required index with the "
            + "following gcloud command: "
        #expect(status.message == start + command)
        let other = try DatabaseID(project: "test", database: "other")
        let named = try refusal(plan, in: other)
        #expect(named.message.contains("--project=test --database=other --collection-group=c"))
    }

    @Test func `a log line has the shape and no value`() throws {
        let plan = PlanCase("", equal("a", .string("secret")), orders: "b")
        #expect(
            plan.requirement.missing.map(\.sentence)
                == ["Collection c (a ASC, b ASC, __name__ ASC)"])
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
    func `base 64 as in RFC 4648, without padding`(text: String, encoded: String) {
        #expect(Base64URL.encode(Array(text.utf8)) == encoded)
    }

    @Test func `base 64 for links has no character that links quote`() {
        #expect(Base64URL.encode([0xFB, 0xEF, 0xFF]) == "--__")
    }
}
