import Foundation
import Testing
import TidemarkModel

@testable import TidemarkAudit

struct OrphanMergeTests {
    /// Sends two lists to the machine in pages, in the order of its requests.
    private func found(
        _ accounts: [String], _ profiles: [String], pageSize: Int
    ) throws -> (accounts: [String], profiles: [String], largest: Int) {
        var merge = OrphanMerge()
        var rest = [OrphanMerge.Side.accounts: accounts[...], .profiles: profiles[...]]
        var pages = 0
        while case .page(let side) = merge.step() {
            let page = Array(rest[side, default: []].prefix(pageSize))
            rest[side] = rest[side, default: []].dropFirst(pageSize)
            try merge.take(page, of: side, isLast: rest[side, default: []].isEmpty)
            pages += 1
            try #require(pages <= accounts.count + profiles.count + 4, "it ends")
        }
        #expect(merge.counts == (accounts.count, profiles.count))
        return (merge.accountsWithoutProfile.ids, merge.profilesWithoutAccount.ids, pages)
    }

    @Test(arguments: [1, 2, 3, 1_000])
    func `both directions are found, whatever the pages`(pageSize: Int) throws {
        let result = try found(
            ["a", "b", "d", "f", "z"], ["b", "c", "d", "e", "f"], pageSize: pageSize)
        #expect(result.accounts == ["a", "z"])
        #expect(result.profiles == ["c", "e"])
    }

    @Test func `one side may be empty, and both`() throws {
        #expect(try found([], ["a", "b"], pageSize: 1).profiles == ["a", "b"])
        #expect(try found(["a", "b"], [], pageSize: 1).accounts == ["a", "b"])
        #expect(try found([], [], pageSize: 1).accounts == [])
    }

    @Test func `what it finds is what sets say, for random lists`() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<300 {
            func ids() -> [String] {
                let all = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    "u\(Int.random(in: 0...60, using: &random))"
                }
                return Set(all).sorted { $0.precedesInBytes($1) }
            }
            let (accounts, profiles) = (ids(), ids())
            let size = Int.random(in: 1...9, using: &random)
            let result = try found(accounts, profiles, pageSize: size)
            #expect(result.accounts == accounts.filter { !profiles.contains($0) })
            #expect(result.profiles == profiles.filter { !accounts.contains($0) })
        }
    }

    @Test func `ids are told apart by their bytes`() throws {
        // Swift compares both ids as equal. The first has the accent as a separate letter.
        let result = try found(["e\u{301}"], ["\u{e9}"], pageSize: 5)
        #expect(result.accounts.count == 1 && result.profiles.count == 1)
    }

    @Test func `a list out of order is refused`() {
        var merge = OrphanMerge()
        let demand = merge.step()
        #expect(demand == .page(.accounts))
        #expect(throws: AuditError.self) {
            try merge.take(["b", "a"], of: .accounts, isLast: true)
        }
        #expect(throws: AuditError.self) {
            try merge.take(["a", "a"], of: .accounts, isLast: true)
        }
    }

    @Test func `ids beyond the bound are counted and not kept`() throws {
        var merge = OrphanMerge()
        _ = merge.step()
        let ids = (0..<(OrphanMerge.maxKept + 5)).map { String(10_000_000 + $0) }
        try merge.take(ids, of: .accounts, isLast: true)
        _ = merge.step()
        try merge.take([], of: .profiles, isLast: true)
        let demand = merge.step()
        #expect(demand == .done)
        #expect(merge.accountsWithoutProfile.count == OrphanMerge.maxKept + 5)
        #expect(merge.accountsWithoutProfile.ids.count == OrphanMerge.maxKept)
    }
}

struct DailyScheduleTests {
    private func date(_ text: String) -> Date { ISO8601DateFormatter().date(from: text)! }
    private func schedule(_ time: String, _ zone: String) throws -> DailySchedule {
        let place = try #require(TimeZone(identifier: zone))
        return try #require(DailySchedule(time, in: place))
    }

    @Test func `the next time is today's or tomorrow's, in its place`() throws {
        let zurich = try schedule("02:00", "Europe/Zurich")
        #expect(zurich.next(after: date("2026-11-21T00:30:00Z")) == date("2026-11-21T01:00:00Z"))
        #expect(zurich.next(after: date("2026-11-21T01:00:00Z")) == date("2026-11-22T01:00:00Z"))
        let tokyo = try schedule("02:00", "Asia/Tokyo")
        #expect(tokyo.next(after: date("2026-11-21T00:30:00Z")) == date("2026-11-21T17:00:00Z"))
    }

    @Test func `a time is told as the clocks there show it`() throws {
        let zurich = try schedule("02:00", "Europe/Zurich")
        #expect(
            zurich.text(date("2026-11-23T01:00:00Z"))
                == "2026-11-23T02:00:00+01:00 (Europe/Zurich)")
        let delhi = try schedule("02:00", "Asia/Kolkata")
        #expect(
            delhi.text(delhi.next(after: date("2026-11-22T12:00:00Z"))).hasPrefix("2026-11-23T02"))
    }

    @Test func `a time that a day does not have is the moment after the gap`() throws {
        // In Zurich, clocks move from 02:00 to 03:00 on the 29th of March 2026 at 01:00 UTC.
        let zurich = try schedule("02:00", "Europe/Zurich")
        #expect(zurich.next(after: date("2026-03-28T12:00:00Z")) == date("2026-03-29T01:00:00Z"))
        let half = try schedule("02:30", "Europe/Zurich")
        #expect(half.next(after: date("2026-03-28T12:00:00Z")) == date("2026-03-29T01:00:00Z"))
    }

    @Test func `a time that a day has twice is its first`() throws {
        // In Zurich, clocks move from 03:00 to 02:00 on the 25th of October 2026 at 01:00 UTC.
        let zurich = try schedule("02:00", "Europe/Zurich")
        #expect(zurich.next(after: date("2026-10-24T12:00:00Z")) == date("2026-10-25T00:00:00Z"))
        #expect(zurich.next(after: date("2026-10-25T00:00:00Z")) == date("2026-10-26T01:00:00Z"))
    }

    @Test(arguments: ["", "2", "24:00", "12:60", "a:b", "1:2:3", "-1:00"])
    func `what is no time of day`(text: String) {
        #expect(DailySchedule(text, in: .gmt) == nil)
    }
}
