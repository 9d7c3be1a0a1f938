import Testing

@testable import TidemarkFiles

struct UploadLanesTests {
    private func files(_ sizes: Int64...) -> [UploadLanes.Candidate] {
        sizes.enumerated().map { .init(id: Int64($0.offset + 1), size: $0.element) }
    }

    private func lanes() -> UploadLanes { UploadLanes(smallBytes: 100, smallAtOnce: 2) }

    @Test func `small files go first, a few at a time`() {
        var lanes = lanes()
        let all = files(1_000, 10, 20, 30)
        #expect(lanes.decide(all).starts == [2, 3])
        #expect(lanes.decide(all).starts == [])
        lanes.end(2)
        #expect(lanes.decide([all[0], all[2], all[3]]).starts == [4])
    }

    @Test func `one large file is sent when no small one is`() {
        var lanes = lanes()
        let all = files(1_000, 2_000)
        #expect(lanes.decide(all).starts == [1])
        #expect(lanes.decide(all).starts == [])
        lanes.end(1)
        #expect(lanes.decide([all[1]]).starts == [2])
    }

    @Test func `a large file yields to a small one, and continues after it`() {
        var lanes = lanes()
        #expect(lanes.decide(files(1_000)).starts == [1])
        let both = files(1_000, 10)
        #expect(lanes.decide(both) == .init(starts: [2], yields: [1]))
        lanes.end(1)
        #expect(lanes.decide(both).starts == [])
        lanes.end(2)
        #expect(lanes.decide(files(1_000)).starts == [1])
    }

    @Test func `a file that the network excludes does not start, and stops no other`() {
        var lanes = lanes()
        var all = files(1_000, 10, 20, 2_000)
        (all[0].mayRun, all[1].mayRun) = (false, false)
        #expect(lanes.decide(all) == .init(starts: [3]))
        lanes.end(3)
        #expect(lanes.decide([all[0], all[1], all[3]]) == .init(starts: [4]))
        lanes.end(4)
        #expect(lanes.decide([all[0], all[1]]) == .init())
        (all[0].mayRun, all[1].mayRun) = (true, true)
        #expect(lanes.decide([all[0], all[1]]) == .init(starts: [2]))
    }

    @Test func `a file yields when the network excludes it, and its place is free at its end`() {
        var lanes = lanes()
        var all = files(1_000, 2_000)
        #expect(lanes.decide(all).starts == [1])
        all[0].mayRun = false
        #expect(lanes.decide(all) == .init(yields: [1]))
        lanes.end(1)
        #expect(lanes.decide(all) == .init(starts: [2]))
        var small = files(10, 20, 30)
        var others = self.lanes()
        #expect(others.decide(small).starts == [1, 2])
        (small[0].mayRun, small[1].mayRun) = (false, false)
        #expect(Set(others.decide(small).yields) == [1, 2])
        others.end(1)
        #expect(others.decide(small).starts == [3])
    }

    @Test func `small files that wait for another attempt do not stop a large one`() {
        var lanes = lanes()
        let all = files(1_000, 10, 20, 30)
        _ = lanes.decide(all)
        lanes.pause(2, isPaused: true)
        #expect(lanes.decide(all).starts == [])
        lanes.pause(3, isPaused: true)
        #expect(lanes.decide(all).starts == [1])
        lanes.pause(2, isPaused: false)
        #expect(lanes.decide(all).yields == [1])
    }
}
