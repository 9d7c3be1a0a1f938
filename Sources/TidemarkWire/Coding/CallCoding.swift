package import TidemarkModel

/// The messages of calls with one request, for any carrier of their bytes.
package enum CallCoding {
    /// - Parameters:
    ///   - method: Neither of the streams.
    ///   - bytes: The request's message.
    /// - Throws: As a call over gRPC would end.
    package static func request(
        _ method: RPCMethod, _ bytes: [UInt8]
    ) throws(RPCStatus) -> (database: DatabaseID, request: Request) {
        let decoded = try DecodedRequest(method, bytes)
        return (decoded.database, decoded.request)
    }

    package static func bytes(of reply: Reply, in database: DatabaseID) -> [UInt8] {
        ReplyCoder(Names(database)).encode(reply)
    }

    /// A `google.rpc.Status`.
    package static func bytes(of status: RPCStatus) -> [UInt8] { PBStatus(status).wireBytes }

    /// About how many bytes a reply takes.
    package static func size(of reply: Reply) -> Int { reply.wireSize }
}
