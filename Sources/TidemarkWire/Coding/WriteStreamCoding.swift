import Foundation
import SwiftProtobuf
import TidemarkModel

extension WriteCoder {
    func encode(_ request: WriteRequest) -> [UInt8] {
        PBWriteRequest.with {
            $0.database = names.database.name
            $0.streamID = request.streamID
            $0.streamToken = Data(request.streamToken)
            $0.writes = request.mutations.map(encode)
        }.wireBytes
    }

    func request(_ wire: PBWriteRequest) throws(RPCStatus) -> WriteRequest {
        WriteRequest(
            streamID: wire.streamID, streamToken: wire.streamToken.array,
            mutations: try mutations(wire.writes))
    }

    func encode(_ response: WriteResponse) -> [UInt8] {
        PBWriteResponse.with {
            $0.streamID = response.streamID
            $0.streamToken = Data(response.streamToken)
            $0.writeResults = response.results.map(PBWriteResult.init)
            if let time = response.commitTime { $0.commitTime = time.wire }
        }.wireBytes
    }

    func response(_ bytes: [UInt8]) throws(RPCStatus) -> WriteResponse {
        let wire = try PBWriteResponse(wire: bytes)
        return WriteResponse(
            streamID: wire.streamID, streamToken: wire.streamToken.array,
            results: try PBWriteResult.decode(wire.writeResults),
            commitTime: wire.hasCommitTime ? try Timestamp(wire: wire.commitTime) : nil)
    }
}
