import Testing

@testable import TidemarkModel

struct `Timestamps` {
    @Test(arguments: [Int64(0), 1, -1, 999_999, -999_999, -1_000_000, 1_700_000_000_123_456])
    func `count microseconds both ways from 1970`(microseconds: Int64) {
        let time = Timestamp(microseconds: microseconds)
        #expect(time.microseconds == microseconds)
        #expect((0..<1_000_000_000).contains(time.nanoseconds))
    }

    @Test func `cut towards the past`() {
        let time = Timestamp(seconds: -1, nanoseconds: 999_999_999)
        #expect(time.truncatedToMicroseconds == Timestamp(seconds: -1, nanoseconds: 999_999_000))
        #expect(time.microseconds == -1)
        #expect(time.milliseconds == -1)
    }

    @Test func `stay in years 1 to 9999`() {
        #expect(Timestamp.max.advanced(by: .seconds(1)) == .max)
        #expect(Timestamp.min.advanced(by: .seconds(-1)) == .min)
        #expect(Timestamp.epoch.advanced(by: .seconds(Int64.max)) == .max)
        #expect(Timestamp.epoch.advanced(by: .seconds(Int64.min)) == .min)
        #expect(!Timestamp.isValid(seconds: 253_402_300_800, nanoseconds: 0))
        #expect(!Timestamp.isValid(seconds: 0, nanoseconds: -1))
        #expect(!Timestamp.isValid(seconds: 0, nanoseconds: 1_000_000_000))
    }

    @Test func `moving and measuring agree`() {
        let start = Timestamp(microseconds: -1_500_000)
        let later = start.advanced(by: .milliseconds(2_750))
        #expect(later.duration(since: start) == .milliseconds(2_750))
        #expect(start.duration(since: later) == .milliseconds(-2_750))
        #expect(start < later)
    }
}
