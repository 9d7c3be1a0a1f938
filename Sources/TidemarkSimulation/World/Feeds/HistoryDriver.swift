import TidemarkApp
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The actions that can happen in one step of a history.
enum HistoryAction {
    case writeOutside, writeHere
    case sync, syncQuietly, loadMore, clear, consume, live, page
    case absence
    case backfill(BackfillAction)
    case fault(WorldAction)

    static let always: [(HistoryAction, Int)] = [
        (.writeOutside, 26), (.writeHere, 8), (.sync, 10), (.syncQuietly, 22), (.loadMore, 4),
        (.clear, 5), (.consume, 3), (.live, 3), (.page, 6), (.absence, 5),
    ]

    /// False for actions that are useless in a history of feeds, which itself reads and collects
    /// garbage.
    static func mayBreak(_ fault: WorldAction) -> Bool {
        switch fault {
        case .read: false
        default: true
        }
    }
}

/// Selects the actions of a history by the seed and performs them.
final class HistoryDriver {
    var dice: SeededRandom
    /// The time when the last fault began or ended.
    private(set) var lastTrouble = Duration.zero
    private unowned let history: FeedHistory

    /// - Parameter dice: The random generator from which the parameters were chosen.
    init(_ dice: SeededRandom, in history: FeedHistory) {
        self.dice = dice
        self.history = history
    }

    /// Returns the time until the next action.
    func pause() -> Duration {
        dice.pick(weighted: history.parameters.pauses).map { dice.milliseconds($0) } ?? .zero
    }

    /// Records that all faults are healed.
    func mended() { lastTrouble = history.world.time.elapsed }

    /// Performs one step of a history. Time passes only if the action needs it.
    func act() {
        let device = dice.pick(history.devices)
        let client = device.client
        if !client.isAlive, dice.chance(60) { return startDevice(device) }
        if !history.world.server.isUp, dice.chance(40) {
            return trouble { history.world.driver.startServer() }
        }
        if !client.disk.full.isEmpty, dice.chance(30) {
            return trouble { history.world.driver.perform(.freeDisk, client) }
        }
        if !client.hasNetwork, dice.chance(30) {
            return trouble { history.world.driver.perform(.getsNetwork, client) }
        }
        if history.world.driver.disabled.contains(client.index), dice.chance(30) {
            return trouble { history.world.driver.perform(.enableNetwork, client) }
        }
        let more =
            history.settings.hasBackfills
            ? BackfillAction.all.map { (HistoryAction.backfill($0), $1) } : []
        perform(dice.pick(weighted: history.parameters.acts + more), device)
    }

    private func perform(_ act: HistoryAction, _ device: HistoryDevice) {
        switch act {
        case .writeOutside: writeOutside()
        case .writeHere: writeHere(device)
        case .sync: device.sync()
        case .syncQuietly:
            device.sync()
            try? history.world.pass(.seconds(3))
        case .loadMore: device.loadMore(1 + dice.roll(5))
        case .clear: device.move(.action, to: target(device))
        case .consume: device.move(.consumption, to: target(device))
        case .live: device.goLive(dice.chance(60))
        case .page: device.page()
        case .absence: absence(device)
        case .backfill(let act): history.backfills.perform(act, device)
        case .fault(let fault):
            trouble { history.world.driver.perform(fault, device.client) }
            // Apps mark everything up to now as seen, by the device's clock.
            if case .turnClock = fault {
                device.move(.consumption, to: .milliseconds(device.now.milliseconds))
            }
        }
    }

    /// Performs an action whose consequences can be billed without a plan for some time.
    func trouble(_ body: () -> Void) {
        lastTrouble = history.world.time.elapsed
        body()
    }

    func startDevice(_ device: HistoryDevice) {
        trouble { device.client.start() }
        device.follow()
    }

    private func target(_ device: HistoryDevice) -> FeedMachine<HistoryContent>.MarkTarget {
        switch dice.roll(10) {
        case 0..<5: return .newest
        case 5..<8:
            let times = device.feed?.machine.shown.rows.map(\.time) ?? []
            let time = times.isEmpty ? history.world.time.now : dice.pick(times)
            return .time(time.advanced(by: dice.pick([.zero, .microseconds(-1), .seconds(1)])))
        case 8:
            return .milliseconds(history.world.time.now.milliseconds + Int64(dice.roll(120_000)))
        default:
            return history.parameters.sharesMarks || dice.chance(50) ? .newest : .milliseconds(-1)
        }
    }

    /// Simulates an absence: a short one with the app open, or a long one with every app closed.
    /// Other clients write during the absence.
    private func absence(_ device: HistoryDevice) {
        let seconds = dice.pick([
            1, 20, 59, 61, 290, 310, 1_700, 1_900, 3_700, 86_400, 2_600_000, 31_536_000,
        ])
        history.note("an absence of \(seconds) s")
        let gone = seconds > 600 ? history.devices : [device]
        for device in gone where device.client.isAlive {
            trouble { dice.chance(50) ? device.client.kill() : device.client.terminate() }
        }
        let parts = 1 + dice.roll(4)
        for _ in 0..<parts {
            try? history.world.pass(.milliseconds(seconds * 1_000 / parts))
            if dice.chance(60) { writeOutside() }
        }
        for device in gone where !device.client.isAlive { startDevice(device) }
    }

    // MARK: Writing

    /// Commits some changes together, so their change times are equal.
    func writeOutside() {
        guard history.world.server.isUp else { return }
        let count = dice.pick([1, 1, 1, 2, 3, 6])
        let mutations = (0..<count).compactMap { _ in makeChange(nil) }
        commit(mutations)
    }

    private func commit(_ mutations: [Mutation]) {
        // Keeps one mutation per document, because their order within a commit would matter.
        var paths: Set<DocumentPath> = []
        let mutations = mutations.filter { paths.insert($0.path).inserted }
        if mutations.isEmpty { return }
        history.note("outside writes \(mutations.map(\.worldText))")
        switch history.world.server.commit(mutations, in: World.database) {
        case .success(let time): history.writes.committed(mutations, at: time)
        case .failure(let status): history.world.violate(.convergence, "a commit failed: \(status)")
        }
    }

    private func writeHere(_ device: HistoryDevice) {
        guard device.client.isAlive, let mutation = makeChange(device) else { return }
        history.note("\(device.client.name) history.writes \(mutation.worldText)")
        history.writes.begun(mutation)
        let (name, process) = (device.client.name, device.client.process)
        let sink = WorldBox { [unowned history] in history }
        device.client.engine?.write([mutation]) { event in
            guard process.isAlive else { return }
            sink.value().note("\(name)'s write of \(mutation.path.id) is \(event)")
            if case .acknowledged(let time) = event {
                sink.value().writes.acknowledged(mutation, at: time)
            }
        }
    }

    private func makeChange(_ device: HistoryDevice?) -> Mutation? {
        let change = dice.pick(weighted: history.parameters.changes)
        let number = history.writes.nextNumber(&dice)
        if change == .insert || history.writes.paths.isEmpty {
            return insert(number, device)
        }
        let path = dice.pick(history.writes.paths)
        switch change {
        case .insert: return nil
        case .erase: return Mutation(path: path, .delete)
        case .edit: return patch(path, ["v": .integer(number)])
        case .move: return patch(path, ["v": .integer(number), "createdAt": itemTime(device)])
        case .delete:
            return patch(
                path, ["v": .integer(number), "deletedAt": .timestamp(history.world.time.now)])
        case .restore: return patch(path, ["v": .integer(number), "deletedAt": .null])
        case .leave: return patch(path, ["v": .integer(number), "room": .integer(2)])
        case .join: return patch(path, ["v": .integer(number), "room": .integer(1)])
        case .slowEdit: return slow(path, ["v": .integer(number)])
        case .slowInsert:
            guard device == nil else { return insert(number, device) }
            return slow(
                history.writes.nextPath(&dice),
                ["v": .integer(number), "room": .integer(1), "createdAt": itemTime(nil)])
        }
    }

    private static let updatedAt = FieldTransform(FieldPath(name: "updatedAt"), .serverTimestamp)

    private func insert(_ number: Int64, _ device: HistoryDevice?) -> Mutation {
        let room = Value.integer(history.parameters.hasFilter && dice.chance(15) ? 2 : 1)
        var fields: MapValue = ["v": .integer(number), "room": room]
        var transforms = [Self.updatedAt]
        let isOwn = device != nil && history.parameters.way == .itemTime
        if isOwn || dice.chance(history.parameters.way == .itemTime ? 70 : 20) {
            transforms.append(FieldTransform(FieldPath(name: "createdAt"), .serverTimestamp))
        } else {
            fields["createdAt"] = itemTime(device)
        }
        return Mutation(path: history.writes.nextPath(&dice), .set(fields), transforms: transforms)
    }

    private func patch(_ path: DocumentPath, _ fields: MapValue) -> Mutation {
        Mutation(
            path: path, .patch(fields, mask: fields.map { FieldPath(name: $0.key) }),
            transforms: [Self.updatedAt])
    }

    /// Makes a change whose change time is long before its commit.
    private func slow(_ path: DocumentPath, _ fields: MapValue) -> Mutation {
        var fields = fields
        fields["updatedAt"] = .timestamp(
            history.world.time.now.advanced(by: .zero - dice.milliseconds(0...55_000)))
        return Mutation(path: path, .patch(fields, mask: fields.map { FieldPath(name: $0.key) }))
    }

    private func itemTime(_ device: HistoryDevice?) -> Value {
        let now = device?.now ?? history.world.time.now
        switch dice.roll(10) {
        case 0..<3: return .timestamp(now)
        // A time equal to that of another item.
        case 3..<6:
            return .timestamp(
                history.writes.itemTimes.isEmpty ? now : dice.pick(history.writes.itemTimes))
        case 6..<9:
            let late = dice.pick([1...900, 1_000...60_000, 86_400_000...2_600_000_000])
            return .timestamp(now.advanced(by: .zero - dice.milliseconds(late)))
        default:
            guard history.parameters.way != .itemTime else { return .timestamp(now) }
            return .timestamp(now.advanced(by: dice.milliseconds(1_000...86_400_000)))
        }
    }
}
