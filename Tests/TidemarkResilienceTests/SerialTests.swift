import Synchronization
import Testing

@testable import TidemarkResilience

@Suite(.timeLimit(.minutes(2))) struct `Work in a queue` {
    private struct Refused: Error, Equatable { let number: Int }

    /// Counts the pieces of work that run at a time, and records those that have ended.
    private final class Worker: Sendable {
        struct Log {
            var running = 0
            var most = 0
            var ended: [Int] = []
        }

        let queue = Serial()
        let log = Mutex(Log())

        /// Fails for each third number.
        func result(of number: Int) async -> Result<Int, Refused> {
            do throws(Refused) {
                return .success(
                    try await queue.run { [self] () async throws(Refused) in
                        try await work(number)
                    })
            } catch { return .failure(error) }
        }

        private func work(_ number: Int) async throws(Refused) -> Int {
            log.withLock { log in
                log.running += 1
                log.most = max(log.most, log.running)
            }
            await Task.yield()
            log.withLock { log in
                log.running -= 1
                log.ended.append(number)
            }
            if number.isMultiple(of: 3) { throw Refused(number: number) }
            return number
        }
    }

    @Test func `runs alone, and a piece that fails stops no other`() async {
        let worker = Worker()
        let results = await withTaskGroup(of: (Int, Result<Int, Refused>).self) { group in
            for number in 0..<100 {
                group.addTask { (number, await worker.result(of: number)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for number in 0..<100 {
            let expected: Result<Int, Refused> =
                number.isMultiple(of: 3) ? .failure(Refused(number: number)) : .success(number)
            #expect(results[number] == expected)
        }
        worker.log.withLock { log in
            #expect(log.most == 1 && log.running == 0)
            #expect(log.ended.sorted() == Array(0..<100))
        }
    }
}
