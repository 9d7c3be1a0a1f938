import TidemarkModel

/// The reads that calls under way may still cost. A strict budget counts them as spent, so that a
/// kill between a request and its answer cannot hide reads that the server has billed.
///
/// A reservation is on disk before its request is sent. It is released in the transaction that
/// stores the bill of the answer. What a killed process had reserved counts until the day ends.
struct ReadReservations: Equatable, Sendable {
    /// The owner of a reservation, without the cause of its reads.
    struct Name: Hashable, Sendable {
        var day: BillingDay
        var label: String
        var screen: String
    }

    /// A reservation that is held until its answer.
    struct Held: Equatable, Sendable {
        fileprivate let name: Name
        fileprivate let reads: Int
    }

    /// The reads that a request of unknown size is expected to cost at most.
    static let unknownSize = 20
    /// The maximum number of owners of a day. Further reservations are counted together.
    static let maxNames = 200

    /// The reservations of this process.
    private var held: [Name: Int] = [:]
    /// The reservations of processes that were killed.
    private var left: [Name: Int] = [:]
    /// The changes that are not on disk yet.
    private(set) var unsaved: [Name: Int] = [:]

    /// Loads the reservations that the disk has of a day.
    mutating func load(_ stored: [Name: Int], of day: BillingDay) {
        for (name, reads) in stored where name.day == day {
            // The disk also has what this process holds and has saved.
            let own = (held[name] ?? 0) - (unsaved[name] ?? 0)
            left[name] = max(0, reads - own)
        }
        left = left.filter { $0.key.day >= day.advanced(by: -2) }
    }

    mutating func reserve(_ reads: Int, _ name: Name) -> Held {
        precondition(reads >= 0)
        var name = name
        if held[name] == nil, held.count >= Self.maxNames {
            (name.label, name.screen) = (ReadLedger.overflow, "")
        }
        change(name, by: reads)
        return Held(name: name, reads: reads)
    }

    mutating func release(_ reservation: Held) { change(reservation.name, by: -reservation.reads) }

    private mutating func change(_ name: Name, by reads: Int) {
        if reads == 0 { return }
        let sum = (held[name] ?? 0) + reads
        precondition(sum >= 0, "a reservation was released twice")
        held[name] = sum == 0 ? nil : sum
        let open = (unsaved[name] ?? 0) + reads
        unsaved[name] = open == 0 ? nil : open
    }

    mutating func saved() { unsaved = [:] }

    /// Takes over the unsaved changes and what is held of a store that ends.
    mutating func adopt(_ other: ReadReservations) {
        for (name, reads) in other.held { held[name, default: 0] += reads }
        for (name, reads) in other.held { unsaved[name, default: 0] += reads }
    }

    /// Returns the reads that may still be billed on a day.
    ///
    /// - Parameter isOpenCounted: False for the reads that only killed processes had reserved.
    func reads(
        on day: BillingDay, isOpenCounted: Bool, where isCounted: (Name) -> Bool
    ) -> Int {
        func sum(_ names: [Name: Int]) -> Int {
            names.reduce(0) { $0 + ($1.key.day == day && isCounted($1.key) ? $1.value : 0) }
        }
        return sum(left) + (isOpenCounted ? sum(held) : 0)
    }
}
