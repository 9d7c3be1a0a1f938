import Foundation
import Testing

@testable import TidemarkModel

struct BillingDayTests {
    private func time(_ text: String) throws -> Timestamp {
        let formatter = ISO8601DateFormatter()
        let date = try #require(formatter.date(from: text))
        return Timestamp(seconds: Int64(date.timeIntervalSince1970), nanoseconds: 0)
    }

    @Test(arguments: [
        ("2026-11-21T07:59:59Z", "2026-11-20"), ("2026-11-21T08:00:00Z", "2026-11-21"),
        ("2026-07-01T06:59:59Z", "2026-06-30"), ("2026-07-01T07:00:00Z", "2026-07-01"),
        ("2024-02-29T12:00:00Z", "2024-02-29"), ("2000-01-01T00:00:00Z", "1999-12-31"),
        // The days on which clocks change have 23 and 25 hours.
        ("2026-03-08T07:59:59Z", "2026-03-07"), ("2026-03-09T06:59:59Z", "2026-03-08"),
        ("2026-03-09T07:00:00Z", "2026-03-09"), ("2026-11-02T07:59:59Z", "2026-11-01"),
        ("2026-11-02T08:00:00Z", "2026-11-02"), ("1969-12-31T00:00:00Z", "1969-12-30"),
    ])
    func `a day begins at midnight in California`(moment: String, day: String) throws {
        #expect(BillingDay(try time(moment)).description == day)
    }

    @Test func `a day ends where the next one begins, for forty years`() {
        let first = BillingDay(Timestamp(seconds: 1_200_000_000, nanoseconds: 0))
        for offset in 0..<(40 * 365) {
            let day = first.advanced(by: offset)
            let end = day.end
            #expect(BillingDay(end) == day.advanced(by: 1))
            #expect(BillingDay(end.advanced(by: .microseconds(-1))) == day)
        }
    }

    /// Foundation's table of time zones gives the same days.
    @Test func `every hour of thirty years is of the day that the system says`() throws {
        let zone = try #require(
            TimeZone(identifier: "America/Los_Angeles"), "no table of time zones")
        for hour in stride(from: 1_199_174_400, to: 2_145_916_800, by: 3_600) {
            let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(hour)))
            let expected = Int((Double(hour + offset) / 86_400).rounded(.down))
            let day = BillingDay(Timestamp(seconds: Int64(hour), nanoseconds: 0))
            try #require(day.number == expected, "\(hour)")
        }
    }
}
