import Foundation

/// The token in the environment, for a server that requires it, and for its callers.
package enum TokenVariable {
    package static let name = "TIDEMARK_TOKEN"

    /// The value; nil if it is not set, or empty.
    package static var value: String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
