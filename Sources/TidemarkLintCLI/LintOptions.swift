import ArgumentParser

struct SizeOptions: ParsableArguments {
    @Option(help: "Documents of a collection; 1,000 unless told.")
    var documents: Int?

    @Option(help: "Opens of the app, of one user and day; 50 unless told.")
    var opens: Int?

    @Option(help: "Users; 1,000 unless told.")
    var users: Int?

    @Option(help: "The database's location, for its prices: nam5 unless told.")
    var location: String?
}

struct InputOptions: ParsableArguments {
    @Option(help: "The folder to run in: paths are from there, and its configuration is read.")
    var root: String?

    @Option(help: "The configuration; .tidemark-lint.json where there is one.")
    var config: String?

    @Option(help: "Security rules to hold queries against; firestore.rules where there is one.")
    var rules: String?

    @Option(help: "Indexes to hold queries against; firestore.indexes.json where there is one.")
    var indexes: String?

    @Option(help: "Findings that are known, and not told again.")
    var baseline: String?

    /// The paths that the plugin passes, used if the user names no paths.
    @Option(help: .hidden)
    var defaultPath: [String] = []
}

struct OutputOptions: ParsableArguments {
    @Option(help: "text, json, sarif, github or xcode.")
    var format: LintCommand.Format = .text

    @Option(help: "A page to write, with the costliest ten.")
    var html: String?

    @Option(help: "A file to write what is found now to, as a baseline.")
    var writeBaseline: String?

    @Option(help: .hidden)
    var stamp: String?

    @Flag(help: "List the calls that it cannot tell about.")
    var showUntold = false
}
