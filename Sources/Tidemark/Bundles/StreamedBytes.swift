import Dispatch
import Foundation

/// The bytes of an `InputStream`, one chunk at a time. The first call opens the stream.
// @unchecked: the owner hands the stream over, and one call at a time uses it: calls that wait run
// in their order, and the others run on one queue.
final class StreamedBytes: @unchecked Sendable {
    private static let chunk = 64 * 1024

    private let stream: InputStream
    private var isOpen = false
    private let queue = DispatchQueue(label: "tidemark.stream")

    init(_ stream: InputStream) { self.stream = stream }

    deinit { if isOpen { stream.close() } }

    /// Waits for the stream. Returns nil at its end.
    func next() throws(FirestoreError) -> [UInt8]? {
        if !isOpen {
            stream.open()
            isOpen = true
        }
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        let count = bytes.withUnsafeMutableBufferPointer {
            stream.read($0.baseAddress!, maxLength: $0.count)
        }
        if count == 0 { return nil }
        guard count > 0 else {
            let reason = stream.streamError.map { "\($0)" } ?? "no reason given"
            throw FirestoreError(.unavailable, "The stream cannot be read: \(reason)")
        }
        return Array(bytes[..<count])
    }

    /// Waits like ``next()``, but on a thread of the stream's own queue.
    func nextWhenThere() async throws(FirestoreError) -> [UInt8]? {
        let result: Result<[UInt8]?, FirestoreError> = await withCheckedContinuation { waiting in
            queue.async { [self] in
                waiting.resume(
                    returning: Result { () throws(FirestoreError) in try next() })
            }
        }
        return try result.get()
    }
}
