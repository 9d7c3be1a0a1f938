import Tidemark
import TidemarkTesting

@testable import TidemarkApp

/// Plays a script. After each successful sync it makes more checks than the script's own: the feed
/// shows what a full read above the clear mark shows, and the reads on the server's meter equal the
/// sync's count and, within one read, the prediction of its plans.
final class FeedSpecRunner {
    private let spec: FeedSpec
    private let world: FeedSpecWorld
    private var step = FeedSpecRunner.none

    private static let none = try! FeedSpecObject([String: Any](), in: "no step")
    private static let collection = try! CollectionPath("messages")

    init(_ spec: FeedSpec) throws {
        self.spec = spec
        var query = QueryValue(collection: Self.collection)
        query.filter = .field(FieldPath(name: "room"), .equal, .string("blue"))
        let definition = try ParsedDefinition(
            query, itemTime: "createdAt", way: spec.way, pageSize: spec.pageSize,
            window: spec.window, checksMembership: spec.checksMembership,
            shared: spec.shared,
            limit: spec.bound)
        world = try FeedSpecWorld(definition, devices: spec.devices)
    }

    func run() throws {
        defer { world.end() }
        for step in spec.steps {
            self.step = step
            try play()
        }
    }

    private func play() throws {
        for (verb, play) in Self.verbs where step.has(verb) {
            return try play(self)()
        }
        throw FeedSpecError("\(step.place): no verb that is known")
    }

    private static var verbs: [(String, (FeedSpecRunner) -> () throws -> Void)] {
        [
            ("write", write), ("delete", delete), ("wait", wait), ("sync", sync),
            ("clear", clear), ("consume", consume), ("relaunch", relaunch),
            ("network", network), ("clock", clock), ("failNext", failNext), ("live", live),
            ("settle", settle), ("expect", expect), ("loadMore", loadMore), ("shared", shared),
        ]
    }

    private func check(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw FeedSpecError("\(step.place): \(text())") }
    }

    private func device(_ key: String) throws -> FeedSpecDevice {
        let name: String = try step.require(key)
        guard let device = world.devices[name] else {
            throw FeedSpecError("\(step.place): there is no device \(name)")
        }
        return device
    }

    private func ago(_ seconds: Int) -> Timestamp {
        world.time.now.advanced(by: .seconds(-seconds))
    }
}

// MARK: - What others do

extension FeedSpecRunner {
    /// Commits documents, merged into the stored ones. `age` sets the item's own time. `changed`
    /// sets the time of change to so many seconds ago, as in a commit that took so long; `unmarked`
    /// leaves the time of change out.
    private func write() throws {
        try step.allow([
            "write", "age", "text", "room", "version", "changed", "unmarked", "deleted",
        ])
        let ids: [String] = try step.require("write")
        try world.commit(ids.map { try mutation($0) })
    }

    private func mutation(_ id: String) throws -> Mutation {
        var fields: MapValue = [:]
        if let age: Int = try step.value("age") { fields["createdAt"] = .timestamp(ago(age)) }
        if let text: String = try step.value("text") { fields["text"] = .string(text) }
        if let room: String = try step.value("room") { fields["room"] = .string(room) }
        if let version: Int = try step.value("version") {
            fields["version"] = .integer(Int64(version))
        }
        if try step.value("deleted") ?? false {
            fields["deletedAt"] = .timestamp(world.time.now)
        }
        var transforms: [FieldTransform] = []
        if let changed: Int = try step.value("changed") {
            fields["updatedAt"] = .timestamp(ago(changed))
        } else if try step.value("unmarked") != true {
            transforms = [FieldTransform(FieldPath(name: "updatedAt"), .serverTimestamp)]
        }
        return Mutation(
            path: DocumentPath(unchecked: "messages/" + id),
            .patch(fields, mask: fields.map { FieldPath(name: $0.key) }),
            transforms: transforms)
    }

    /// Writes the document of the shared marks without a device, or checks one of its fields.
    private func shared() throws {
        try step.allow(["shared", "text", "number", "is"])
        let field: String = try step.require("shared")
        let path = DocumentPath(unchecked: "users/ann")
        if step.has("is") {
            let found = try world.document(path)?[FieldPath(name: field)]
            let text = found.map(Self.text)
            return try check(text == step.require("is"), "it is \(text ?? "none")")
        }
        var value: Value = .null
        if let age: Int = try step.value("text") { value = .string("\(ago(age).milliseconds)") }
        if let age: Int = try step.value("number") { value = .integer(ago(age).milliseconds) }
        var fields = MapValue()
        fields[FieldPath(name: field)] = value
        try world.commit([
            Mutation(path: path, .patch(fields, mask: [FieldPath(name: field)]))
        ])
    }

    /// Returns only the kind of a mark's value, because times differ from run to run. Returns other
    /// values unchanged.
    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): Int64(text) == nil ? text : "text"
        case .double, .integer: "number"
        case .boolean(let flag): "\(flag)"
        default: "\(value)"
        }
    }

    private func delete() throws {
        try step.allow(["delete"])
        let ids: [String] = try step.require("delete")
        try world.commit(
            ids.map { Mutation(path: DocumentPath(unchecked: "messages/" + $0), .delete) })
    }

    private func wait() throws {
        try step.allow(["wait"])
        world.time.advance(by: .seconds(try step.require("wait", as: Int.self)))
    }

    private func network() throws {
        try step.allow(["network", "isUp"])
        let device = try device("network")
        let isUp: Bool = try step.require("isUp")
        device.link.set(isUp: isUp)
        if isUp { device.engine?.networkMayBeBack() }
        world.time.advance(by: .seconds(1))
    }

    private func clock() throws {
        try step.allow(["clock", "ahead"])
        try device("clock").skew = .seconds(try step.require("ahead", as: Int.self))
    }

    private func failNext() throws {
        try step.allow(["failNext", "rows", "code"])
        let codes: [String: RPCStatus.Code] = [
            "unavailable": .unavailable, "invalidArgument": .invalidArgument,
            "failedPrecondition": .failedPrecondition, "permissionDenied": .permissionDenied,
        ]
        let code: String = try step.require("code")
        guard let code = codes[code] else {
            throw FeedSpecError("\(step.place): there is no code \(code)")
        }
        try device("failNext").link.failNext(
            .init(rows: try step.value("rows") ?? 0, status: RPCStatus(code, "as was told")))
    }
}

// MARK: - What the devices do

extension FeedSpecRunner {
    private func relaunch() throws {
        try step.allow(["relaunch"])
        try device("relaunch").relaunch()
    }

    private func sync() throws {
        try step.allow([
            "sync", "plans", "reads", "changed", "error", "shows", "isUnchanged", "limit",
        ])
        let device = try device("sync")
        let before = device.billed
        let outcome = try device.call { .sync($0) }
        let billed = device.billed - before
        if case .failed(let error) = outcome {
            try check(try step.value("error") == "\(error.code)", "it failed: \(error)")
            guard case .failed = device.machine.shown.phase else {
                throw FeedSpecError("\(step.place): the phase is \(device.machine.shown.phase)")
            }
            return try checkShown(device)
        }
        guard case .synced(let sync) = outcome else { return }
        try check(!step.has("error"), "it did not fail")
        try check(sync.reads == billed, "it counts \(sync.reads) reads, and \(billed) are billed")
        try checkPrediction(sync, billed)
        if let plans: [String] = try step.value("plans") {
            let asked = sync.plans.map { "\($0.kind)" }
            try check(plans == asked, "the plans were \(asked)")
        }
        if let reads: Int = try step.value("reads") {
            try check(reads == billed, "\(billed) reads")
        }
        if let changed: Int = try step.value("changed") {
            try check(changed == sync.changed, "\(sync.changed) changed")
        }
        try checkShown(device)
        // The script's `limit` states what this way of reading cannot see, so the truth is not
        // checked.
        if step.has("limit") { return }
        try checkTruth(device)
        guard case .fresh = device.machine.shown.phase else {
            throw FeedSpecError("\(step.place): the phase is \(device.machine.shown.phase)")
        }
    }

    /// Checks that the feed shows all items. A bounded feed must show the newest ones, at least as
    /// many as its window or its bound holds, and must say that there are more.
    private func checkTruth(_ device: FeedSpecDevice) throws {
        let all = try world.truth(above: device.machine.marks.action)
        let truth = spec.bound == nil ? all : Array(all.prefix(device.shown.count))
        try check(device.shown == truth, "shown is \(device.shown), and there is \(all)")
        guard let bound = spec.bound else { return }
        try check(
            device.shown.count >= min(bound, spec.window, all.count),
            "\(device.shown.count) are shown, and there are \(all.count)")
        if device.shown.count < all.count {
            try check(device.machine.shown.hasMore, "it says that there is nothing more")
        }
    }

    /// Loads older items, and checks the number of reads.
    private func loadMore() throws {
        try step.allow(["loadMore", "count", "reads", "shows", "error", "hasMore"])
        let device = try device("loadMore")
        let before = device.billed
        let count: Int = try step.require("count")
        let outcome = try device.call { .loadMore(count, $0) }
        let billed = device.billed - before
        if case .failed(let error) = outcome {
            try check(try step.value("error") == "\(error.code)", "it failed: \(error)")
        } else {
            try check(!step.has("error"), "it did not fail")
        }
        if let reads: Int = try step.value("reads") {
            try check(reads == billed, "\(billed) reads")
        }
        if let hasMore: Bool = try step.value("hasMore") {
            try check(hasMore == device.machine.shown.hasMore, "more: \(!hasMore)")
        }
        try checkShown(device)
    }

    private func checkPrediction(_ sync: FeedSync, _ billed: Int) throws {
        let predictions = sync.plans.map(\.prediction)
        let least = predictions.map(\.atLeast).reduce(0, +)
        try check(billed >= least - 1, "at least \(least) reads were predicted, \(billed) billed")
        if predictions.allSatisfy({ $0.atMost != nil }) {
            let most = predictions.compactMap(\.atMost).reduce(0, +)
            try check(billed <= most + 1, "at most \(most) reads were predicted, \(billed) billed")
        }
        if try step.value("isUnchanged") ?? false {
            let expected = predictions.compactMap(\.ifUnchanged).reduce(0, +)
            try check(
                abs(billed - expected) <= 1, "\(expected) reads were predicted, \(billed) billed")
        }
    }

    private func live() throws {
        try step.allow(["live", "isOn"])
        try device("live").live(try step.require("isOn"))
    }

    /// Waits two seconds while the feed listens. Then checks that the feed shows everything, and
    /// the number of reads since the previous check.
    private func settle() throws {
        try step.allow(["settle", "reads", "shows", "received"])
        let device = try device("settle")
        world.time.advance(by: .seconds(2))
        let reads = device.readsSinceLastLook()
        if let expected: Int = try step.value("reads") {
            try check(reads == expected, "\(reads) reads")
        }
        try checkShown(device)
        try checkTruth(device)
        guard case .fresh = device.machine.shown.phase else {
            throw FeedSpecError("\(step.place): the phase is \(device.machine.shown.phase)")
        }
    }

    private func checkShown(_ device: FeedSpecDevice) throws {
        guard let shows: [String] = try step.value("shows") else { return }
        try check(device.shown == shows, "shown is \(device.shown)")
    }

    private func clear() throws { try move(.action, "clear") }
    private func consume() throws { try move(.consumption, "consume") }

    /// Moves a mark. `through` is the age of its new time in seconds; without it, the newest shown
    /// item is used.
    private func move(_ name: Marks.Name, _ verb: String) throws {
        try step.allow([verb, "through", "milliseconds", "becomes"])
        let device = try device(verb)
        let target: FeedSpecDevice.Machine.MarkTarget
        if let through: Int = try step.value("through") {
            target = .time(ago(through))
        } else if let milliseconds: Int = try step.value("milliseconds") {
            target = .milliseconds(Int64(milliseconds))
        } else {
            target = .newest
        }
        let outcome = try device.call { .move(name, to: target, $0) }
        guard case .moved(let move) = outcome else {
            throw FeedSpecError("\(step.place): \(outcome)")
        }
        // The change enters the queue when the device is offline; otherwise it is sent within one
        // second.
        world.time.advance(by: .seconds(1))
        guard let becomes: String = try step.value("becomes") else { return }
        let kind =
            switch move {
            case .moved: "moved"
            case .clamped: "clamped"
            case .ignored: "ignored"
            case .reset: "reset"
            case nil: "nothing"
            }
        try check(kind == becomes, "the mark was \(kind)")
    }

    private func expect() throws {
        try step.allow([
            "expect", "shows", "unread", "markAge", "received", "dropped", "ignored", "clamped",
        ])
        let device = try device("expect")
        try checkShown(device)
        if let unread: Int = try step.value("unread") {
            try check(
                device.machine.shown.unreadCount == unread,
                "\(device.machine.shown.unreadCount) unread")
        }
        if let age: Int = try step.value("markAge") {
            let mark = device.machine.marks.action
            try check(mark == ago(age), "the clear mark is \(mark.map { "\($0)" } ?? "gone")")
        }
        let counters = device.machine.counters
        for (key, count) in [
            ("received", counters.received), ("dropped", counters.drops),
            ("ignored", counters.ignored), ("clamped", counters.clamped),
        ] {
            if let expected: Int = try step.value(key) {
                try check(expected == count, "\(key): \(count)")
            }
        }
    }
}
