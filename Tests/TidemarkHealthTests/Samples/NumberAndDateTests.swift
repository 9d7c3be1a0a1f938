import Foundation
import Testing

@testable import TidemarkHealth

struct `Numbers and dates of an export` {
    private func number(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { Decimal6.parse(UnsafeRawBufferPointer($0)) }
    }

    private func date(_ text: String) -> ExportDate? {
        var text = text
        return text.withUTF8 { ExportDate.parse(UnsafeRawBufferPointer($0)) }
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1_000_000), ("72.5", 72_500_000), ("-0.25", -250_000),
            ("+3", 3_000_000),
            (".5", 500_000), ("5.", 5_000_000), ("0.0000005", 1), ("0.0000004", 0),
            ("6.31579e-05", 63), ("1E3", 1_000_000_000), ("0.1234567", 123_457),
            ("1000000000", 1_000_000_000_000_000), ("0.00000049999", 0),
        ] as [(String, Int64)])
    func `are read in millionths`(text: String, expected: Int64) {
        #expect(number(text) == expected)
    }

    @Test(arguments: [
        "", "-", ".", "many", "1,5", "0x10", "1e99", "nan", "inf", "1 ", "1000000001", "--1",
        "99999999999999999999999999",
    ])
    func `are refused when they are none`(text: String) { #expect(number(text) == nil) }

    @Test(arguments: [
        "", "yesterday", "2024-02-30 00:00:00 +0000", "2023-02-29 00:00:00 +0000",
        "2024-13-01 00:00:00 +0000", "2024-01-01 24:00:00 +0000", "2024-01-01 00:60:00 +0000",
        "2024-01-01 00:00:00 +1900", "2024-01-01 00:00:00", "2024-01-01T00:00:00 +0000",
        "2024-01-01 00:00:00 *0000", "2024-0a-01 00:00:00 +0000",
    ])
    func `no date is refused`(text: String) { #expect(date(text) == nil) }

    @Test func `a date is what Foundation makes of it`() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "UTC")!
        func padded(_ number: Int, _ width: Int = 2) -> String {
            String(repeating: "0", count: width - "\(number)".count) + "\(number)"
        }
        var dice = TestDice(1)
        for _ in 0..<300 {
            let seconds = Int64.random(in: -2_000_000_000...7_000_000_000, using: &dice)
            let minutes = Int.random(in: -60...56, using: &dice) * 15
            let local = Date(timeIntervalSince1970: Double(seconds + Int64(minutes) * 60))
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: local)
            let text =
                "\(padded(parts.year!, 4))-\(padded(parts.month!))-\(padded(parts.day!)) "
                + "\(padded(parts.hour!)):\(padded(parts.minute!)):\(padded(parts.second!)) "
                + (minutes < 0 ? "-" : "+")
                + padded(abs(minutes) / 60) + padded(abs(minutes) % 60)
            #expect(date(text) == ExportDate(seconds: seconds, offset: Int16(minutes)), "\(text)")
        }
    }

    @Test func `a day is written and read back`() {
        for number in stride(from: Int64(-30_000), to: 90_000, by: 37) {
            let day = HealthDay(number: number)
            #expect(HealthDay("\(day)") == day)
        }
        #expect(HealthDay("1970-01-01")?.number == 0)
        #expect(HealthDay("2026-02-29") == nil)
        #expect(HealthDay(seconds: -1, offset: 0).number == -1)
        #expect(HealthDay(seconds: 86_400 - 3_600, offset: 60).number == 1)
    }

    @Test func `samples are packed and unpacked`() {
        var dice = TestDice(2)
        let source = HealthSource(name: "Watch", device: .watch)
        let samples = (0..<500).map { _ in
            PackedSample(
                kind: .mood, start: Int64.random(in: PackedSample.starts, using: &dice),
                duration: UInt32.random(in: 0...604_800, using: &dice),
                value: Int64.random(in: -Decimal6.limit...Decimal6.limit, using: &dice), source: 0,
                sourceHash: source.hash, zone: UInt16.random(in: 0...1_000, using: &dice),
                startOffset: Int16.random(in: -1_080...1_080, using: &dice),
                endOffset: Int16.random(in: -1_080...1_080, using: &dice),
                isEntered: Bool.random(using: &dice))
        }.sorted(by: PackedSample.isBefore)
        let bytes = SampleCoding.encode(samples)
        bytes.withUnsafeBytes { bytes in
            #expect(
                SampleCoding.decode(bytes, kind: .mood, sourceHashes: [source.hash]) == samples)
            #expect(SampleCoding.decode(bytes, kind: .mood, sourceHashes: []) == nil)
            // A part of the bytes gives fewer samples or none, and never a crash.
            for end in stride(from: 0, to: bytes.count, by: 7) {
                let part = UnsafeRawBufferPointer(rebasing: bytes[..<end])
                let found = SampleCoding.decode(part, kind: .mood, sourceHashes: [source.hash])
                #expect(found.map { Array(samples.prefix($0.count)) == $0 } ?? true)
            }
        }
    }
}
