import TidemarkModel

/// One write stream. Its first message opens it; every later one is a commit with one answer.
struct WriteStreamState {
    let context: CallContext
    /// Set by the first message.
    var streamID = ""
    /// How many answers were given: the last token.
    var answers: UInt64 = 0

    var isOpen: Bool { answers > 0 }

    init(context: CallContext) { self.context = context }

    /// The number of the last answer, which a client returns with its next message.
    var token: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: answers >> (56 - 8 * $0)) } }

    /// Whether this stream gave out the token. Clients with several messages under way return older
    /// ones, and some none at all.
    func knows(_ token: [UInt8]) -> Bool {
        if token.isEmpty { return true }
        guard token.count == 8 else { return false }
        let number = token.reduce(0) { $0 << 8 | UInt64($1) }
        return number > 0 && number <= answers
    }
}

extension WriteStage {
    /// Answers one message of a write stream, or ends the stream with the reason why not.
    func perform(_ id: CallID, _ request: WriteRequest) throws {
        // A stream that has ended: its client has been told, or will be.
        guard var stream = writeStreams[id] else { return }
        do {
            var response = WriteResponse(streamToken: [])
            if stream.isOpen {
                guard stream.knows(request.streamToken) else {
                    throw RPCStatus.invalidArgument("The stream token is not one of this stream.")
                }
                let reply = try commit(request.mutations, stream.context)
                response.results = reply.results
                response.commitTime = reply.commitTime
            } else {
                guard request.mutations.isEmpty else {
                    throw RPCStatus.invalidArgument(
                        "The first message of a write stream cannot hold writes.")
                }
                stream.streamID = DocumentNaming.makeID(core.environment.randomBits)
            }
            stream.answers += 1
            response.streamID = stream.streamID
            response.streamToken = stream.token
            writeStreams[id] = stream
            outputs.append(Output(id: id, event: .write(response)))
        } catch let status as RPCStatus {
            endWriteStream(id, status)
        }
    }

    func endWriteStream(_ id: CallID, _ status: RPCStatus) {
        if writeStreams.removeValue(forKey: id) != nil {
            outputs.append(Output(id: id, event: .ended(status)))
        }
    }
}
