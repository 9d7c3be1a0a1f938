import Testing

@testable import TidemarkStore

/// A cipher that leaves pages unchanged.
private final class ClearCipher: PageCipher {
    func seal(
        _ message: UnsafeRawBufferPointer, into box: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool {
        box.copyMemory(from: message)
        return true
    }

    func open(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool { false }

    func decrypt(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer
    ) -> Bool { false }
}

/// The pages that are written together, and the time of the write. The contents of the pages do not
/// matter here.
struct WriteBehindTests {
    private struct Written: Equatable {
        var offset: Int64
        var pages: [UInt8]
    }

    /// The first byte of each page is its number.
    private func written(_ numbers: [Int64], failing: Int = .max) -> ([Written], [Int32]) {
        let header = SealedHeader(salt: [UInt8](repeating: 0, count: 12), check: 0)
        var behind = WriteBehind(header, ClearCipher())
        var written: [Written] = []
        func write(_ pages: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
            let firsts = stride(from: 0, to: pages.count, by: SealedPage.size).map { pages[$0] }
            written.append(Written(offset: offset / Int64(SealedPage.size), pages: firsts))
            return written.count == failing ? 10 : 0
        }
        var codes = numbers.map { number in
            let page = [UInt8](repeating: UInt8(number), count: SealedPage.size)
            return page.withUnsafeBytes { behind.add($0, number: number, write: write) }
        }
        codes.append(behind.finish(write))
        return (written, codes)
    }

    @Test func `pages that are side by side are written together, in order`() {
        let (found, codes) = written([1, 2, 3, 7, 9, 10])
        #expect(
            found == [
                Written(offset: 1, pages: [1, 2, 3]), Written(offset: 7, pages: [7]),
                Written(offset: 9, pages: [9, 10]),
            ])
        #expect(codes.allSatisfy { $0 == 0 })
    }

    @Test func `of a long move no page is missing and none is written twice`() {
        let numbers = (Int64(1)...250).filter { $0 % 5 != 0 }
        let (found, _) = written(numbers)
        #expect(found.flatMap(\.pages) == numbers.map { UInt8($0) })
        #expect(found.allSatisfy { $0.offset == Int64($0.pages[0]) })
        #expect(found.allSatisfy { $0.pages.count < 32 })
    }

    @Test(arguments: 1...12)
    func `a write that fails is told`(number: Int) {
        let (_, codes) = written((Int64(1)...250).filter { $0 % 20 != 0 }, failing: number)
        #expect(codes.count { $0 != 0 } == 1)
    }
}
