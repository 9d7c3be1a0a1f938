import Testing

@testable import TidemarkLint

/// Checks the code after `--fix`: its exact text, which parses and no longer has the finding.
struct FixTests {
    struct Example: Sendable, CustomStringConvertible {
        let id: FindingID
        let before: String
        /// The code after the fix, or nil if a developer has to make the change.
        let after: String?

        var description: String { "\(id.rawValue): \(before)" }
    }

    private static let count = "count.getAggregation(source: .server)"

    static let examples: [Example] = [
        Example(
            id: .clientClock,
            before:
                #"db.collection("a").addDocument(data: ["sentAt": Date(), "n": ["at": Timestamp()]])"#,
            after:
                #"db.collection("a").addDocument(data: ["sentAt": FieldValue.serverTimestamp(), "n": "#
                + #"["at": FieldValue.serverTimestamp()]])"#),
        // Firestore refuses the server's time in a list.
        Example(
            id: .clientClock,
            before:
                #"db.document("a/b").updateData(["log": FieldValue.arrayUnion([["at": Date()]])])"#,
            after: nil),
        Example(
            id: .countedByDownload,
            before:
                #"func n() async throws -> Int { try await db.collection("é").getDocuments().documents.count }"#,
            after:
                "func n() async throws -> Int { try await db.collection(\"é\").\(count).count.intValue }"
        ),
        Example(
            id: .countedByDownload,
            before: """
                func n() async throws -> Int {
                    let found = try? await db.collection("likes").whereField("post", isEqualTo: id)
                        .getDocuments()
                    print(found?.count ?? 0)
                    return found?.documents.count ?? 0
                }
                """,
            after: """
                func n() async throws -> Int {
                    let found = try? await db.collection("likes").whereField("post", isEqualTo: id)
                        .\(count)
                    print(found?.count.intValue ?? 0)
                    return found?.count.intValue ?? 0
                }
                """),
        Example(
            id: .countedByDownload,
            before:
                #"db.collection("a").getDocuments { found, error in then(found?.documents.count ?? 0, error) }"#,
            after:
                "db.collection(\"a\").\(count) { found, error in then(found?.count.intValue ?? 0, error) }"
        ),
        // The code counts only to learn if a document exists.
        Example(
            id: .countedByDownload,
            before:
                #"func has() async throws -> Bool { try await db.collection("a").getDocuments().documents.count > 0 }"#,
            after:
                #"func has() async throws -> Bool { try await db.collection("a").limit(to: 1).getDocuments().documents.count > 0 }"#
        ),
        // The code states the variable's type.
        Example(
            id: .countedByDownload,
            before: """
                func n() async throws -> Int {
                    let found: QuerySnapshot = try await db.collection("a").getDocuments()
                    return found.count
                }
                """, after: nil),
        // Two variables have the same name.
        Example(
            id: .countedByDownload,
            before: """
                func n() async throws {
                    let found = try await db.collection("a").getDocuments()
                    print(found.count)
                    others.forEach { found in print(found.count) }
                }
                """, after: nil),
        // A sum needs a field, which a developer has to choose.
        Example(
            id: .countedByDownload,
            before: """
                func sum() async throws -> Int {
                    let found = try await db.collection("a").getDocuments()
                    return found.documents.reduce(0) { $0 + ($1["n"] as? Int ?? 0) }
                }
                """, after: nil),
        Example(
            id: .countedByDownload,
            before: """
                func hasTag() async throws -> Bool {
                    let found = try await db.collection("a").whereField("tag", isEqualTo: tag)
                        .getDocuments()
                    return !found.isEmpty
                }
                """,
            after: """
                func hasTag() async throws -> Bool {
                    let found = try await db.collection("a").whereField("tag", isEqualTo: tag)
                        .limit(to: 1).getDocuments()
                    return !found.isEmpty
                }
                """),
        Example(
            id: .counterOverwritten,
            before:
                #"func like(_ post: Post) { db.collection("posts").document(post.id).updateData(["likes": post.likes + 1]) }"#,
            after:
                #"func like(_ post: Post) { db.collection("posts").document(post.id).updateData(["likes": "#
                + "FieldValue.increment(Int64(1))]) }"),
        Example(
            id: .counterOverwritten,
            before: """
                func leave(_ room: Room) {
                    let ref = db.collection("rooms").document(room.id)
                    ref.setData(["members": ["n": 1], "size": room.size - 2], merge: true)
                }
                """,
            after: """
                func leave(_ room: Room) {
                    let ref = db.collection("rooms").document(room.id)
                    ref.setData(["members": ["n": 1], "size": FieldValue.increment(Int64(-2))], merge: true)
                }
                """),
        // `setData` replaces the document, so an increment would start from zero. The same is true
        // of a map that an update replaces.
        Example(
            id: .counterOverwritten,
            before:
                #"func like(_ post: Post) { db.document("posts/\(post.id)").setData(["likes": post.likes + 1]) }"#,
            after: nil),
        Example(
            id: .counterOverwritten,
            before:
                #"func like(_ post: Post) { db.document("posts/\(post.id)").updateData(["of": ["likes": post.likes + 1]]) }"#,
            after: nil),
        // The count is in another document.
        Example(
            id: .counterOverwritten,
            before:
                #"func like(_ post: Post) { db.document("totals/all").updateData(["likes": post.likes + 1]) }"#,
            after: nil),
        Example(
            id: .serverSourceAtLaunch,
            before:
                #"final class C { init() { db.document("a/b").getDocument(source: .server) { s, e in show(s, e) } } }"#,
            after:
                #"final class C { init() { db.document("a/b").getDocument() { s, e in show(s, e) } } }"#
        ),
        Example(
            id: .serverSourceAtLaunch,
            before:
                "final class C { init() { Task { show(try await db.document(\"a/b\").getDocument(as: A.self, source: .server)) } } }",
            after:
                "final class C { init() { Task { show(try await db.document(\"a/b\").getDocument(as: A.self)) } } }"
        ),
        Example(
            id: .serverSourceAtLaunch,
            before:
                "final class C { init() { db.collection(\"a\").getDocuments(source: .server, completion: show) } }",
            after:
                "final class C { init() { db.collection(\"a\").getDocuments(completion: show) } }"),
    ]

    @Test(arguments: examples)
    func `changes only what it can change without a doubt`(example: Example) throws {
        let text = LintCase.preamble + example.before + "\n"
        let report = LintCase.linter.report(on: [(path: "A.swift", text: text)])
        let findings = report.findings.filter { $0.id == example.id }
        try #require(!findings.isEmpty, "\(report.findings.map(\.message))")
        var alone = report
        alone.findings = findings
        let fixes = Fixes(alone, texts: ["A.swift": text])
        guard let after = example.after else {
            #expect(fixes.changes.isEmpty, "\(fixes.difference)")
            return
        }
        let changed = try #require(fixes.changes.first).after
        #expect(changed == LintCase.preamble + after + "\n")
        let mended = LintCase.linter.report(on: [(path: "A.swift", text: changed)])
        #expect(mended.unparsed.isEmpty, "the parser knows it")
        #expect(!mended.findings.contains { $0.id == example.id })
    }

    @Test func `examples are of all that have a fix`() {
        let fixable = Set(
            LintCase.all.flatMap { LintCase.report(on: $0.code).findings }
                .filter { $0.fix != nil }.map(\.id))
        #expect(fixable == Set(Self.examples.filter { $0.after != nil }.map(\.id)))
    }

    /// The parser accepts the result of every fix of every case, and the finding is removed.
    @Test func `every fix of every case parses, and mends`() throws {
        var count = 0
        for example in LintCase.all where example.isFound {
            let text = LintCase.preamble + example.code
            let report = LintCase.linter.report(on: [(path: "A.swift", text: text)])
            for finding in report.findings where finding.fix != nil {
                var alone = report
                alone.findings = [finding]
                let change = try #require(Fixes(alone, texts: ["A.swift": text]).changes.first)
                let mended = LintCase.linter.report(on: [(path: "A.swift", text: change.after)])
                #expect(mended.unparsed == report.unparsed, "\(change.after)")
                func left(in report: Report) -> Int {
                    report.findings.count { $0.id == finding.id }
                }
                #expect(left(in: mended) == left(in: report) - 1, "\(change.after)")
                count += 1
            }
        }
        #expect(count >= 14)
    }
}
