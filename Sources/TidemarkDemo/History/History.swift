import Foundation

/// An item of a history, with its author. It can arrive later than its own time.
struct HistoryEvent: Codable, Hashable, Sendable {
    let id: String
    let author: String
    /// The item's own time, in seconds since 1970.
    let authoredAt: Int64
    /// The time of its arrival, in seconds since 1970.
    let committedAt: Int64
    let text: String
}

/// Events in the order of their arrival.
struct History: Sendable {
    let events: [HistoryEvent]
    /// The origin of the events.
    let source: HistorySource

    /// Sorts the events by arrival, keeps the given order within a second, and keeps the first
    /// `limit` events.
    init(_ events: [HistoryEvent], source: HistorySource, limit: Int?) {
        let sorted = events.enumerated().sorted {
            ($0.element.committedAt, $0.offset) < ($1.element.committedAt, $1.offset)
        }.map(\.element)
        self.events = limit.map { Array(sorted.prefix($0)) } ?? sorted
        self.source = source
    }

    /// Returns the first `count` events.
    func prefix(_ count: Int) -> History { History(events, source: source, limit: count) }

    /// The number and the kind of the events in words: `2,000 generated events`.
    var text: String { source.text(events.count) }

    var start: Int64 { events.first?.committedAt ?? 0 }
    var end: Int64 { events.last?.committedAt ?? 0 }
}

/// The origin of a history.
enum HistorySource: Hashable, Sendable {
    /// The demo generated the events.
    case generated
    /// The events are from a file with this path.
    case file(String)
    /// The events are the commits of a git repository with this path.
    case repository(String)

    /// Returns the number and the kind of the events in words.
    func text(_ count: Int) -> String {
        switch self {
        case .generated: "\(grouped(count)) generated events"
        case .file(let path):
            "\(grouped(count)) events of \(URL(fileURLWithPath: path).lastPathComponent)"
        case .repository(let path): "\(grouped(count)) commits of \(path)"
        }
    }
}

/// The description of a figure's history, for the file with the figures.
struct HistoryFigure: Hashable, Sendable, Encodable {
    let source: String
    let events: Int

    init(_ history: History) { (source, events) = (history.text, history.events.count) }
}

/// The reason why there is no history to play.
enum HistoryError: Error, CustomStringConvertible {
    case unreadable(String)
    case badLine(Int, file: String, reason: String)
    case duplicateID(String)
    case tooShort(Int)
    case gitFailed(String)

    var description: String {
        switch self {
        case .unreadable(let file): "The file \(file) cannot be read."
        case .badLine(let line, let file, let reason):
            "Line \(line) of \(file) is not an event: \(reason)."
        case .duplicateID(let id): "Two events have the id \(id)."
        case .tooShort(let count): "A history needs at least two events; this one has \(count)."
        case .gitFailed(let text): "git could not list the commits: \(text)"
        }
    }
}

extension History {
    /// Reads lines of `{id, author, authoredAt, committedAt, text}`.
    static func read(file: String, limit: Int?) throws -> History {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw HistoryError.unreadable(file)
        }
        let decoder = JSONDecoder()
        var events: [HistoryEvent] = []
        var seen: Set<String> = []
        for (index, line) in data.split(separator: UInt8(ascii: "\n")).enumerated() {
            let event: HistoryEvent
            do { event = try decoder.decode(HistoryEvent.self, from: line) } catch {
                throw HistoryError.badLine(
                    index + 1, file: file, reason: "it does not have the expected JSON format")
            }
            if event.id.isEmpty || event.id.contains("/") {
                throw HistoryError.badLine(
                    index + 1, file: file, reason: "its id is not a document id")
            }
            if !seen.insert(event.id).inserted { throw HistoryError.duplicateID(event.id) }
            events.append(event)
        }
        return try History(events, source: .file(file), limit: limit).checked()
    }

    /// Reads the commits of a repository. `authoredAt` and `committedAt` are git's author and
    /// committer times.
    static func read(git directory: String, limit: Int?) throws -> History {
        let fields = ["%H", "%an", "%at", "%ct", "%s"].joined(separator: "%x1f")
        let output = try run(["git", "-C", directory, "log", "--all", "--format=\(fields)"])
        let events = output.split(separator: "\n").compactMap { line -> HistoryEvent? in
            let parts = line.split(separator: "\u{1f}", omittingEmptySubsequences: false)
            guard parts.count == 5, let authored = Int64(parts[2]), let committed = Int64(parts[3])
            else { return nil }
            return HistoryEvent(
                id: String(parts[0].prefix(12)), author: String(parts[1]), authoredAt: authored,
                committedAt: committed, text: String(parts[4]))
        }
        return try History(events, source: .repository(directory), limit: limit).checked()
    }

    func checked() throws -> History {
        if events.count < 2 || start == end { throw HistoryError.tooShort(events.count) }
        return self
    }

    private static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw HistoryError.gitFailed(String(decoding: complaint, as: UTF8.self))
        }
        return String(decoding: data, as: UTF8.self)
    }
}
