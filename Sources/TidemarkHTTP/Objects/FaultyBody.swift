import HummingbirdCore
import NIOCore

/// The body of a request, with a fault after a number of bytes.
struct FaultyBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// The end of a body whose fault is an error.
    struct Cut: Error {}

    let body: RequestBody
    /// The number of bytes before the fault. With 0 or less, the fault comes before the first byte.
    let limit: Int64
    /// Called once, if the body has as many bytes. An error ends the body.
    let onLimit: @Sendable () async throws -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(inner: body.makeAsyncIterator(), left: limit, onLimit: onLimit)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var inner: RequestBody.AsyncIterator
        /// The number of bytes before the fault; nil after it.
        var left: Int64?
        var rest: ByteBuffer?
        let onLimit: @Sendable () async throws -> Void

        mutating func next() async throws -> ByteBuffer? {
            if let left, left <= 0 {
                self.left = nil
                try await onLimit()
            }
            guard var part = try await takeRest() else { return nil }
            guard let left else { return part }
            guard Int64(part.readableBytes) > left else {
                self.left = left - Int64(part.readableBytes)
                return part
            }
            let before = part.readSlice(length: Int(left))
            rest = part
            self.left = 0
            return before
        }

        private mutating func takeRest() async throws -> ByteBuffer? {
            if let rest = rest.take() { return rest }
            return try await inner.next()
        }
    }
}
