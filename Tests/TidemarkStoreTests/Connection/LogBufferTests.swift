import Testing

@testable import TidemarkStore

/// The calls with which SQLite writes to a log.
struct LogBufferTests {
    private var buffer = LogBuffer()
    private static let page = 4_096

    private mutating func add(_ bytes: [UInt8], at offset: Int) -> LogBuffer.Step {
        bytes.withUnsafeBytes { buffer.add($0, at: Int64(offset)) }
    }

    /// - Parameter size: The size of the file after the transaction. Only the header of the last
    ///   page contains it.
    private mutating func addHeader(_ number: Int, size: UInt8 = 0) -> LogBuffer.Step {
        var header = [UInt8](repeating: 9, count: 24)
        header.replaceSubrange(4..<8, with: [0, 0, 0, size])
        return add(header, at: 32 + number * (24 + Self.page))
    }

    private mutating func addPage(_ number: Int) -> LogBuffer.Step {
        add(
            [UInt8](repeating: UInt8(number), count: Self.page),
            at: 32 + number * (24 + Self.page) + 24)
    }

    @Test mutating func `a transaction is kept until its last page`() {
        #expect(add([UInt8](repeating: 1, count: 32), at: 0) == .kept)
        for number in 0..<3 {
            #expect(addHeader(number) == .kept)
            #expect(addPage(number) == .kept)
        }
        #expect(addHeader(3, size: 40) == .kept)
        #expect(addPage(3) == .complete)
        #expect(buffer.offset == 0)
        #expect(buffer.bytes.count == 32 + 4 * (24 + Self.page))
        #expect(buffer.bytes.last == 3)
        buffer.forget()
        #expect(addHeader(4) == .kept)
        #expect(buffer.offset == Int64(32 + 4 * (24 + Self.page)))
        #expect(addPage(4) == .kept)
    }

    @Test mutating func `what is not the next of a log is not kept`() {
        #expect(addPage(5) == .refused)
        // This header corrects an earlier one, whose page is already in the log.
        #expect(addHeader(5, size: 7) == .refused)
        #expect(buffer.isEmpty)
        #expect(addHeader(5) == .kept)
        #expect(addPage(6) == .refused)
        #expect(buffer.bytes.count == 24)
        buffer.forget()
        #expect(addPage(6) == .refused)
    }

    @Test mutating func `more than there is room for is not kept`() {
        var number = 0
        while addHeader(number) == .kept, addPage(number) == .kept { number += 1 }
        #expect(number == 31)
        #expect(buffer.bytes.count <= LogBuffer.capacity)
        buffer.forget()
        #expect(addPage(number) == .refused)
        #expect(addHeader(number + 1) == .kept)
    }
}
