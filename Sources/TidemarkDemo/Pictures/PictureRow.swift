import Foundation
import TidemarkImages
import TidemarkPhones

/// The pictures of a row, and its requirements.
struct PictureRow: Sendable {
    let name: String
    let slug: String
    /// The description of the pictures, for readers of the figures.
    let note: String
    let size: PictureSize
    /// The number of different pictures.
    let distinct: Int
    /// The number of addresses.
    let people: Int
    /// The numbers of the pictures in the order of the views.
    let shown: String
    /// The numbers of the pictures that the app as it was shows; nil for all. A few are sufficient,
    /// because its memory peaks early.
    var shownBefore: String?
    let views: Int
    var isFailing = false
    /// True if the next screen is prefetched while a screen is visible.
    var isAhead = false
    /// The number of additional decodings of a picture at the end.
    var decodes = 0
    /// True if one picture is decoded in a process that does nothing else.
    var isDecodedOnce = false
    /// True if the app is launched a second time, with its disk cache.
    var isRelaunched = false
    /// The upper limit of each figure.
    let most: [String: Double]
    /// The upper limits of times in milliseconds. A limit applies to the first of its names for
    /// which there is a figure. A longer time is a remark.
    var times: [(names: [String], limit: Double)] = []
    /// The exact values of figures.
    let exactly: [String: Double]

    /// The number of concurrent views.
    static let screen = 9
    /// 100 MB in MiB.
    static let memoryMiB = 100_000_000 / 1_048_576.0

    /// - Parameters:
    ///   - scale: The divisor of all sizes.
    ///   - scrollScale: The divisor of the row with a thousand pictures; nil for `scale`.
    static func all(scale: Int, scrollScale: Int? = nil) -> [PictureRow] {
        [feed(scale), scroll(scrollScale ?? scale), thumbnail(), failing(scale)]
    }

    private static let profile = PictureSize(width: 1_600, height: 1_200)
    private static let photograph = PictureSize(width: 4_032, height: 3_024)

    /// Returns the row with a feed: nine posts of the first author, then the others in turn.
    private static func feed(_ scale: Int) -> PictureRow {
        let (posts, people) = (200 / scale, 40 / scale)
        let authors = (0..<posts).map { $0 < screen ? 0 : ($0 - screen) % people }
        return PictureRow(
            name: "a feed of \(posts) posts by \(people) people, nine views of one",
            slug: "feed",
            note: "profile pictures of \(profile), all different; \(screen) views on a screen",
            size: profile, distinct: people, people: people,
            shown: authors.map(String.init).joined(separator: ","), views: posts,
            isRelaunched: true,
            most: ["MiB": memoryMiB],
            times: [
                (["again-p99-ms", "again-longest-ms"], 1), (["relaunched: disk-median-ms"], 5),
            ],
            exactly: [
                "downloads": Double(people), "shown": Double(posts), "relaunched: downloads": 0,
                "relaunched: decodes": 0,
            ])
    }

    private static func scroll(_ scale: Int) -> PictureRow {
        let (count, distinct) = (1_000 / scale, min(24, 120 / scale))
        let before = min(5 * screen, count)
        return PictureRow(
            name: "\(count) pictures of 12 megapixels scrolled past", slug: "scroll",
            note: "\(distinct) different JPEGs of \(photograph) under \(count) addresses; "
                + "the app before shows the first \(before)",
            size: photograph, distinct: distinct, people: count, shown: "0-\(count - 1)",
            shownBefore: "0-\(before - 1)", views: count, isAhead: true, decodes: 15,
            most: ["MiB": memoryMiB],
            exactly: ["downloads": Double(count), "shown": Double(count)])
    }

    private static func thumbnail() -> PictureRow {
        let whole = Double(4 * photograph.width * photograph.height) / 1_048_576
        return PictureRow(
            name: "a thumbnail of a picture of 12 megapixels", slug: "thumbnail",
            note: "a JPEG of \(photograph) into 56×56, in a process that does nothing else; "
                + "the bar is a twentieth of the whole picture's memory",
            size: photograph, distinct: 1, people: 1, shown: "0", views: 1, isDecodedOnce: true,
            most: ["MiB": whole / 20], exactly: ["downloads": 1, "shown": 1])
    }

    private static func failing(_ scale: Int) -> PictureRow {
        let people = max(10, 40 / scale)
        return PictureRow(
            name: "\(people) pictures on a network that fails", slug: "failing",
            note: "of ten requests one breaks off after two fifths, one is refused (503), "
                + "one is hung up on; bytes are the server's, also those that the break lost",
            size: profile, distinct: people, people: people, shown: "0-\(people - 1)",
            views: people, isFailing: true, most: ["bytes for each byte shown": 1.1],
            exactly: ["shown": Double(people)])
    }

    func pictures() throws -> [[UInt8]] {
        try (0..<distinct).map { number in
            var generator = PictureGenerator(seed: UInt64(number + 1))
            guard let file = PictureEncoder.jpeg(generator.photograph(size), size) else {
                throw PictureError.unsupported("JPEG")
            }
            return file
        }
    }

    var bar: String {
        let limits = most.sorted { $0.key < $1.key }
            .map { "\($0.key) at most \(Bar.number($0.value))" }
        let exact = exactly.sorted { $0.key < $1.key }.map { "\($0.key) \(Bar.number($0.value))" }
        let timed = times.map { "\($0.names[0]) at most \(Bar.number($0.limit))" }
        return (exact + limits + timed).joined(separator: "; ")
    }

    func slow(_ figures: [String: Double]) -> [SlowTime] {
        times.compactMap { names, limit in
            names.lazy.compactMap { name in figures[name].map { (name, $0) } }.first
                .flatMap { SlowTime("\($0.dropLast(3)) ms", $1, limit: limit) }
        }
    }

    /// Returns the failed requirements; empty if all hold.
    func complaints(_ figures: [String: Double]) -> [String] {
        let wrong = exactly.filter { figures[$0.key] != $0.value }.map { name, value in
            "\(name) is \(figures[name].map(Bar.number) ?? "nothing"), not \(Bar.number(value))"
        }
        let large = most.filter { (figures[$0.key] ?? .infinity) > $0.value }.map { name, value in
            "\(name) is \(figures[name].map(Bar.number) ?? "nothing"), not at most "
                + Bar.number(value)
        }
        let isResumed = !isFailing || figures["resumed"] ?? 0 > 0
        let untaken = times.filter { $0.names.allSatisfy { figures[$0] == nil } }
            .map { "\($0.names[0]) was not measured" }
        return (wrong + large + untaken).sorted() + (isResumed ? [] : ["nothing was resumed"])
    }
}

/// The server and the devices of one row.
struct PicturePlace: Sendable {
    let row: PictureRow
    let server: PictureServer
    let port: Int
    let folder: URL

    /// Returns all figures of one side. Those of a second launch have names such as
    /// `relaunched: …`.
    func show(_ side: Side) async throws -> [String: Double] {
        let shown = side == .before ? row.shownBefore ?? row.shown : row.shown
        var figures = try await launch(side, shown, label: side.rawValue)
        if side == .after {
            figures["bytes for each byte shown"] =
                (figures["bytes"] ?? 0) / Double(server.bytes(of: row.people))
        }
        guard row.isRelaunched else { return figures }
        let again = try await launch(side, shown, label: side.rawValue)
        for name in [
            "disk-median-ms", "disk-p99-ms", "disk-longest-ms", "first-screen-ms", "decodes",
        ] {
            figures["relaunched: \(name)"] = again[name]
        }
        for name in ["downloads", "requests"] {
            figures["relaunched: \(name)"] = (again[name] ?? 0) - (figures[name] ?? 0)
        }
        return figures
    }

    private func launch(
        _ side: Side, _ shown: String, label: String
    ) async throws -> [String: Double] {
        let path = row.isFailing ? "\(label)/failing" : label
        let app = AppProcess(
            [
                "demo", "picture-app", "--side", side.rawValue,
                "--address", "http://127.0.0.1:\(port)/\(path)", "--shown", shown,
                "--screen", "\(PictureRow.screen)",
                "--cache", folder.appendingPathComponent("cache-\(side.rawValue)").path,
            ] + (row.shownBefore == nil || side == .after ? ["--again"] : [])
                + (row.isAhead ? ["--ahead"] : [])
                + (row.decodes > 0 ? ["--decodes", "\(row.decodes)"] : [])
                + (row.isDecodedOnce ? ["--once"] : []))
        var figures: [String: Double] = [:]
        for await words in try app.start() where words.first == "figure" && words.count == 3 {
            figures[words[1]] = Double(words[2])
        }
        let served = server.served(label)
        figures["requests"] = Double(served.requests)
        figures["downloads"] = Double(served.whole)
        figures["bytes"] = Double(served.bytes)
        return figures
    }
}
