// Messages of `google/rpc`, and `google.protobuf.Any`.

struct StatusMessage: WireMessage {
    var code: Int32 = 0
    var message = ""
    var details: [AnyMessage] = []

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &code)
        coder.field(2, &message)
        coder.field(3, &details)
    }
}

/// An encoded message with its type.
struct AnyMessage: WireMessage {
    var typeURL = ""
    var value = MessageBytes()

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &typeURL)
        coder.field(2, &value)
    }
}

struct ErrorInfoMessage: WireMessage {
    var reason = ""
    var domain = ""
    var metadata: [String: String] = [:]

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &reason)
        coder.field(2, &domain)
        coder.field(3, &metadata)
    }
}

struct HelpMessage: WireMessage {
    var links: [Link] = []

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &links) }

    struct Link: WireMessage {
        var description = ""
        var url = ""

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &description)
            coder.field(2, &url)
        }
    }
}

struct BadRequestMessage: WireMessage {
    var fieldViolations: [FieldViolation] = []

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &fieldViolations) }

    struct FieldViolation: WireMessage {
        var field = ""
        var description = ""
        var reason = ""
        var localizedMessage: LocalizedMessage?

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &field)
            coder.field(2, &description)
            coder.field(3, &reason)
            coder.field(4, &localizedMessage)
        }
    }

    struct LocalizedMessage: WireMessage {
        var locale = ""
        var message = ""

        mutating func listFields(_ coder: inout some FieldCoder) {
            coder.field(1, &locale)
            coder.field(2, &message)
        }
    }
}

struct RetryInfoMessage: WireMessage {
    var retryDelay: DurationMessage?

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &retryDelay) }
}
