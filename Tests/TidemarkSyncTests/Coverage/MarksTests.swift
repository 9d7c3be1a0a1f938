import Testing
import TidemarkModel

@testable import TidemarkSync

struct `The two marks` {
    let now = Timestamp(milliseconds: 1_000_000)

    @Test func `only move forward, and say so`() {
        var marks = Marks()
        let first = Timestamp(milliseconds: 500)
        #expect(marks.move(.action, to: first, serverNow: now) == .moved(to: first))
        #expect(
            marks.move(.action, to: Timestamp(milliseconds: 499), serverNow: now)
                == .ignored(at: first))
        #expect(marks.move(.action, to: first, serverNow: now) == .ignored(at: first))
        #expect(marks.action == first)
        #expect(marks.consumption == nil)
    }

    @Test func `are clamped to the server's time`() {
        var marks = Marks()
        let ahead = Timestamp(milliseconds: 2_000_000)
        #expect(marks.move(.consumption, to: ahead, serverNow: now) == .clamped(to: now))
        #expect(marks.consumption == now)
        #expect(marks.move(.consumption, to: ahead, serverNow: now) == .ignored(at: now))
    }

    @Test func `a negative one is reset to no filter`() {
        var marks = Marks()
        marks.move(.action, toMilliseconds: 500, serverNow: now)
        #expect(marks.move(.action, toMilliseconds: -1, serverNow: now) == .reset)
        #expect(marks.action == nil)
        #expect(marks.floor == nil)
    }

    @Test func `a millisecond holds all of its microseconds`() throws {
        var marks = Marks()
        marks.move(.action, toMilliseconds: 7, serverNow: now)
        let action = try #require(marks.action)
        #expect(action >= Timestamp(microseconds: 7_999))
        #expect(action < Timestamp(microseconds: 8_000))
        marks.move(.action, toMilliseconds: .max, serverNow: nil)
        #expect(marks.action.map { $0 < .max } == true)
    }

    @Test func `the floor is the higher of the two`() {
        var marks = Marks()
        marks.move(.action, to: Timestamp(milliseconds: 5), serverNow: now)
        #expect(marks.floor == Timestamp(milliseconds: 5))
        marks.move(.consumption, to: Timestamp(milliseconds: 9), serverNow: now)
        #expect(marks.floor == Timestamp(milliseconds: 9))
    }

    @Test func `merge by the higher of each, in any order`() {
        func marks(_ action: Int64?, _ consumption: Int64?) -> Marks {
            var marks = Marks()
            for (name, value) in [(Marks.Name.action, action), (.consumption, consumption)] {
                if let value {
                    marks.move(name, to: Timestamp(milliseconds: value), serverNow: nil)
                }
            }
            return marks
        }
        for (a, b) in [(marks(3, nil), marks(2, 8)), (marks(nil, nil), marks(1, 1))] {
            var (left, right) = (a, b)
            left.merge(b)
            right.merge(a)
            #expect(left == right)
            #expect(Marks(encoded: left.encoded) == left)
        }
        var merged = marks(3, nil)
        merged.merge(marks(2, 8))
        #expect(merged == marks(3, 8))
    }
}
