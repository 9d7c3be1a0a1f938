import ArgumentParser
import TidemarkModel

/// The options of a demo whose bills are predicted.
struct BillOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The edition of the server's database: standard or enterprise.",
            discussion: """
                The predicted bill of a row is in reads, or in units of the Enterprise edition.
                """), transform: Self.edition)
    var edition = DatabaseEdition.standard

    @Flag(help: ArgumentHelp("Plant a wrong prediction in each row.", visibility: .hidden))
    var plantsRead = false

    private static func edition(_ text: String) throws -> DatabaseEdition {
        guard let edition = DatabaseEdition(rawValue: text) else {
            throw ValidationError("The edition must be standard or enterprise.")
        }
        return edition
    }
}
