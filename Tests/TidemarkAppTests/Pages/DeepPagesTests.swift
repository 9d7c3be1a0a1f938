import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Scrolls through more pages than the number of intervals that a pager records.
@Suite(.timeLimit(.minutes(2))) struct `A long scroll` {
    private static let rows = 250
    private static let pageSize = 2

    private func shown(_ pager: Pager) async throws -> [String] {
        for await state in pager.states where !state.isFromCache && !state.isLoadingMore { break }
        try await pager.refresh()
        while pager.current.hasMore {
            let count = pager.current.items.count
            pager.loadMore()
            for await state in pager.states where !state.isLoadingMore { break }
            if pager.current.items.count == count, pager.current.hasMore { break }
        }
        return pager.current.items.compactMap { $0["text"] as? String }
    }

    private func pager(_ messages: CollectionReference) throws -> Pager {
        try Pager(
            messages, orderedBy: "sentAt", pageSize: Self.pageSize,
            pagesFromDisk: .keptRight(changeTime: "updatedAt", deletedField: nil))
    }

    @Test func `costs a read a row, and the second time nothing`() async throws {
        let local = try LocalFirestore.start()
        let author = try local.firestore(label: "author").collection("messages")
        let batch = author.firestore.batch()
        let end = local.now
        for number in 1...Self.rows {
            batch.setData(
                [
                    "text": "\(number)", "sentAt": end.advanced(by: .seconds(number - Self.rows)),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: author.document("m\(number)"))
        }
        try await batch.commit()
        local.advance(by: .seconds(3_600))
        let reader = try local.firestore(label: "reader").collection("messages")
        let reads = { local.meter().first { $0.label == "reader" }?.reads ?? 0 }
        let all = (1...Self.rows).reversed().map { "\($0)" }

        let first = try pager(reader)
        #expect(try await shown(first) == all)
        first.close()
        // The last page is full and does not show that it is the last, so the pager asks for one
        // more. It also asks once for changes.
        #expect((Self.rows...Self.rows + 2).contains(reads()), "\(reads()) reads")

        local.advance(by: .seconds(3_600))
        let before = reads()
        let second = try pager(reader)
        #expect(try await shown(second) == all)
        second.close()
        // The pager reads the head, and asks for changes when it starts and at `refresh`.
        #expect(reads() - before <= Self.pageSize + 2, "\(reads() - before) reads")
        await local.stop()
    }
}
