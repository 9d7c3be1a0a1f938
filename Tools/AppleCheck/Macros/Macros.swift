/// Expands the macros.
enum Macros {
    static func answer(_ request: Request) -> Answer {
        if let preview = request.expandFreestandingMacro {
            // The compiler has checked the arguments. No canvas shows the preview.
            return preview.macro.name == "Preview" ? .source("") : .unknown(preview.macro)
        }
        if let attached = request.expandAttachedMacro {
            guard attached.macro.name.hasPrefix("Entry") else { return .unknown(attached.macro) }
            guard let entry = Entry(attached.declSyntax.source) else {
                return .error("This stub of @Entry needs a property with its type.")
            }
            return .source(attached.macroRole == "peer" ? entry.key : entry.accessors)
        }
        return .capability
    }
}

/// A property with `@Entry`.
///
/// https://developer.apple.com/documentation/swiftui/entry()
struct Entry {
    private let name: String
    private let type: String
    private let value: String

    /// - Parameter source: Text such as `@Entry var name: Type = value`; without a type, the result
    ///   is nil.
    init?(_ source: String) {
        let found = /\bvar\s+(?<name>\w+)\s*:\s*(?<type>[^=]+?)\s*(?:=\s*(?<value>.+?)\s*)?$/
        guard let parts = try? found.dotMatchesNewlines().firstMatch(in: source) else { return nil }
        name = String(parts.name)
        type = String(parts.type)
        value = parts.value.map(String.init) ?? "nil"
    }

    var accessors: String {
        "{ get { self[__Key_\(name).self] } set { self[__Key_\(name).self] = newValue } }"
    }

    var key: String {
        """
        private struct __Key_\(name): SwiftUI.EnvironmentKey {
            typealias Value = \(type)
            static var defaultValue: Value { \(value) }
        }
        """
    }
}
