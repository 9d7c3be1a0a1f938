import TidemarkModel

/// The changes in a database between two moments, document by document.
struct ChangesPage: Page {
    let place: DataPlace
    let from: String
    let to: String
    let differences: [VersionDifference]
    /// True if more documents changed than are shown.
    let hasMore: Bool
    /// The time since which everything is kept.
    let oldest: String

    /// The maximum number of documents on a page.
    static let maxDocuments = 100

    var title: String { "What changed" }
    var section: Section { .history }

    private enum CodingKeys: String, CodingKey {
        case place, from, to, differences, hasMore, oldest
    }

    @HTMLBuilder var body: HTML {
        place.breadcrumbs
        Tag.form(.class("query"), .action(PagePath(address))) {
            Tag.label(.for("from")) { "From" }
            Tag.input(.id("from"), .name("from"), .type(.text), .value(from))
            Tag.label(.for("to")) { "To" }
            Tag.input(.id("to"), .name("to"), .type(.text), .value(to))
            Tag.button(.type(.submit)) { "Compare" }
        }
        Tag.p { "History is available since \(oldest)." }
        if differences.isEmpty { Tag.p { "Nothing changed in this period." } }
        if hasMore { Tag.p { "More documents changed. These are the first." } }
        for difference in differences { show(difference) }
    }

    private var address: [String] {
        ["history", place.database.project, place.database.database]
    }

    private func show(_ difference: VersionDifference) -> HTML {
        let segments = difference.path.split(separator: "/").map(String.init)
        return Tag.section(.class("change"), .label(difference.path)) {
            Tag.h2 {
                Tag.a(.href(PagePath(address + segments))) { Tag.bdi { difference.path } }
                HTML(" " + difference.word)
            }
            difference.html(caption: "From \(from) to \(to)")
            PutBack(place: place, path: segments, time: from).html
        }
    }
}

/// A button that restores a document's earlier version. It needs the script.
struct PutBack {
    let place: DataPlace
    let path: [String]
    let time: String

    var html: HTML {
        let segments = ["restore", place.database.project, place.database.database] + path
        return Tag.form(
            .data(.part, "restore"), .data(.path, PagePath(segments, [("at", time)]).text), .hidden
        ) {
            Tag.button(.type(.submit), .class("plain")) { "Restore the version of \(time)" }
            Tag.output(.live)
        }
    }
}

/// The versions of a document, newest first.
struct VersionsPage: Page {
    let place: DataPlace
    let versions: [Version]
    /// True if there are older versions.
    let hasMore: Bool

    /// The maximum number of versions on a page.
    static let maxVersions = 50

    struct Version: Encodable {
        /// The time at which the version began.
        let time: String
        let exists: Bool
        /// The difference to the previous version.
        let difference: VersionDifference
    }

    var title: String { "Versions of \(place.path.last ?? "")" }
    var section: Section { .history }

    private enum CodingKeys: String, CodingKey { case place, versions, hasMore }

    @HTMLBuilder var body: HTML {
        place.breadcrumbs
        Tag.p { Tag.a(.href(place.address())) { "Current document" } }
        if versions.isEmpty { Tag.p { "The document has not changed since the history begins." } }
        for (index, version) in versions.enumerated() {
            Tag.section(.class("change"), .label("Version of \(version.time)")) {
                Tag.h2 {
                    Tag.a(.href(PagePath(place.address().segments, [("at", version.time)]))) {
                        version.time
                    }
                    HTML(" " + version.difference.word)
                }
                version.difference.html(caption: "What changed")
                if index > 0 {
                    PutBack(place: place, path: place.path, time: version.time).html
                }
            }
        }
        if hasMore { Tag.p { "There are older versions." } }
    }
}

/// The times of a database's commits, for the slider.
struct CommitTimes: Encodable {
    /// The times, newest first.
    let times: [String]
    /// The time since which everything is kept.
    let oldest: String

    static let maxTimes = 1_000
}
