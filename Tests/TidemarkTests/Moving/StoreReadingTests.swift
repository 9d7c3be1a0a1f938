import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

struct `A store of FirebaseFirestore` {
    @Test(arguments: MadeStore.readable)
    func `is read as LevelDB wrote it`(made: MadeStore) throws {
        let before = try files(in: made.folder)
        let store = try made.read()
        #expect(store.rows == Set(made.batches))
        #expect(store.batches.count == made.batches.count)
        #expect(store.hasTornEnd == made.isTorn)
        for user in store.users {
            let numbers = store.batches(of: user).map(\.number)
            #expect(numbers == numbers.sorted())
        }
        #expect(try files(in: made.folder) == before, "nothing in it has changed")
    }

    @Test func `has several tables on two levels where it is large`() throws {
        let folder = MadeStore.named("tables").folder
        let found = try files(in: folder).keys.first { $0.hasPrefix("MANIFEST") }
        let name = try #require(found)
        let file = try #require(try StoreFile(folder, name))
        let tables = try StoreManifest(file).tables
        #expect(tables.count >= 3 && Set(tables.map(\.level)).count == 2)
    }

    @Test func `says whose writes wait`() throws {
        let store = try MadeStore.named("users").read()
        #expect(Set(store.users) == [nil, "ann", "bob\0ÿ", "zoë"])
        #expect(store.batches(of: nil).map(\.number) == [1])
        #expect(store.batches(of: "bob\0ÿ").map(\.number) == [4])
        #expect(store.batches(of: "ann").map(\.number) == [3, 8_200])
        #expect(store.batches(of: "carl").isEmpty)
        let time = Timestamp(seconds: 1_700_000_003, nanoseconds: 5_000_000)
        #expect(store.batches(of: "ann")[0].time == time)
    }

    @Test func `has every kind of write`() throws {
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_000)
        func path(_ id: String) throws -> DocumentPath { try DocumentPath("kinds/" + id) }
        func field(_ text: String) throws -> FieldPath { try FieldPath(encoded: text) }
        let expected: [[Mutation]] = [
            [
                Mutation(
                    path: try path("set"),
                    .set([
                        "a": .integer(1),
                        "b": .array([.boolean(true), .null, .map(["c": .double(1.5)])]),
                        "ü": .string("ß"),
                    ]))
            ],
            [
                Mutation(
                    path: try path("patch"),
                    .patch(
                        ["a": .integer(1)],
                        mask: [try field("a"), try field("gone"), try field("`x y`.z")]),
                    precondition: .exists(true))
            ],
            [Mutation(path: try path("delete"), .delete)],
            [Mutation(path: try path("deleteAt"), .delete, precondition: .updateTime(time))],
            [Mutation(path: try path("verify"), .verify, precondition: .exists(false))],
            [
                Mutation(
                    path: try path("make"), .set(["made": .boolean(true)]),
                    precondition: .exists(false))
            ],
            [
                Mutation(
                    path: try path("transforms"), .set([:]),
                    transforms: [
                        FieldTransform(try field("time"), .serverTimestamp),
                        FieldTransform(try field("count"), .increment(.integer(2))),
                        FieldTransform(try field("high"), .maximum(.integer(7))),
                        FieldTransform(try field("low"), .minimum(.double(2.5))),
                        FieldTransform(
                            try field("more"), .arrayUnion([.string("x"), .integer(1)])),
                        FieldTransform(try field("less"), .arrayRemove([.string("y")])),
                    ])
            ],
            [
                Mutation(path: try path("old"), .set(["a": .integer(1)])),
                Mutation(
                    path: try path("old"), .patch([:], mask: []),
                    transforms: [FieldTransform(try field("time"), .serverTimestamp)],
                    precondition: .exists(true)),
            ],
        ]
        let batches = try MadeStore.named("kinds").read().batches
        #expect(batches.map(\.problem) == Array(repeating: nil, count: 8))
        #expect(batches.map(\.mutations) == expected)
    }

    @Test func `tells what it holds that is unknown here`() throws {
        let batches = try MadeStore.named("unknown").read().batches
        #expect(batches.map(\.number) == Array(1...8))
        let problems = batches.map { $0.problem?.detail }
        #expect(
            problems == [
                nil, "Write 1 cannot be sent: Its kind is unknown.",
                "Write 1 cannot be sent: It has unknown parts.",
                "Write 1 cannot be sent: It has unknown parts.",
                "The batch has unknown parts.", nil, "The batch cannot be read.",
                nil,
            ])
        #expect(batches.allSatisfy { ($0.problem == nil) == !$0.mutations.isEmpty })
    }

    @Test func `that is compressed is not guessed at`() {
        #expect(
            throws: FirebaseStoreError.unknownForm(
                file: "000005.ldb", problem: "its blocks are compressed by Snappy.")
        ) { try MadeStore.named("snappy").read() }
    }

    @Test func `is one where there is a file that says so`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: FirebaseStoreError.notAStore(folder: folder.path)) {
            try FirebaseStore(folder: URL(fileURLWithPath: folder.path))
        }
        let nowhere = URL(fileURLWithPath: folder.path).appendingPathComponent("nowhere")
        #expect(throws: FirebaseStoreError.notAStore(folder: nowhere.path)) {
            try FirebaseStore(folder: nowhere)
        }
        #expect(FirebaseStore.folder(projectID: "nobody-has-this") == nil)
    }

    @Test func `lies where FirebaseFirestore puts it`() {
        let root = URL(fileURLWithPath: "/support/firestore")
        #expect(
            FirebaseStore.folder(in: root, "shop", "(default)", FirebaseStore.defaultApp).path
                == "/support/firestore/__FIRAPP_DEFAULT/shop/main")
        #expect(
            FirebaseStore.folder(in: root, "shop", "archive", "second").path
                == "/support/firestore/second/shop.archive/main")
    }

    /// Covers the first bytes of the numbers, and the numbers at which the size changes.
    @Test func `has keys in the order of what they say`() {
        func key(_ number: String) -> [UInt8] {
            let digits = stride(from: 0, to: number.count, by: 2).map { start in
                UInt8(number.dropFirst(start).prefix(2), radix: 16)!
            }
            return StoreKey.mutations + [0x8D, 0x61, 0, 1, 0x8A] + digits + [0x80]
        }
        let known: [(String, Int32?)] = [
            ("80", 0), ("bf", 63), ("c040", 64), ("dfff", 8_191), ("e02000", 8_192),
            ("f0424242", 0x42_4242), ("f87fffffff", .max), ("7f", -1), ("40", -64),
            ("3fbf", -65), ("3800", -0x800), ("0780000000", .min), ("f880000000", nil),
            ("c0", nil), ("8080", nil), ("ff", nil),
        ]
        for (text, number) in known {
            #expect(StoreKey.mutation(key(text))?.batch == number, "\(text)")
        }
    }

    @Test func `has errors for a person, in the language of the app`() {
        let errors: [FirebaseStoreError] = [
            .notAStore(folder: "a"), .unreadable(file: "a", reason: "b"),
            .damaged(file: "a", problem: "b"), .unknownForm(file: "a", problem: "b"),
        ]
        #expect(Set(errors.map(\.message)).count == 3)
        #expect(errors.map(\.sentence.key).allSatisfy { $0.hasPrefix("moving.") })
    }
}
