import Foundation
import Tidemark
import TidemarkApp

/// A script of `Specs/feeds`: events and their expected results. An unknown key is refused, because
/// a spelling mistake must not disable a check.
struct FeedSpec: Sendable, CustomStringConvertible {
    let file: String
    let hazard: String
    let way: FeedDefinition.Way
    let checksMembership: Bool
    let pageSize: Int
    let shared: SharedMarkFields?
    /// The minimum number of items that the feed holds; nil if the feed holds all.
    let bound: Int?
    let window: Int
    let devices: [String]
    let steps: [FeedSpecObject]

    var description: String { file }

    init(_ url: URL) throws {
        file = url.deletingPathExtension().lastPathComponent
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        let object = try FeedSpecObject(json, in: file)
        try object.allow([
            "hazard", "why", "way", "checksMembership", "pageSize", "sharesMark", "markAsText",
            "devices",
            "bound", "window", "steps",
        ])
        hazard = try object.require("hazard")
        way = try Self.way(object.require("way"), file)
        checksMembership = try object.value("checksMembership") ?? false
        pageSize = try object.value("pageSize") ?? 500
        shared = try Self.shared(object)
        bound = try object.value("bound")
        window = try object.value("window") ?? 50
        devices = try object.value("devices") ?? ["phone"]
        let steps: [Any] = try object.require("steps")
        let file = file
        self.steps = try steps.enumerated().map {
            try FeedSpecObject($1, in: "\(file), step \($0 + 1)")
        }
    }

    /// Returns the fields of the shared marks; nil if the script shares none. With `markAsText`, a
    /// new mark is written as text, the devices also share what they have consumed, and a clear
    /// sets two other fields.
    private static func shared(_ object: FeedSpecObject) throws -> SharedMarkFields? {
        guard try object.value("sharesMark") ?? false else { return nil }
        let path = DocumentPath(unchecked: "users/ann")
        guard try object.value("markAsText") ?? false else {
            return try SharedMarkFields(path, field: "fetch_message_after")
        }
        return try SharedMarkFields(
            path, field: "fetch_message_after", consumptionField: "seen_until", encoding: .string,
            onClear: ["conversation_deleted": .boolean(true), "last_message_timestamp": .mark])
    }

    private static func way(_ name: String, _ file: String) throws -> FeedDefinition.Way {
        switch name {
        case "changeTime": .changeTime("updatedAt", deletedField: "deletedAt")
        case "audit": .audit()
        case "audit by version": .audit(version: "version")
        case "itemTime": .itemTime
        default: throw FeedSpecError("\(file): there is no way \(name)")
        }
    }

    static let all: [FeedSpec] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../../Specs/feeds").standardizedFileURL
        let files = try! FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return try! files.filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }.map(FeedSpec.init)
    }()
}

/// An object of a script.
// @unchecked: the values from JSONSerialization never change.
struct FeedSpecObject: @unchecked Sendable {
    private let values: [String: Any]
    let place: String

    init(_ json: Any, in place: String) throws {
        guard let values = json as? [String: Any] else {
            throw FeedSpecError("\(place): not an object")
        }
        self.values = values
        self.place = place
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    func allow(_ keys: Set<String>) throws {
        let unknown = values.keys.filter { !keys.contains($0) }.sorted()
        if !unknown.isEmpty { throw FeedSpecError("\(place): unknown \(unknown)") }
    }

    func value<T>(_ key: String, as type: T.Type = T.self) throws -> T? {
        guard let value = values[key] else { return nil }
        guard let value = value as? T else { throw FeedSpecError("\(place): \(key) is \(value)") }
        return value
    }

    func require<T>(_ key: String, as type: T.Type = T.self) throws -> T {
        guard let value: T = try value(key) else {
            throw FeedSpecError("\(place): there is no \(key)")
        }
        return value
    }
}
