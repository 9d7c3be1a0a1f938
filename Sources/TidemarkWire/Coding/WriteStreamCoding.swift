import TidemarkModel

extension WriteCoder {
    func encode(_ request: WriteRequest) -> [UInt8] {
        WriteRequestMessage(
            database: names.database.name, streamID: request.streamID,
            writes: request.mutations.map(encode), streamToken: MessageBytes(request.streamToken)
        ).wireBytes
    }

    func request(_ wire: WriteRequestMessage) throws(RPCStatus) -> WriteRequest {
        WriteRequest(
            streamID: wire.streamID, streamToken: wire.streamToken.array,
            mutations: try mutations(wire.writes))
    }

    func encode(_ response: WriteResponse) -> [UInt8] {
        WriteResponseMessage(
            streamID: response.streamID, streamToken: MessageBytes(response.streamToken),
            writeResults: response.results.map(WriteResultMessage.init),
            commitTime: response.commitTime?.wire
        ).wireBytes
    }

    func response(_ bytes: [UInt8]) throws(RPCStatus) -> WriteResponse {
        let wire = try WriteResponseMessage(wire: bytes)
        return WriteResponse(
            streamID: wire.streamID, streamToken: wire.streamToken.array,
            results: try WriteResultMessage.decode(wire.writeResults),
            commitTime: try wire.commitTime.decoded())
    }
}
