import Synchronization
import Testing

@testable import TidemarkApp

/// Tests the meaning of the keychain's answers with scripted statuses.
struct `A keychain's items` {
    /// Records each call and answers with the next status, or with success after the last one.
    private final class Scripted: KeychainCalls {
        private struct State {
            var statuses: [Int32]
            var bytes: [UInt8]?
            var calls: [String] = []
        }

        private let state: Mutex<State>

        init(_ statuses: Int32..., bytes: [UInt8]? = nil) {
            state = Mutex(State(statuses: statuses, bytes: bytes))
        }

        /// The calls, as in `copy session`. The name of a probe's item appears without its number.
        var calls: [String] { state.withLock(\.calls) }

        private func next(_ call: String, _ item: KeychainItem) -> Int32 {
            state.withLock { state in
                let name = item.account.hasPrefix("probe-") ? "probe" : item.account
                state.calls.append("\(call) \(name)")
                return state.statuses.isEmpty ? 0 : state.statuses.removeFirst()
            }
        }

        func copy(_ item: KeychainItem) -> (status: Int32, bytes: [UInt8]?) {
            (next("copy", item), state.withLock(\.bytes))
        }
        func add(_ item: KeychainItem, _ bytes: [UInt8]) -> Int32 { next("add", item) }
        func update(_ item: KeychainItem, _ bytes: [UInt8]) -> Int32 { next("update", item) }
        func delete(_ item: KeychainItem) -> Int32 { next("delete", item) }
    }

    private static let (notFound, duplicate, locked) = (
        Int32(-25_300), Int32(-25_299), Int32(-25_308)
    )

    private func items(_ calls: Scripted) -> KeychainItems {
        KeychainItems(service: "app", calls: calls)
    }

    @Test func `are read where they are`() throws {
        let calls = Scripted(0, bytes: [1, 2])
        #expect(try items(calls).read(.session) == [1, 2])
        #expect(calls.calls == ["copy session"])
        #expect(throws: CredentialStoreError.failed("keychain: an item without bytes")) {
            try items(Scripted(0)).read(.session)
        }
    }

    /// Before the first unlock, the keychain can report "not found" for an item that exists.
    @Test func `are missing only where something could be kept`() throws {
        let calls = Scripted(Self.notFound)
        #expect(try items(calls).read(.session) == nil)
        #expect(calls.calls == ["copy session", "add probe", "delete probe"])
        #expect(throws: CredentialStoreError.locked) {
            try items(Scripted(Self.notFound, Self.locked)).read(.session)
        }
        #expect(throws: CredentialStoreError.locked) {
            try items(Scripted(Self.locked)).read(.session)
        }
    }

    @Test func `are missing too where the probe is there already, or gone before it is removed`()
        throws
    {
        #expect(try items(Scripted(Self.notFound, Self.duplicate)).read(.session) == nil)
        #expect(try items(Scripted(Self.notFound, 0, Self.notFound)).read(.session) == nil)
    }

    @Test func `are replaced, else added`() throws {
        let there = Scripted(0)
        try items(there).write(.session, [1])
        #expect(there.calls == ["update session"])
        let missing = Scripted(Self.notFound, 0)
        try items(missing).write(.session, [1])
        #expect(missing.calls == ["update session", "add session"])
    }

    /// An app and its extension both add the item, and the second call reports a duplicate.
    @Test func `are replaced when somebody else was faster`() throws {
        let calls = Scripted(Self.notFound, Self.duplicate, 0)
        try items(calls).write(.session, [1])
        #expect(calls.calls == ["update session", "add session", "update session"])
    }

    @Test func `are not tried for ever`() {
        let calls = Scripted(
            Self.notFound, Self.duplicate, Self.notFound, Self.duplicate, Self.notFound,
            Self.duplicate)
        let error = CredentialStoreError.failed(
            "keychain: the item was added and deleted repeatedly")
        #expect(throws: error) { try items(calls).write(.session, [1]) }
        #expect(calls.calls.count == 2 * KeychainItems.attempts)
    }

    @Test func `are removed, also when there is none`() throws {
        for status in [0, Self.notFound] {
            let calls = Scripted(status)
            try items(calls).write(.session, nil)
            #expect(calls.calls == ["delete session"])
        }
        #expect(throws: CredentialStoreError.locked) {
            try items(Scripted(Self.locked)).write(.session, nil)
        }
    }

    @Test func `say what a programmer can do about a failure`() {
        let text = "keychain: -34018, the program lacks the entitlement keychain-access-groups"
        #expect(throws: CredentialStoreError.failed(text)) {
            try items(Scripted(-34_018)).read(.session)
        }
        #expect(throws: CredentialStoreError.failed("keychain: -50")) {
            try items(Scripted(-50)).write(.session, [1])
        }
    }
}
