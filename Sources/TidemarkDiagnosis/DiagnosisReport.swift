/// A diagnosis, step by step.
public struct DiagnosisReport: Hashable, Sendable {
    public struct Step: Hashable, Sendable {
        public enum Name: String, Hashable, Sendable, CaseIterable {
            case interface, names, connection, security, protocolSpoken = "protocol", read
        }

        public let name: Name
        public let isOK: Bool
        /// The duration, in milliseconds.
        public let milliseconds: Double
        /// The observations: addresses, dates, a status.
        public let detail: String

        public init(_ name: Name, isOK: Bool, milliseconds: Double, detail: String) {
            self.name = name
            self.isOK = isOK
            self.milliseconds = milliseconds
            self.detail = detail
        }
    }

    public let target: DiagnosisTarget
    public let verdict: Verdict
    public let evidence: Evidence
    /// The completed steps; no steps follow a failed step.
    public let steps: [Step]
}

/// The server that is diagnosed.
public struct DiagnosisTarget: Hashable, Sendable {
    public var host: String
    public var port: Int
    public var usesTLS: Bool
    public var project: String
    public var database: String

    /// - Precondition: `port` is 1 to 65535.
    public init(
        host: String, port: Int, usesTLS: Bool, project: String, database: String = "(default)"
    ) {
        precondition((1...65_535).contains(port))
        self.host = host
        self.port = port
        self.usesTLS = usesTLS
        self.project = project
        self.database = database
    }
}
