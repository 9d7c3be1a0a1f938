import Foundation

/// A script of `Specs/pager`: the events of a conversation and of a device that pages it, the rows
/// that the device must show, and the allowed reads.
struct PagerScript: Decodable {
    /// The name of the script. `hazard` states what goes wrong in a careless pager.
    let name: String
    let hazard: String
    let pageSize: Int
    let pages: Pages
    /// The number of messages at the start: `m1` to `mN`, one second apart.
    let items: Int
    /// True if the pager shows only the messages of one room.
    let isFiltered: Bool
    let steps: [Step]

    enum Pages: String, Decodable {
        case never
        /// Pages from disk that are younger than an hour.
        case youngerThanAnHour
        case keptRight
    }

    enum Step: Decodable {
        case open, close, relaunch, refresh, offline, online
        /// Calls `loadMore` so many times without a pause.
        case loadMore(Int)
        /// Advances the time by so many seconds.
        case advance(Int)
        /// Sets the device's wall clock so many seconds ahead.
        case clock(Int)
        /// Adds a message with so many seconds as its time. A false `isMarked` leaves the time of
        /// change out.
        case insert(String, at: Int, isMarked: Bool)
        /// Changes a message. `changed` is the age of the time of change in seconds, as in a commit
        /// that took so long.
        case edit(String, changed: Int)
        /// Moves a message to another room.
        case leave(String)
        /// Marks a message as deleted.
        case mark(String)
        /// Deletes the document of a message.
        case delete(String)
        case move(String, to: Int)
        case show(Shown)
    }

    struct Shown: Decodable {
        /// The shown messages, newest first. `m9...m4` includes all between. An edited one ends in
        /// `*`.
        let ids: [String]
        let hasMore: Bool?
        /// The number of reads since the previous `show`.
        let reads: Int?
        let failed: Bool?
        /// True if the server must have confirmed the newest page.
        let isFresh: Bool

        private enum Key: String, CodingKey, CaseIterable {
            case ids, hasMore, reads, failed, isFresh
        }

        init(from decoder: any Decoder) throws {
            try decoder.refuseOthers(than: Key.self)
            let container = try decoder.container(keyedBy: Key.self)
            ids = try container.decode([String].self, forKey: .ids).flatMap(Self.expanded)
            hasMore = try container.decodeIfPresent(Bool.self, forKey: .hasMore)
            reads = try container.decodeIfPresent(Int.self, forKey: .reads)
            failed = try container.decodeIfPresent(Bool.self, forKey: .failed)
            isFresh = try container.decodeIfPresent(Bool.self, forKey: .isFresh) ?? false
        }

        private static func expanded(_ text: String) -> [String] {
            let ends = text.split(separator: ".").compactMap { Int($0.dropFirst()) }
            guard text.contains("..."), ends.count == 2 else { return [text] }
            return stride(from: ends[0], through: ends[1], by: -1).map { "m\($0)" }
        }
    }

    private enum Key: String, CodingKey, CaseIterable {
        case name, hazard, pageSize, pages, items, isFiltered, steps
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseOthers(than: Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        hazard = try container.decode(String.self, forKey: .hazard)
        pageSize = try container.decode(Int.self, forKey: .pageSize)
        pages = try container.decode(Pages.self, forKey: .pages)
        items = try container.decode(Int.self, forKey: .items)
        isFiltered = try container.decodeIfPresent(Bool.self, forKey: .isFiltered) ?? false
        steps = try container.decode([Step].self, forKey: .steps)
    }
}

extension PagerScript.Step {
    private enum Key: String, CodingKey, CaseIterable {
        case open, close, relaunch, refresh, offline, online, loadMore, advance, insert, at, edit
        case mark, delete, move, to, show, clock, unmarked, changed, leave
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseOthers(than: Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let keys = Set(container.allKeys)
        func text(_ key: Key) throws -> String { try container.decode(String.self, forKey: key) }
        func number(_ key: Key) throws -> Int { try container.decode(Int.self, forKey: key) }
        switch keys {
        case [.open]: self = .open
        case [.close]: self = .close
        case [.relaunch]: self = .relaunch
        case [.refresh]: self = .refresh
        case [.offline]: self = .offline
        case [.online]: self = .online
        case [.loadMore]: self = .loadMore(try number(.loadMore))
        case [.advance]: self = .advance(try number(.advance))
        case [.clock]: self = .clock(try number(.clock))
        case [.insert, .at]:
            self = .insert(try text(.insert), at: try number(.at), isMarked: true)
        case [.insert, .at, .unmarked]:
            self = .insert(try text(.insert), at: try number(.at), isMarked: false)
        case [.edit]: self = .edit(try text(.edit), changed: 0)
        case [.edit, .changed]: self = .edit(try text(.edit), changed: try number(.changed))
        case [.leave]: self = .leave(try text(.leave))
        case [.mark]: self = .mark(try text(.mark))
        case [.delete]: self = .delete(try text(.delete))
        case [.move, .to]: self = .move(try text(.move), to: try number(.to))
        case [.show]:
            self = .show(try container.decode(PagerScript.Shown.self, forKey: .show))
        default:
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "no such step: \(keys.map(\.rawValue).sorted())"))
        }
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// Throws for an unknown key, because a misspelt key must not count as absent.
    fileprivate func refuseOthers<Key: CodingKey & CaseIterable>(than keys: Key.Type) throws {
        let known = Set(Key.allCases.map(\.stringValue))
        let others = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            .filter { !known.contains($0) }
        guard others.isEmpty else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "unknown: \(others.sorted())"))
        }
    }
}
