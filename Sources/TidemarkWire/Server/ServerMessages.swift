import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import TidemarkModel

/// The approximate size of a message in bytes, used to bound queues. Messages without documents are
/// small.
extension Reply {
    var wireSize: Int {
        switch self {
        case .document(let document): document.wireSize
        case .runQuery(let reply): 64 + (reply.document?.wireSize ?? 0)
        case .batchGetDocuments(let result):
            if case .found(let document)? = result.row { 64 + document.wireSize } else { 256 }
        case .listDocuments(let rows, _):
            rows.reduce(64) { $0 + ($1.document?.wireSize ?? 256) }
        case .executePipeline(let reply):
            reply.rows.reduce(256 + (reply.explanation?.utf8.count ?? 0)) {
                $0 + 64 + $1.contents.bytes.count
            }
        default: 256
        }
    }
}

extension ListenResponse {
    var wireSize: Int {
        if case .documentChange(let change) = self { 64 + change.document.wireSize } else { 256 }
    }
}

extension WriteResponse {
    var wireSize: Int { 128 + 64 * results.count }
}

extension Document {
    fileprivate var wireSize: Int { contents.bytes.count + 160 }
}

extension ServerRPCStream {
    /// Ends a call that has sent nothing. Sends headers before the status, as production does.
    func end(_ status: RPCStatus) async {
        try? await outbound.write(
            contentsOf: [
                .metadata([:]), .status(Status(status), Metadata(trailersOf: status)),
            ])
        await outbound.finish()
    }
}

/// The metadata of a call.
struct IncomingMetadata: Sendable {
    var label: String?
    var client: String?
    var reportsUsage: Bool
    var token: String?
    var appCheckToken: String?
    var timeout: Duration?
    /// The client library and its version.
    var agent: String?
    /// True if requests can be compressed with gzip.
    var isPacked: Bool

    init(_ metadata: Metadata) {
        label = metadata[stringValues: MetadataKey.label].first { _ in true }
        client = metadata[stringValues: MetadataKey.client].first { _ in true }
        reportsUsage = metadata[stringValues: MetadataKey.usage].contains("1")
        timeout = metadata[stringValues: MetadataKey.timeout].first { _ in true }
            .flatMap(Metadata.duration(timeout:))
        isPacked = metadata[stringValues: MetadataKey.packed].contains { _ in true }
        agent =
            metadata[stringValues: MetadataKey.apiClient].first { _ in true }
            ?? metadata[stringValues: MetadataKey.userAgent].first { _ in true }
        appCheckToken = metadata[stringValues: MetadataKey.appCheck].first { _ in true }
        let bearer = "Bearer "
        token = metadata[stringValues: MetadataKey.authorization].first { _ in true }
            .flatMap { $0.hasPrefix(bearer) ? String($0.dropFirst(bearer.count)) : nil }
    }

    func context(_ database: DatabaseID) -> CallContext {
        var context = CallContext(
            database: database, label: label, timeout: timeout, token: token, client: client,
            reportsUsage: reportsUsage, appCheckToken: appCheckToken)
        context.agent = agent
        return context
    }
}

extension RPCStatus {
    static func requestTooLarge(_ limit: Int) -> RPCStatus {
        .invalidArgument("Request payload size exceeds the limit: \(limit) bytes.")
    }

    static let slowClient = RPCStatus(
        .resourceExhausted, "The client reads its response too slowly.")
    static let stopping = RPCStatus(.unavailable, "The server is shutting down.")
    static let clientGone = RPCStatus(.cancelled, "The client ended the call.")
    /// The server holds as much of requests as it may.
    package static let bodiesHeld = RPCStatus(
        .unavailable, "The server holds too many requests. Try again.")
    static let noRequest = RPCStatus.invalidArgument("The call ended without a request.")

    static let notGzip = RPCStatus.invalidArgument(
        "The request is not valid gzip.")
    static let unpacksTooMuch = RPCStatus(
        .resourceExhausted,
        "The server is unpacking too many gzip requests. Try again, or send requests uncompressed.")

    static func unpacksTooLarge(_ limit: Int) -> RPCStatus {
        RPCStatus(.resourceExhausted, "The request unpacks to more than \(limit) bytes.")
    }
}
