import ArgumentParser

struct SizeOptions: ParsableArguments {
    @Option(help: "Number of documents in a collection. (default: 1,000)")
    var documents: Int?

    @Option(help: "Number of times a user opens the app each day. (default: 50)")
    var opens: Int?

    @Option(help: "Number of users. (default: 1,000)")
    var users: Int?

    @Option(help: "Location of the database, which sets its prices. (default: nam5)")
    var location: String?

    @Option(help: "Edition of the database: standard or enterprise. (default: standard)")
    var edition: String?

    @Option(help: "Bytes of a document, which the Enterprise edition bills. (default: 1,024)")
    var documentBytes: Int?
}

struct InputOptions: ParsableArguments {
    @Option(help: "The folder to run in. Paths are relative to it, and its configuration is used.")
    var root: String?

    @Option(help: "The configuration file. (default: .tidemark-lint.json, if it exists)")
    var config: String?

    @Option(
        help: """
            Security rules that queries must satisfy. (default: firestore.rules, if it exists)
            """)
    var rules: String?

    @Option(help: "Indexes that queries may use. (default: firestore.indexes.json, if it exists)")
    var indexes: String?

    @Option(help: "Baseline file: findings to ignore.")
    var baseline: String?

    /// The paths that the plugin passes, used if the user names no paths.
    @Option(help: .hidden)
    var defaultPath: [String] = []
}

struct OutputOptions: ParsableArguments {
    @Option(help: "Output format: text, json, sarif, github or xcode.")
    var format: LintCommand.Format = .text

    @Option(help: "Write an HTML page with the ten most expensive findings to this file.")
    var html: String?

    @Option(help: "Write the current findings to this file, as a baseline.")
    var writeBaseline: String?

    @Option(help: .hidden)
    var stamp: String?

    @Flag(help: "List the calls that could not be checked.")
    var showUntold = false
}
