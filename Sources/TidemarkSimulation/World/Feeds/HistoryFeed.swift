import TidemarkApp
import TidemarkModel
import TidemarkSync

/// A feed's machine in a process of a device, with the performer that apps use and without tasks.
final class HistoryFeed {
    typealias Machine = FeedMachine<HistoryContent>

    let process: WorldProcess
    private(set) var machine: Machine
    /// The maximum number of rows in the window.
    private(set) var size: Int
    private unowned let device: HistoryDevice
    private let performer: FeedPerformer<HistoryContent>
    private var calls: [Machine.CallID: (Machine.Outcome) -> Void] = [:]
    private var lastCall = 0
    /// True if the machine has learned a server time, from an answer or from stored data.
    private var knowsServerTime = false
    /// The number of syncs that the app has started and that have not ended.
    private(set) var syncs = 0
    /// The documents that the listener has reported since the last count.
    private(set) var heard: Set<DocumentPath> = []
    /// The number of loads of older items in progress. A bounded feed reads them from the server.
    private(set) var loads = 0

    /// - Precondition: The device's app is running.
    init(_ device: HistoryDevice) {
        guard let engine = device.client.engine else { preconditionFailure("no app runs") }
        self.device = device
        process = device.client.process
        size = device.definition.settings.window
        machine = Machine(device.definition.settings)
        performer = FeedPerformer(
            device.definition, engine.session, in: World.database, deadline: .seconds(20),
            content: { HistoryContent($0) })
        let sink = WorldBox { [weak self] in self }
        performer.followOwn { event in sink.value()?.step(event) }
    }

    deinit { performer.close() }

    func call(
        _ event: (Machine.CallID) -> Machine.Event,
        _ end: @escaping (Machine.Outcome) -> Void = { _ in }
    ) {
        lastCall += 1
        calls[lastCall] = end
        step(event(lastCall))
    }

    func sync(_ end: @escaping (Machine.Outcome) -> Void) { sync({ .sync($0) }, end) }
    func comeLive(_ end: @escaping (Machine.Outcome) -> Void) { sync({ .comeLive($0) }, end) }

    private func sync(
        _ event: (Machine.CallID) -> Machine.Event, _ end: @escaping (Machine.Outcome) -> Void
    ) {
        syncs += 1
        call(event) { [unowned self] outcome in
            syncs -= 1
            end(outcome)
        }
    }

    func loadMore(_ count: Int) {
        size = size.addingReportingOverflow(count).overflow ? .max : size + count
        loads += 1
        call({ .loadMore(count, $0) }) { [unowned self] _ in loads -= 1 }
    }

    func notify(_ event: Machine.Event) { step(event) }

    private func step(_ event: Machine.Event) {
        guard process.isAlive else { return }
        let sink = WorldBox { [weak self] in self }
        knowsServerTime = knowsServerTime || event.hasServerTime
        switch event {
        case .heard(let told): heard.formUnion(told.changed)
        case .compared: heard = []
        default: break
        }
        for effect in machine.step(event, now: device.clocks) {
            switch effect {
            case .publish: device.published(self)
            case .countChanges:
                device.history.figures.counts += 1
                performer.perform(effect) { event in sink.value()?.step(event) }
            case .notify(let event): if knowsServerTime { device.check(event) }
            case .finish(let call, let outcome): calls.removeValue(forKey: call)?(outcome)
            default: performer.perform(effect) { event in sink.value()?.step(event) }
            }
        }
    }
}

extension FeedMachine.Event {
    fileprivate var hasServerTime: Bool {
        switch self {
        case .loaded(_, let progress): progress.lastReadTime != nil
        case .fetched, .sharedRead, .changesCounted: true
        case .compared(let comparison): comparison.readTime != nil
        case .heard(let heard): heard.readTime != nil
        default: false
        }
    }
}
