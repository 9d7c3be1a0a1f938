package import TidemarkModel

/// The messages of calls with one request, independent of the carrier.
package enum CallCoding {
    /// - Parameters:
    ///   - method: Any method except the two streams.
    ///   - bytes: The encoded request.
    /// - Throws: The status with which a gRPC call would end.
    package static func request(
        _ method: RPCMethod, _ bytes: [UInt8]
    ) throws(RPCStatus) -> (database: DatabaseID, request: Request) {
        let decoded = try DecodedRequest(method, bytes)
        return (decoded.database, decoded.request)
    }

    package static func bytes(of reply: Reply, in database: DatabaseID) -> [UInt8] {
        ReplyCoder(Names(database)).encode(reply)
    }

    /// Encodes the status as a `google.rpc.Status`.
    package static func bytes(of status: RPCStatus) -> [UInt8] { StatusMessage(status).wireBytes }

    /// Returns the approximate size of a reply in bytes.
    package static func size(of reply: Reply) -> Int { reply.wireSize }
}
