import Foundation
import Testing
import TidemarkModel

struct TimestampTextTests {
    @Test(arguments: [
        (0, 0, "1970-01-01T00:00:00Z"), (-1, 0, "1969-12-31T23:59:59Z"),
        (951_782_400, 0, "2000-02-29T00:00:00Z"), (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        (1, 500_000_000, "1970-01-01T00:00:01.500Z"), (1, 7_000, "1970-01-01T00:00:01.000007Z"),
        (1, 100_000_007, "1970-01-01T00:00:01.100000007Z"),
    ])
    func `writes and reads`(seconds: Int64, nanoseconds: Int32, text: String) {
        let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(time.rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == time)
    }

    @Test func `agrees with Foundation's calendar`() {
        var seconds: Int64 = -62_135_596_800
        while seconds < 253_402_300_800 {
            // Foundation's calendar is Julian before 1582.
            if seconds > -12_000_000_000 {
                let date = Date(timeIntervalSince1970: Double(seconds))
                let text = Timestamp(seconds: seconds, nanoseconds: 0).rfc3339
                #expect(text == date.formatted(.iso8601))
            }
            #expect(
                Timestamp(rfc3339: Timestamp(seconds: seconds, nanoseconds: 0).rfc3339)?.seconds
                    == seconds)
            seconds += 86_399 * 997
        }
    }

    @Test(arguments: [
        ("2024-01-01T02:00:00+02:00", 1_704_067_200), ("2023-12-31T19:30:00-04:30", 1_704_067_200),
        ("2024-01-01t00:00:00z", 1_704_067_200),
    ])
    func `reads offsets`(text: String, seconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "2024-01-01", "2024-01-01T00:00:00", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
        "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z",
        "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.1234567890Z", "0000-01-01T00:00:00Z",
        "2024-01-01T00:00:00Z ", "2024-01-01T00:00:00+1:00", "1900-02-29T00:00:00Z",
        "9999-12-31T23:59:59-00:01",
    ])
    func `refuses what is no time`(text: String) { #expect(Timestamp(rfc3339: text) == nil) }
}
