import Foundation

/// The token in the environment: of a server that asks for it, and of its callers.
package enum TokenVariable {
    package static let name = "TIDEMARK_TOKEN"

    /// Nil when it is not set, or empty.
    package static var value: String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
