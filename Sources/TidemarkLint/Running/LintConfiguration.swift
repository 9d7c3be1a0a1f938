package import Foundation
import TidemarkModel

/// The contents of `.tidemark-lint.json`: the size of the app, and the enabled checks.
package struct LintConfiguration: Codable, Sendable, Equatable {
    package var documents: Int?
    package var opens: Int?
    package var users: Int?
    /// The location of the database, as in `nam5`, for its prices.
    package var location: String?
    /// The edition of the database: `standard` or `enterprise`.
    package var edition: String?
    /// The size of a document in bytes, which the Enterprise edition bills.
    package var documentBytes: Int?
    /// The number of documents in collections, by the last part of their path.
    package var collections: [String: Int]?
    package var disabled: [String]?
    package var severity: [String: Severity]?
    /// Parts of the paths of files that are not read.
    package var exclude: [String]?
    package var rules: String?
    package var indexes: String?
    package var baseline: String?

    package init() {}

    /// - Throws: ``LintConfigurationError`` with the problem.
    package init(json: Data) throws(LintConfigurationError) {
        do {
            self = try JSONDecoder().decode(LintConfiguration.self, from: json)
            let keys = try JSONSerialization.jsonObject(with: json) as? [String: Any]
            let known = Set(CodingKeys.allCases.map(\.stringValue))
            if let unknown = keys?.keys.filter({ !known.contains($0) }).min() {
                throw LintConfigurationError("there is no setting `\(unknown)`")
            }
        } catch let error as LintConfigurationError {
            throw error
        } catch let error as DecodingError {
            throw LintConfigurationError(Self.sentence(error))
        } catch {
            throw LintConfigurationError("it is not JSON")
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case documents, opens, users, location, collections, disabled, severity, exclude, rules
        case indexes, baseline, edition, documentBytes
    }

    private static func sentence(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return "`\(path)`: \(context.debugDescription)"
        case .dataCorrupted(let context): return context.debugDescription
        @unknown default: return "it is not a configuration"
        }
    }

    /// Returns the linter for the configuration.
    package func linter() throws(LintConfigurationError) -> Linter {
        var linter = Linter()
        let scale = linter.scale
        var prices = scale.prices
        let unitPrices = try unitPrices()
        if let location, unitPrices == nil {
            guard let known = ReadPrices.table[location] else {
                let all = ReadPrices.table.keys.sorted().joined(separator: ", ")
                throw LintConfigurationError("no prices are known for `\(location)`: \(all)")
            }
            prices = known
        }
        let figures =
            [documents, opens, users].compactMap { $0 } + (collections?.values.map { $0 } ?? [])
        guard figures.allSatisfy({ (0...1_000_000_000).contains($0) }) else {
            throw LintConfigurationError("figures must be 0 to 1,000,000,000")
        }
        linter.scale = Scale(
            documents: documents ?? scale.documents, opens: opens ?? scale.opens,
            users: users ?? scale.users, prices: prices, sizes: collections ?? [:])
        linter.scale.unitPrices = unitPrices
        if let documentBytes {
            guard (1...DocumentLimits.enterpriseDocumentBytes).contains(documentBytes) else {
                throw LintConfigurationError("`documentBytes` must be 1 to 16,777,216")
            }
            linter.scale.documentBytes = documentBytes
        }
        linter.disabled = Set(try (disabled ?? []).map(Self.id))
        for (name, severity) in severity ?? [:] { linter.severities[try Self.id(name)] = severity }
        return linter
    }

    /// Returns the prices of the Enterprise edition; nil for the Standard edition.
    private func unitPrices() throws(LintConfigurationError) -> UnitPrices? {
        guard let edition else { return nil }
        guard let known = DatabaseEdition(rawValue: edition) else {
            throw LintConfigurationError(
                "`edition` must be standard or enterprise, and is `\(edition)`")
        }
        guard known == .enterprise else { return nil }
        let place = location ?? "nam5"
        guard let prices = UnitPrices.table[place] else {
            let all = UnitPrices.table.keys.sorted().joined(separator: ", ")
            throw LintConfigurationError(
                "no prices of the Enterprise edition are known for `\(place)`: \(all)")
        }
        return prices
    }

    private static func id(_ name: String) throws(LintConfigurationError) -> FindingID {
        guard let id = FindingID(rawValue: name) else {
            throw LintConfigurationError("there is no finding `\(name)`")
        }
        return id
    }
}

/// The reason why a configuration cannot be used: a sentence without the file's name.
package struct LintConfigurationError: Error, Hashable, Sendable {
    package let message: String

    init(_ message: String) { self.message = message }
}
