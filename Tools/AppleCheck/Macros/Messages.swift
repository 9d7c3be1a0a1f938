/// A request of the compiler. Exactly one of the members is present.
struct Request: Decodable {
    struct Macro: Decodable {
        /// The name. The name of an attribute includes the space after it.
        let name: String
    }

    struct Syntax: Decodable { let source: String }

    struct Freestanding: Decodable { let macro: Macro }

    struct Attached: Decodable {
        let macro: Macro
        let macroRole: String
        let declSyntax: Syntax
    }

    let expandFreestandingMacro: Freestanding?
    let expandAttachedMacro: Attached?
}

/// An answer to the compiler. Exactly one of the members is present.
struct Answer: Encodable {
    struct Capability: Encodable {
        struct Version: Encodable { let protocolVersion: Int }
        let capability: Version
    }

    struct Result: Encodable {
        let expandedSource: String?
        let diagnostics: [Diagnostic]
    }

    struct Diagnostic: Encodable {
        struct Position: Encodable {
            let fileName = ""
            let offset = 0
        }
        let message: String
        let severity = "error"
        let position = Position()
        let highlights: [Position] = []
        let notes: [Position] = []
        let fixIts: [Position] = []
    }

    var getCapabilityResult: Capability?
    var expandMacroResult: Result?

    static let capability = Answer(
        getCapabilityResult: Capability(capability: .init(protocolVersion: 7)))

    static func source(_ text: String) -> Answer {
        Answer(expandMacroResult: Result(expandedSource: text, diagnostics: []))
    }

    static func error(_ message: String) -> Answer {
        Answer(
            expandMacroResult: Result(
                expandedSource: nil, diagnostics: [Diagnostic(message: message)]))
    }

    static func unknown(_ macro: Request.Macro) -> Answer {
        error("There is no stub of the macro \(macro.name).")
    }
}
