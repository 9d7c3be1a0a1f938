/// The number of a request in this process.
package typealias CallID = Int

/// The two protocols of resumable uploads.
package enum UploadDialect: Int64, Hashable, Sendable {
    /// The protocol of Firebase's clients: `X-Goog-Upload-Command` and `X-Goog-Upload-Offset`.
    case firebase = 0
    /// The protocol of Cloud Storage's clients: `Content-Range`.
    case cloud = 1
}

/// A request with bytes for an upload, or with the command to finish it.
package struct UploadChunk: Hashable, Sendable {
    /// The position of the first byte; nil if the request states none.
    package var offset: Int64?
    /// The number of bytes; nil if the request does not state it.
    package var length: Int64?
    /// True if Firebase's client finishes the upload with this request.
    package var isLast: Bool
    /// The size of the whole object, if Cloud Storage's client states it.
    package var total: Int64?

    package init(
        offset: Int64?, length: Int64?, isLast: Bool = false, total: Int64? = nil
    ) {
        self.offset = offset
        self.length = length
        self.isLast = isLast
        self.total = total
    }
}

/// The bytes that a request may store.
package struct UploadSpan: Hashable, Sendable {
    /// The number of stored bytes, after which the request continues.
    package var at: Int64
    /// The number of bytes at the start of the body that are stored already.
    package var skip: Int64
    /// The maximum number of bytes to store; nil for no limit.
    package var most: Int64?
}

package enum UploadEvent: Hashable, Sendable {
    case chunk(UploadChunk, CallID)
    case query(CallID)
    case cancel(CallID)
    /// A part of the bytes is synced to disk, up to a position. The request goes on.
    case stored(upTo: Int64, CallID)
    /// The body has ended, and its bytes are synced up to a position.
    case ended(upTo: Int64, isComplete: Bool, CallID)
    /// The body cannot be stored. The bytes of the last `stored` remain.
    case failed(ObjectRefusal, CallID)
    case committed(generation: Int64, CallID)
    case refused(ObjectRefusal, isForGood: Bool, CallID)

    package var call: CallID {
        switch self {
        case .chunk(_, let call), .query(let call), .cancel(let call), .stored(_, let call),
            .ended(_, _, let call), .failed(_, let call), .committed(_, let call),
            .refused(_, _, let call):
            call
        }
    }
}

package enum UploadEffect: Hashable, Sendable {
    /// Reads the request's body and stores the bytes of the span.
    case receive(CallID, UploadSpan)
    /// Makes a request stop, whose place another request takes.
    case stop(CallID)
    /// Stores the position and the phase.
    case save
    /// Makes the object, and then sends `committed` or `refused`.
    case commit(CallID)
    /// Removes the stored bytes.
    case discard
    /// Answers the request, which has no further effects.
    case answer(CallID, UploadAnswer)
}

/// The state of an upload as the protocol names it.
package enum UploadState: String, Hashable, Sendable {
    case active, final, cancelled
}

package enum UploadAnswer: Hashable, Sendable {
    case active(received: Int64)
    /// The object was made.
    case final(generation: Int64)
    case cancelled
    case refusal(ObjectRefusal, state: UploadState, received: Int64)
}
