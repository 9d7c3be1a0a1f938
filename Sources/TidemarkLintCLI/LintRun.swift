import Foundation
import TidemarkLint
import TidemarkRules
import TidemarkServer

/// The reason why the linter cannot work, as a sentence.
struct LintFailure: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// A run of the linter: the files that it reads, and its findings.
struct LintRun {
    let report: Report
    let texts: [String: String]
    let baseline: Baseline?
    /// The folder of relative paths.
    let root: String

    init(paths: [String], size: SizeOptions, inputs: InputOptions) throws(LintFailure) {
        if let folder = inputs.root, !FileManager.default.changeCurrentDirectoryPath(folder) {
            throw LintFailure("there is no folder \(folder)")
        }
        root = FileManager.default.currentDirectoryPath
        var configuration = try Self.configuration(inputs.config)
        if let documents = size.documents { configuration.documents = documents }
        if let opens = size.opens { configuration.opens = opens }
        if let users = size.users { configuration.users = users }
        if let location = size.location { configuration.location = location }
        if let edition = size.edition { configuration.edition = edition }
        if let bytes = size.documentBytes { configuration.documentBytes = bytes }
        var linter: Linter
        do throws(LintConfigurationError) { linter = try configuration.linter() } catch {
            throw LintFailure(error.message)
        }
        if let file = Self.existing(inputs.rules ?? configuration.rules, or: "firestore.rules") {
            linter.rules = try Self.rules(file)
        }
        if let file = Self.existing(
            inputs.indexes ?? configuration.indexes, or: "firestore.indexes.json")
        {
            linter.indexes = try Self.indexes(file).catalog
        }
        let usual = inputs.defaultPath.isEmpty ? ["."] : inputs.defaultPath
        let sources = try Files.sources(
            in: paths.isEmpty ? usual : paths, excluding: configuration.exclude ?? [])
        report = linter.report(on: sources)
        texts = Dictionary(sources.map { ($0.path, $0.text) }, uniquingKeysWith: { a, _ in a })
        baseline = try (inputs.baseline ?? configuration.baseline).map(Self.baseline)
    }

    private static func existing(_ named: String?, or usual: String) -> String? {
        if let named { return named }
        return FileManager.default.fileExists(atPath: usual) ? usual : nil
    }

    private static func configuration(_ named: String?) throws(LintFailure) -> LintConfiguration {
        guard let file = existing(named, or: ".tidemark-lint.json") else {
            return LintConfiguration()
        }
        let data = try Files.read(file)
        do throws(LintConfigurationError) { return try LintConfiguration(json: data) } catch {
            throw LintFailure("\(file): \(error.message)")
        }
    }

    private static func rules(_ file: String) throws(LintFailure) -> Ruleset {
        let text = String(decoding: try Files.read(file), as: UTF8.self)
        do throws(InvalidRules) { return try Ruleset(text) } catch {
            throw LintFailure("\(file): \(error)")
        }
    }

    private static func indexes(_ file: String) throws(LintFailure) -> IndexConfiguration {
        let data = try Files.read(file)
        do throws(IndexFileError) { return try IndexConfiguration(json: data) } catch {
            throw LintFailure("\(file): \(error.message)")
        }
    }

    private static func baseline(_ file: String) throws(LintFailure) -> Baseline {
        let data = try Files.read(file)
        do { return try Baseline(json: data) } catch {
            throw LintFailure("\(file) is not a baseline; --write-baseline creates one")
        }
    }
}
