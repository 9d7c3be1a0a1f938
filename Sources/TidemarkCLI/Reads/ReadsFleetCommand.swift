import ArgumentParser
import Foundation
import TidemarkModel
import TidemarkReads

struct ReadsFleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Sum up the days that devices have shared: which screen costs most.",
        discussion: """
            Reads the documents that an app stores with readMeter.shareDays, and prints the \
            screens by cost: for which group of users each costs most, and since which version it \
            costs more. Each document is one read; --most bounds them.

            """ + "\n" + PlaceOptions.rights)

    @Argument(help: "The collection of the documents.")
    var collection = FleetDay.collection

    @Option(help: "The number of days before today, from 1 to 366.")
    var days = 28

    @Option(help: "The maximum number of documents to read, the newest days first.")
    var most = 20_000

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var place: PlaceOptions

    func validate() throws {
        if !(1...366).contains(days) { throw ValidationError("--days must be 1 to 366.") }
        if !(1...1_000_000).contains(most) {
            throw ValidationError("--most must be 1 to 1000000.")
        }
        _ = try collectionPath()
    }

    private func collectionPath() throws -> CollectionPath {
        do throws(InvalidPath) { return try CollectionPath(collection) } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970), nanoseconds: 0)
        let first = BillingDay(now).advanced(by: -days)
        let day = FieldPath(name: "day")
        var query = Query(collection: try collectionPath())
        query.filter = .field(day, .greaterThanOrEqual, .string(first.description))
        query.orders = [Order(day, .descending)]
        query.limit = .first(most)
        let documents = try await place.call(label: "reads fleet", within: .seconds(300)) {
            [query] in try await $0.documents(of: query, $1).documents
        }
        let read = documents.compactMap { FleetDay($0.fields) }
        let unread = documents.count - read.count
        if unread > 0 {
            SuiteOptions.say(
                "\(unread) documents of \(collection) are no days, or are of a newer form.")
        }
        if documents.count == most {
            SuiteOptions.say("--most \(most) is reached: older days are missing.")
        }
        let report = FleetReport(read)
        FileHandle.standardOutput.write(json ? report.json : Data(report.text.utf8))
    }
}
