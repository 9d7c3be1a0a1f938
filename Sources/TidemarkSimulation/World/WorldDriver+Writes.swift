import TidemarkModel
import TidemarkSync

extension WorldDriver {
    /// - Returns: The write; nil if no app is running.
    @discardableResult
    func write(_ client: WorldClient) -> WorldWrite? {
        guard client.isAlive else { return nil }
        let (write, mutations) = makeWrite(client.writer, client.nextSequence)
        client.nextSequence += 1
        let name = client.name
        world.noteValues { "\(name) writes \(write.id): \(mutations[2].worldText)" }
        client.write(write, mutations)
        return write
    }

    func writeOutside() {
        guard world.server.isUp else { return }
        let (write, mutations) = makeWrite(.outside, outsideSequence)
        outsideSequence += 1
        world.noteValues { "outside writes \(write.id): \(mutations[2].worldText)" }
        switch world.server.commit(mutations, in: World.database) {
        case .success(let time): world.ledger.set(write.id, .acknowledged(time))
        case .failure(let status): world.ledger.set(write.id, .rejected(status))
        }
    }

    private func makeWrite(
        _ writer: WorldWriter, _ sequence: Int
    ) -> (WorldWrite, [Mutation]) {
        let id = "\(writer.name)-\(sequence)"
        let kind = dice.roll(14)
        let room = dice.pick(WorldQueries.rooms)
        let number = nextNumber
        nextNumber += 1
        let journal = Mutation(
            path: DocumentPath(unchecked: "journal/\(id)"),
            .set(["seq": .integer(Int64(sequence))]),
            transforms: [FieldTransform(FieldPath(name: "at"), .serverTimestamp)])
        let counter = Mutation(
            path: DocumentPath(unchecked: "counters/\(writer.name)"), .patch([:], mask: []),
            transforms: [FieldTransform(FieldPath(name: "n"), .increment(.integer(1)))])
        let mutations =
            [journal, counter] + changes(kind, id: id, writer: writer, room: room, number: number)
        let write = WorldWrite(
            id: id, writer: writer, sequence: sequence, room: room,
            paths: Set(mutations.map(\.path)), number: number, addsTag: (5..<8).contains(kind))
        world.ledger.add(write)
        return (write, mutations)
    }

    private func changes(
        _ kind: Int, id: String, writer: WorldWriter, room: DocumentPath, number: Int64
    ) -> [Mutation] {
        switch kind {
        case 12:
            let path = DocumentPath(unchecked: "\(WorldQueries.ownCollection)/\(writer.name)")
            return [
                Mutation(
                    path: path, .set(["owner": .string(writer.name), "v": .integer(number)]))
            ]
        case 13:
            let transfer = makeTransfer(id: id, writer: writer, isBatch: true)
            return [
                WorldBank.increment(transfer.from, by: -transfer.amount),
                WorldBank.increment(transfer.to, by: transfer.amount),
            ]
        default: return [change(kind, id: id, room: room, number: number)]
        }
    }

    private func change(
        _ kind: Int, id: String, room: DocumentPath, number: Int64
    ) -> Mutation {
        var fields: MapValue = [
            "w": .string(id), "n": .integer(number), "g": .integer(number % 3),
        ]
        // Values of any kind that queries can match. Some documents have none.
        if shapes.chance(70) { fields["x"] = WorldQueries.random.scalar(&shapes) }
        if shapes.chance(40) { fields["m"] = .map(["x": WorldQueries.random.scalar(&shapes)]) }
        let mask = ["w", "n", "g", "x", "m"].map { FieldPath(name: $0) }
        switch kind {
        case 0..<2: return Mutation(path: room, .set(fields))
        case 2..<5: return Mutation(path: room, .patch(fields, mask: mask))
        case 5..<8:
            let marks = [Value.integer(Int64(dice.roll(4)))]
            return Mutation(
                path: room, .patch([:], mask: []),
                transforms: [
                    FieldTransform(FieldPath(name: "tags"), .arrayUnion([.string(id)])),
                    FieldTransform(FieldPath(name: "total"), .increment(.integer(1))),
                    FieldTransform(
                        FieldPath(name: "marks"),
                        dice.chance(70) ? .arrayUnion(marks) : .arrayRemove(marks)),
                ])
        case 8..<10: return Mutation(path: room, .delete)
        case 10:
            return Mutation(
                path: room, .patch(fields, mask: mask), precondition: .exists(true))
        default: return Mutation(path: room, .set(fields), precondition: .exists(false))
        }
    }

    // MARK: Transfers

    /// Starts several transactions together, so that they conflict.
    func transact() {
        for client in world.clients where dice.chance(60) {
            guard client.isAlive, client.transactions.count < 3 else { continue }
            let transfer = makeTransfer(
                id: "t\(nextNumber)", writer: client.writer, isBatch: false)
            nextNumber += 1
            world.note(
                "\(client.writer.name) runs \(transfer.id): \(transfer.amount) from "
                    + "\(transfer.from.id) to \(transfer.to.id)")
            client.run(
                WorldTransaction(
                    transfer, attempts: dice.pick([5, 5, 2]), sets: dice.chance(50),
                    reads: dice.chance(50) ? WorldBank.accounts : [transfer.from, transfer.to],
                    thinking: dice.milliseconds(dice.pick([0...0, 0...30, 100...3_000])),
                    in: client, of: world))
        }
    }

    func makeTransfer(id: String, writer: WorldWriter, isBatch: Bool) -> WorldTransfer {
        let accounts = WorldBank.accounts.shuffled(using: &dice)
        let transfer = WorldTransfer(
            id: id, writer: writer, from: accounts[0], to: accounts[1],
            amount: Int64(1 + dice.roll(9)), isBatch: isBatch)
        world.bank.add(transfer)
        return transfer
    }
}
