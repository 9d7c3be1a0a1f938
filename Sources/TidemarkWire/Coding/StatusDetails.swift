import Foundation
import SwiftProtobuf
import TidemarkModel

extension PBStatus {
    init(_ status: RPCStatus) {
        self.init()
        code = status.code.rawValue
        message = status.message
        details = status.details.packed
    }

    /// The decoded status. A code that gRPC does not define becomes `UNKNOWN`.
    var decoded: RPCStatus {
        RPCStatus(
            RPCStatus.Code(rawValue: code) ?? .unknown, message,
            details: details.flatMap(\.details))
    }
}

extension [RPCStatus.Detail] {
    /// The details as `google.rpc` messages. Consecutive links share a `Help`, and consecutive
    /// violations share a `BadRequest`.
    fileprivate var packed: [Google_Protobuf_Any] {
        var result: [Google_Protobuf_Any] = []
        var help = PBHelp()
        var badRequest = PBBadRequest()
        func flush() {
            if !help.links.isEmpty { result.append(Google_Protobuf_Any(packing: help)) }
            if !badRequest.fieldViolations.isEmpty {
                result.append(Google_Protobuf_Any(packing: badRequest))
            }
            (help, badRequest) = (PBHelp(), PBBadRequest())
        }
        for detail in self {
            switch detail {
            case .errorInfo(let reason, let domain, let metadata):
                flush()
                let info = PBErrorInfo.with {
                    $0.reason = reason
                    $0.domain = domain
                    $0.metadata = metadata
                }
                result.append(Google_Protobuf_Any(packing: info))
            case .help(let description, let url):
                if !badRequest.fieldViolations.isEmpty { flush() }
                help.links.append(
                    .with {
                        $0.description_p = description
                        $0.url = url
                    })
            case .badRequest(let field, let description):
                if !help.links.isEmpty { flush() }
                badRequest.fieldViolations.append(
                    .with {
                        $0.field = field
                        $0.description_p = description
                    })
            case .retryAfter(let delay):
                flush()
                result.append(Google_Protobuf_Any(retryAfter: delay))
            }
        }
        flush()
        return result
    }
}

extension Google_Protobuf_Any {
    private static let prefix = "type.googleapis.com/"

    /// Packs a message. Cannot fail, because the messages have no required fields.
    fileprivate init(packing message: some Message) {
        self.init()
        typeURL = Self.prefix + type(of: message).protoMessageName
        value = Data(message.wireBytes)
    }

    /// The decoded details; empty for unknown kinds and for invalid bytes.
    fileprivate var details: [RPCStatus.Detail] {
        if isA(PBErrorInfo.self), let info = try? PBErrorInfo(serializedBytes: value) {
            return [
                .errorInfo(reason: info.reason, domain: info.domain, metadata: info.metadata)
            ]
        }
        if isA(PBHelp.self), let help = try? PBHelp(serializedBytes: value) {
            return help.links.map { .help(description: $0.description_p, url: $0.url) }
        }
        if isA(PBBadRequest.self), let request = try? PBBadRequest(serializedBytes: value) {
            return request.fieldViolations.map {
                .badRequest(field: $0.field, description: $0.description_p)
            }
        }
        return retryDelay.map { [.retryAfter($0)] } ?? []
    }

    private static let retryInfo = prefix + "google.rpc.RetryInfo"
    /// The tag of the only field of a `RetryInfo`: field 1, a message.
    private static let delayTag: UInt8 = 1 << 3 | 2

    fileprivate init(retryAfter delay: Duration) {
        self.init()
        let (seconds, attoseconds) = delay.components
        let proto = Google_Protobuf_Duration(
            seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
        // The message has at most 16 bytes, so its length takes one byte.
        let bytes = proto.wireBytes
        typeURL = Self.retryInfo
        value = Data([Self.delayTag, UInt8(bytes.count)] + bytes)
    }

    private var retryDelay: Duration? {
        guard typeURL.utf8.elementsEqual(Self.retryInfo.utf8), value.count >= 2,
            value.first == Self.delayTag,
            Int(value[value.startIndex + 1]) == value.count - 2,
            let proto = try? Google_Protobuf_Duration(serializedBytes: value.dropFirst(2))
        else { return nil }
        return .seconds(proto.seconds) + .nanoseconds(Int64(proto.nanos))
    }
}
