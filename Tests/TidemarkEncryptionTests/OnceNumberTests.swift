import Testing

@testable import TidemarkEncryption

struct OnceNumberTests {
    @Test func `no number comes twice, also when the count begins again`() {
        var numbers = OnceNumbers(from: UInt32.max - 500)
        var others = OnceNumbers()
        var seen: Set<[UInt8]> = []
        for _ in 0..<1_000 {
            seen.insert(numbers.withNext(Array.init))
            seen.insert(others.withNext(Array.init))
        }
        #expect(seen.count == 2_000)
    }
}
