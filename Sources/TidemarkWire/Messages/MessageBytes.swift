/// Bytes in a message: a part of received bytes, which is not copied, or bytes to be sent.
///
/// A part keeps all the received bytes in memory, so the model's values take copies.
struct MessageBytes: Sendable {
    private let whole: [UInt8]
    private let start: UInt32
    private let end: UInt32

    init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

    /// - Precondition: The range lies in the bytes, and in the first 4 GiB. The carriers allow much
    ///   smaller messages.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        precondition(range.upperBound <= bytes.count)
        whole = bytes
        start = UInt32(range.lowerBound)
        end = UInt32(range.upperBound)
    }

    var count: Int { Int(end - start) }
    var isEmpty: Bool { start == end }

    var array: [UInt8] { count == whole.count ? whole : Array(whole[Int(start)..<Int(end)]) }

    /// The bytes; nil if empty, because the wire form of a missing token is empty.
    var nonEmptyArray: [UInt8]? { isEmpty ? nil : array }

    func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        whole.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)]))
        }
    }
}
