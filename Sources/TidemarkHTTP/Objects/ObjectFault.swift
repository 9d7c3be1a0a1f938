import NIOCore
import NIOPosix
import Synchronization
import TidemarkObjects

/// The fault of one request, which ``RetryTests`` has ordered.
struct ObjectFault: Sendable {
    let request: ObjectsRequest
    let fault: RetryTests.Fault
    /// Takes the fault. Returns false if another request took it: then it does not happen.
    let take: @Sendable () -> Bool

    /// Answers the request, with the fault.
    ///
    /// - Parameter answer: Answers the request as if there were no fault.
    func play(
        _ answer: @Sendable (ObjectsRequest) async -> ObjectsAnswer
    ) async -> ObjectsAnswer {
        let isUpload = fault.method == .insert
        switch fault.instruction {
        case .status(let status): return take() ? Self.failure(status) : await answer(request)
        case .reset:
            guard take() else { return await answer(request) }
            return await request.reset()
        case .statusAfter(let status, let bytes):
            // A download has no bytes that stay.
            guard isUpload else { return await answer(request) }
            return await upload(answer, upTo: bytes) { Self.failure(status) }
        case .brokenAfter(let bytes) where isUpload:
            return await upload(answer, upTo: bytes) { await request.reset() }
        case .brokenAfter(let bytes): return breaking(await answer(request), after: bytes)
        case .brokenAnswer:
            return breaking(await answer(request), after: RetryInstruction.fewBytes)
        case .brokenFinal(let bytes): return await breakFinal(await answer(request), after: bytes)
        case .stall(let seconds, let bytes):
            return isUpload
                ? await answer(stalling(seconds, after: bytes))
                : stalling(await answer(request), seconds, after: bytes)
        }
    }

    private static func failure(_ status: Int) -> ObjectsAnswer {
        .cloud(
            ObjectRefusal(
                status, reason: "retryTest", message: "Retry test: this request fails."))
    }

    // MARK: Requests

    /// Lets a number of bytes of an upload arrive.
    private func upload(
        _ answer: @Sendable (ObjectsRequest) async -> ObjectsAnswer, upTo bytes: Int64,
        failure: () async -> ObjectsAnswer
    ) async -> ObjectsAnswer {
        let flag = SharedFlag()
        let answered = await answer(
            request.with(limit: bytes - request.uploadOffset) { [take] in
                guard take() else { return }
                flag.set()
                throw FaultyBody.Cut()
            })
        return flag.isSet ? await failure() : answered
    }

    private func stalling(_ seconds: Int64, after bytes: Int64) -> ObjectsRequest {
        request.with(limit: bytes - request.uploadOffset) {
            if take() { try await request.pause(.seconds(seconds)) }
        }
    }

    // MARK: Answers

    /// Breaks the connection in an answer that has more bytes.
    private func breaking(_ answer: ObjectsAnswer, after bytes: Int64) -> ObjectsAnswer {
        guard answer.count > bytes, take() else { return answer }
        var answer = answer
        // The error ends the connection.
        answer.fault = ObjectsAnswer.Fault(after: bytes) { throw FaultyBody.Cut() }
        return answer
    }

    private func stalling(
        _ answer: ObjectsAnswer, _ seconds: Int64, after bytes: Int64
    ) -> ObjectsAnswer {
        guard answer.count > bytes, take() else { return answer }
        var answer = answer
        answer.fault = ObjectsAnswer.Fault(after: bytes) { [request] in
            try await request.pause(.seconds(seconds))
        }
        return answer
    }

    /// Breaks the connection in the answer to a last chunk.
    private func breakFinal(_ answer: ObjectsAnswer, after bytes: Int64) async -> ObjectsAnswer {
        guard isFinal(answer) else { return answer }
        if bytes > 0 { return breaking(answer, after: bytes) }
        return take() ? await request.reset() : answer
    }

    private func isFinal(_ answer: ObjectsAnswer) -> Bool {
        guard answer.status == 200, request.query["upload_id"] != nil else { return false }
        // An upload in progress has another state, or an override of the status.
        let state = answer.header("X-Goog-Upload-Status")
        return state.map { $0 == UploadState.final.rawValue }
            ?? (answer.header("X-HTTP-Status-Code-Override") == nil)
    }

    private final class SharedFlag: Sendable {
        private let state = Atomic(false)

        var isSet: Bool { state.load(ordering: .sequentiallyConsistent) }
        func set() { state.store(true, ordering: .sequentiallyConsistent) }
    }
}

extension ObjectsRequest {
    /// Waits for a time. The pause ends with the connection, for example because a later request
    /// of the upload takes the place of this one.
    func pause(_ time: TimeAmount) async throws {
        let over = channel.eventLoop.makePromise(of: Void.self)
        let timer = channel.eventLoop.scheduleTask(in: time) { over.succeed() }
        defer { timer.cancel() }
        channel.closeFuture.whenComplete { _ in over.fail(FaultyBody.Cut()) }
        try await over.futureResult.get()
    }

    /// Resets the connection, so that the answer reaches nobody.
    func reset() async -> ObjectsAnswer {
        if let provider = channel as? any SocketOptionProvider {
            try? await provider.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.close()
        return ObjectsAnswer(status: 500)
    }

    /// The position of the first byte of an upload's request.
    fileprivate var uploadOffset: Int64 {
        if let text = header("x-goog-upload-offset") { return ByteNumber.parse(text) ?? 0 }
        guard case .bytes(let first, _, _)? = header("content-range").flatMap(ContentRange.init)
        else { return 0 }
        return first
    }
}
