import Foundation
import Testing

@testable import TidemarkPhones

struct `A phone's lines` {
    @Test func `lines are cut wherever the pipe cuts them`() throws {
        var cutter = LineCutter()
        let line = JSONLine.encode(PhoneOrder.tap(id: "a", text: "ü\n"))
        var found: [PhoneOrder] = []
        for byte in line + line {
            let lines = cutter.add(Data([byte]))
            found += try #require(lines).compactMap { JSONLine.decode(PhoneOrder.self, $0) }
        }
        #expect(found == [.tap(id: "a", text: "ü\n"), .tap(id: "a", text: "ü\n")])
    }

    @Test func `say when their process was asked for, as another process reads it`() throws {
        let asked = ContinuousClock.now
        let line = JSONLine.encode(asked)
        #expect(JSONLine.decode(ContinuousClock.Instant.self, line) == asked)
    }
}
