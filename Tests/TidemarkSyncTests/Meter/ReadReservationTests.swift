import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkSync

/// Days of an app that reads pages, is killed at any step, and starts again. The oracle is what the
/// simulated server has billed.
private struct SimulatedDays {
    static let budget = 1_000
    /// The most reads of an answer.
    static let page = 50

    private var random: SeededRandom
    /// The state that survives a kill.
    private var disk = Disk()
    private var ledger = ReadLedger()
    private var reservations = ReadReservations()
    private var gate = BudgetGate([ReadBudget(.all, readsPerDay: Self.budget, .degradeToCache)])
    private var calls: [Call] = []
    private var day = BillingDay(number: 20_000)
    /// The reads that the server has billed today.
    private var billed = 0
    private(set) var kills = 0
    private(set) var refusals = 0
    private(set) var highest = 0
    private(set) var least = Int.max
    private let reserves: Bool

    private struct Disk {
        var reads: [ReadRow.Name: Int] = [:]
        var asked: [ReadReservations.Name: Int] = [:]
    }

    private struct Call {
        let held: ReadReservations.Held?
        /// The bill; nil before the server has the request.
        var reads: Int?
    }

    /// - Parameter reserves: False for the defect that this suite must find.
    init(seed: UInt64, reserves: Bool = true) {
        random = SeededRandom(seed: seed)
        self.reserves = reserves
        start()
    }

    private mutating func start() {
        ledger = ReadLedger()
        reservations = ReadReservations()
        calls = []
        let rows = disk.reads.filter { $0.key.day == day }.map {
            ReadRow($0.key, ReadCount(reads: $0.value))
        }
        ledger.load(rows, of: day)
        reservations.load(disk.asked, of: day)
    }

    private mutating func save() {
        for (name, count) in ledger.unsaved { disk.reads[name, default: 0] += count.reads }
        ledger.saved(at: .zero)
        for (name, reads) in reservations.unsaved { disk.asked[name, default: 0] += reads }
        reservations.saved()
    }

    private var spent: Int {
        ledger.reads(on: day)
            + reservations.reads(on: day, isOpenCounted: true) { _ in true }
    }

    private mutating func ask() {
        guard case .allowed = gate.verdict(label: "", screen: "", spent: { _ in spent }) else {
            refusals += 1
            return
        }
        var held: ReadReservations.Held?
        if reserves {
            held = reservations.reserve(
                Self.page, ReadReservations.Name(day: day, label: "", screen: ""))
            // A reservation is on disk before its request is sent.
            if chance(20) { return kill() }
            save()
        }
        calls.append(Call(held: held, reads: nil))
    }

    /// The server answers the request, or the answer reaches the app.
    private mutating func proceed() {
        guard let index = calls.indices.randomElement(using: &random) else { return }
        guard let reads = calls[index].reads else {
            let reads = Int.random(in: 1...Self.page, using: &random)
            calls[index].reads = reads
            billed += reads
            return
        }
        let call = calls.remove(at: index)
        if let held = call.held { reservations.release(held) }
        ledger.add(
            ReadRow.Name(day: day, label: "", screen: "", cause: .page), ReadCount(reads: reads))
        if chance(2) { save() }
    }

    private mutating func kill() {
        kills += 1
        start()
    }

    private mutating func chance(_ one: Int) -> Bool {
        Int.random(in: 0..<one, using: &random) == 0
    }

    /// Plays a day.
    mutating func play() {
        for _ in 0..<160 {
            switch Int.random(in: 0..<24, using: &random) {
            case 0..<9: ask()
            case 9..<22: proceed()
            case 22: save()
            default: if chance(4) { kill() }
            }
        }
        highest = max(highest, billed)
        least = min(least, billed)
        // The app is closed in the evening.
        while !calls.isEmpty { proceed() }
        highest = max(highest, billed)
        save()
        (day, billed) = (day.advanced(by: 1), 0)
        start()
    }
}

@Suite(.ownThread) struct `Reservations of reads` {
    @Test func `keep a day within its budget and a page, in 10,000 days with kills`() {
        var days = SimulatedDays(seed: 17)
        for _ in 0..<10_000 { days.play() }
        #expect(days.highest < SimulatedDays.budget + SimulatedDays.page, "\(days.highest)")
        #expect(days.kills > 10_000 && days.refusals > 10_000, "the days were hard enough")
    }

    @Test func `are needed: without them, kills hide reads`() {
        var days = SimulatedDays(seed: 17, reserves: false)
        for _ in 0..<2_000 { days.play() }
        #expect(days.highest >= SimulatedDays.budget + SimulatedDays.page)
    }

    private let day = BillingDay(number: 20_000)
    private func name(_ screen: String = "") -> ReadReservations.Name {
        ReadReservations.Name(day: day, label: "app", screen: screen)
    }

    private func reads(
        _ reservations: ReadReservations, isOpenCounted: Bool = true
    ) -> Int {
        reservations.reads(on: day, isOpenCounted: isOpenCounted) { _ in true }
    }

    @Test func `are held until they are released`() {
        var reservations = ReadReservations()
        let first = reservations.reserve(50, name())
        let second = reservations.reserve(10, name("Inbox"))
        #expect(reads(reservations) == 60 && reads(reservations, isOpenCounted: false) == 0)
        #expect(reservations.unsaved == [name(): 50, name("Inbox"): 10])
        reservations.saved()
        reservations.release(first)
        reservations.release(second)
        #expect(reads(reservations) == 0)
        #expect(reservations.unsaved == [name(): -50, name("Inbox"): -10])
    }

    @Test func `of a killed process count until the day ends`() {
        var reservations = ReadReservations()
        reservations.load([name(): 50], of: day)
        #expect(reads(reservations, isOpenCounted: false) == 50)
        let own = reservations.reserve(20, name())
        reservations.saved()
        // The disk now has both.
        reservations.load([name(): 70], of: day)
        #expect(reads(reservations, isOpenCounted: false) == 50)
        reservations.release(own)
        #expect(reads(reservations) == 50)
        let tomorrow = day.advanced(by: 1)
        #expect(reservations.reads(on: tomorrow, isOpenCounted: true) { _ in true } == 0)
    }

    @Test func `have a bound of owners`() {
        var reservations = ReadReservations()
        let held = (0..<1_000).map { reservations.reserve(1, name("\($0)")) }
        #expect(reservations.unsaved.count == ReadReservations.maxNames + 1)
        #expect(reads(reservations) == 1_000)
        for each in held { reservations.release(each) }
        #expect(reads(reservations) == 0 && reservations.unsaved.isEmpty)
    }
}
