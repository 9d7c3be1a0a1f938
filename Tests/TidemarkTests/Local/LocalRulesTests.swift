import Testing
import Tidemark
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct LocalRulesTests {
    private static let file = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /rooms/{id} {
              allow read, delete: if resource.data.owner == request.auth.uid;
              allow create: if request.resource.data.owner == request.auth.uid;
              allow update: if resource.data.owner == request.auth.uid
                && request.resource.data.owner == resource.data.owner;
            }
          }
        }
        """

    @Test func `rules are asked about reads, writes and queries`() async throws {
        let text = Self.file
        let local = try LocalFirestore.start(rules: text)
        let admin = try local.firestore(token: "owner")
        try await admin.document("rooms/blue").setData(["owner": "ann"])

        let rules = local.rules
        #expect(await rules.allows(.get("rooms/blue"), as: .user("ann")), "\(rules.why)")
        #expect(await rules.denies(.delete("rooms/blue"), as: .user("bob")), "\(rules.why)")
        #expect(rules.why.contains("resource.data.owner is 'ann', request.auth.uid is 'bob'"))
        #expect(rules.why.contains("\n  5:30 resource.data.owner → 'ann'"))

        let owned: MapValue = ["owner": .string("ann")]
        #expect(await rules.allows(.create("rooms/red", owned), as: .user("ann")))
        let stolen: MapValue = ["owner": .string("bob")]
        #expect(await rules.denies(.update("rooms/blue", stolen), as: .user("ann")))
        let both: [RulesOperation] = [.delete("rooms/blue"), .set("rooms/red", owned)]
        #expect(await rules.allows(.batch(both), as: .user("ann")))

        let mine = admin.collection("rooms").whereField("owner", isEqualTo: "ann")
        #expect(await rules.allows(mine, as: .user("ann")))
        #expect(await rules.denies(admin.collection("rooms"), as: .user("ann")), "\(rules.why)")
        #expect(rules.why.contains(#"Add .whereField("owner", isEqualTo: "ann")"#))

        #expect(await !rules.allows(.get("rooms"), as: .nobody))
        #expect(await !rules.denies(.get("rooms"), as: .nobody), "no path is no verdict")
        #expect(rules.why.contains("names a collection"))
        #expect(try await admin.document("rooms/blue").getDocument().exists, "nothing was done")
        await local.stop()
    }

    @Test func `clients are those whom the rules see`() async throws {
        let local = try LocalFirestore.start(rules: Self.file)
        let admin = try local.firestore(token: "owner")
        try await admin.document("rooms/blue").setData(["owner": "ann"])
        let ann = try local.firestore(as: .user("ann"))
        let bob = try local.firestore(as: .account(uid: "bob", claims: ["admin": .boolean(false)]))
        try await ann.document("rooms/blue").updateData(["text": "hi"])
        await #expect(throws: FirestoreError.self) {
            try await bob.document("rooms/blue").getDocument()
        }
        let untested = local.rules.untested.map(\.description)
        #expect(untested.contains("L6:7 No request reached this allow."))
        await local.stop()
    }

    @Test func `a file with errors starts nothing`() {
        #expect(throws: RPCStatus.self) { try LocalFirestore.start(rules: "service {") }
    }

    @Test func `a refused listener is told once, and does not ask again`() async throws {
        let local = try LocalFirestore.start(rules: Self.file)
        let bob = try local.firestore(as: .user("bob"), label: "bob")
        var errors: [FirestoreError] = []
        do {
            for try await _ in bob.collection("rooms").snapshots {}
        } catch { errors.append(error) }
        #expect(errors.map(\.code) == [.permissionDenied])
        #expect(errors.first?.recovery == .askForPermission)
        #expect(errors.first?.message == "You don't have permission to do this.")
        let asked = local.server.judgedRequests().count
        for _ in 0..<60 { local.advance(by: .seconds(60)) }
        #expect(
            local.server.judgedRequests().count == asked, "an hour later it has not asked again")
        await local.stop()
    }

    @Test func `a listener is told when new rules refuse it`() async throws {
        let local = try LocalFirestore.start(rules: Self.file)
        try await local.firestore(token: "owner").document("rooms/blue").setData(["owner": "ann"])
        let ann = try local.firestore(as: .user("ann"))
        let mine = ann.collection("rooms").whereField("owner", isEqualTo: "ann")
        var counts: [Int] = []
        await #expect(throws: FirestoreError.self) {
            for try await snapshot in mine.snapshots where !snapshot.metadata.isFromCache {
                counts.append(snapshot.documents.count)
                local.server.setRules(RulesSettings(try Ruleset("service cloud.firestore { }")))
            }
        }
        #expect(counts == [1])
        await local.stop()
    }

    @Test func `a refused write is kept for the person to see`() async throws {
        let local = try LocalFirestore.start(rules: Self.file)
        let bob = try local.firestore(as: .user("bob"))
        do {
            try await bob.document("rooms/blue").setData(["owner": "ann"])
            Issue.record("written")
        } catch {
            #expect(error.code == .permissionDenied && error.recovery == .askForPermission)
        }
        let rejected = try await bob.rejectedWrites()
        #expect(rejected.count == 1)
        #expect(try await bob.pendingWrites().isEmpty)
        let admin = try local.firestore(token: "owner")
        #expect(try await !admin.document("rooms/blue").getDocument().exists)
        await local.stop()
    }
}
