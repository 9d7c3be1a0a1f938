import TidemarkModel

extension StatusMessage {
    init(_ status: RPCStatus) {
        self.init(
            code: status.code.rawValue, message: status.message, details: status.details.packed)
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
    fileprivate var packed: [AnyMessage] {
        var result: [AnyMessage] = []
        var help = HelpMessage()
        var badRequest = BadRequestMessage()
        func flush() {
            if !help.links.isEmpty { result.append(AnyMessage(help, .help)) }
            if !badRequest.fieldViolations.isEmpty {
                result.append(AnyMessage(badRequest, .badRequest))
            }
            (help, badRequest) = (HelpMessage(), BadRequestMessage())
        }
        for detail in self {
            switch detail {
            case .errorInfo(let reason, let domain, let metadata):
                flush()
                let info = ErrorInfoMessage(reason: reason, domain: domain, metadata: metadata)
                result.append(AnyMessage(info, .errorInfo))
            case .help(let description, let url):
                if !badRequest.fieldViolations.isEmpty { flush() }
                help.links.append(HelpMessage.Link(description: description, url: url))
            case .badRequest(let field, let description):
                if !help.links.isEmpty { flush() }
                badRequest.fieldViolations.append(
                    BadRequestMessage.FieldViolation(field: field, description: description))
            case .retryAfter(let delay):
                flush()
                result.append(AnyMessage(RetryInfoMessage(retryDelay: delay.wire), .retryInfo))
            }
        }
        flush()
        return result
    }
}

extension AnyMessage {
    /// The types of details, by their names.
    fileprivate enum Kind: String {
        case errorInfo = "google.rpc.ErrorInfo"
        case help = "google.rpc.Help"
        case badRequest = "google.rpc.BadRequest"
        case retryInfo = "google.rpc.RetryInfo"
    }

    fileprivate init(_ message: some WireMessage, _ kind: Kind) {
        self.init(
            typeURL: "type.googleapis.com/" + kind.rawValue,
            value: MessageBytes(message.wireBytes))
    }

    /// The name of the type is the part of its URL after the last slash.
    private var kind: Kind? {
        let parts = typeURL.split(separator: "/", omittingEmptySubsequences: false)
        return Kind(rawValue: parts.last.map(String.init) ?? "")
    }

    /// The decoded details; empty for unknown kinds and for invalid bytes.
    fileprivate var details: [RPCStatus.Detail] { (try? decodedDetails()) ?? [] }

    private func decodedDetails() throws(RPCStatus) -> [RPCStatus.Detail] {
        switch kind {
        case nil: return []
        case .errorInfo:
            let info = try ErrorInfoMessage(wire: value.array)
            return [
                .errorInfo(reason: info.reason, domain: info.domain, metadata: info.metadata)
            ]
        case .help:
            return try HelpMessage(wire: value.array).links.map {
                .help(description: $0.description, url: $0.url)
            }
        case .badRequest:
            return try BadRequestMessage(wire: value.array).fieldViolations.map {
                .badRequest(field: $0.field, description: $0.description)
            }
        case .retryInfo:
            guard let delay = try RetryInfoMessage(wire: value.array).retryDelay else { return [] }
            return [.retryAfter(Duration(wire: delay))]
        }
    }
}
