import Testing

@testable import TidemarkStore

struct FrameGroupsTests {
    private typealias Group = FrameGroups.Group

    @Test func `a page is in the group that was set last`() {
        var groups = FrameGroups()
        groups.set(Group(start: 2, count: 3, mark: 7))
        #expect((0..<6).map { groups.group(of: $0)?.start } == [nil, nil, 2, 2, 2, nil])
        #expect(groups.group(of: 4) == Group(start: 2, count: 3, mark: 7))
        groups.forgetAll()
        #expect(groups.group(of: 4) == nil)
    }

    @Test func `what is written over a part of a group takes all of it`() {
        var groups = FrameGroups()
        groups.set(Group(start: 0, count: 3, mark: 1))
        groups.set(Group(start: 3, count: 3, mark: 2))
        groups.set(Group(start: 6, count: 2, mark: 3))
        groups.set(Group(start: 2, count: 2, mark: 4))
        #expect(
            (0..<8).map { groups.group(of: $0)?.mark } == [nil, nil, 4, 4, nil, nil, 3, 3])
    }
}

struct OpenedFramesTests {
    @Test func `the ones that were not read for the longest time go`() {
        var opened = OpenedFrames()
        defer { opened.forgetAll() }
        for start in 0..<OpenedFrames.most { opened.keep(start..<start + 1, opened.room()) }
        #expect(opened.frames(from: 0) != nil)
        opened.keep(100..<108, opened.room())
        #expect(opened.frames(from: 1) == nil)
        #expect([0, 2, 100].allSatisfy { opened.frames(from: $0) != nil })
    }

    @Test func `what is written over is forgotten`() {
        var opened = OpenedFrames()
        defer { opened.forgetAll() }
        opened.keep(0..<8, opened.room())
        opened.keep(8..<16, opened.room())
        opened.forget(7..<8)
        #expect(opened.frames(from: 0) == nil)
        #expect(opened.frames(from: 8) != nil)
    }
}

/// The batches that are read ahead. The contents of the pages do not matter here.
struct ReadAheadTests {
    /// Reads pages as a scan does, and returns the ranges that were read in one piece.
    private func ranges(_ numbers: [Int64], end: Int64) -> [Range<Int64>] {
        var ahead = ReadAhead()
        var read: [Range<Int64>] = []
        for number in numbers {
            let isScan = ahead.isScan(to: number)
            if ahead.batch(with: number) == nil, isScan {
                _ = ahead.begin(at: number, end: end) { numbers, _ in
                    read.append(numbers)
                    return true
                }
            }
        }
        return read
    }

    @Test func `pages in order are read together`() {
        #expect(ranges(Array(5..<50), end: 60) == [8..<39, 39..<60])
        #expect(ranges([5, 7, 10, 14], end: 15) == [])
        #expect(ranges([5, 7, 10, 14, 15], end: 100) == [14..<45])
    }

    @Test func `pages without an order are read alone`() {
        #expect(ranges([5, 6, 7, 3, 4, 5, 90, 91, 92, 80], end: 100) == [])
        #expect(ranges([5, 10, 15, 20, 25], end: 100) == [])
    }

    @Test func `a page that is written, or a lock, makes its batch be read again`() {
        var ahead = ReadAhead()
        for number in Int64(0)..<4 { _ = ahead.isScan(to: number) }
        #expect(ahead.begin(at: 3, end: 100) { _, _ in true } != nil)
        ahead.forget(50)
        #expect(ahead.batch(with: 20) != nil)
        ahead.forget(20)
        #expect(ahead.batch(with: 20) == nil)
        #expect(ahead.begin(at: 3, end: 100) { _, _ in true } != nil)
        ahead.forget()
        #expect(ahead.batch(with: 20) == nil)
        #expect(ahead.begin(at: 3, end: 100) { _, _ in false } == nil)
    }
}
