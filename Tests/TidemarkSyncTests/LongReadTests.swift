import Testing
import TidemarkModel

@testable import TidemarkSync

/// The state machine alone: when rows are stored, and where another attempt continues.
struct `A read in parts` {
    private let database = try! DatabaseID(project: "p")
    private let byAge = Query(collectionID: "rooms", orders: [Order(FieldPath(name: "age"))])

    private func document(_ number: Int, bytes: Int = 0) -> Document {
        Document(
            path: DocumentPath(unchecked: "rooms/\(number)"),
            fields: [
                "age": .integer(Int64(number)),
                "text": .string(String(repeating: "x", count: bytes)),
            ],
            createTime: at(1), updateTime: at(1))
    }

    private func at(_ seconds: Int64) -> Timestamp {
        Timestamp(seconds: seconds, nanoseconds: 0)
    }

    private func read(
        _ query: Query? = nil, mayMixTimes: Bool = true, keepsRows: Bool = true
    ) -> Run {
        Run(
            LongRead(
                query ?? byAge, in: database, mayMixTimes: mayMixTimes, keepsRows: keepsRows))
    }

    /// Holds the machine in a class, so an expectation can step it.
    private final class Run {
        private var machine: LongRead

        init(_ machine: LongRead) { self.machine = machine }

        func next() -> RunQueryRequest? { machine.nextRequest() }
        func step(_ event: LongRead.Event) -> [LongRead.Effect] { machine.step(event) }
        func isAboutTime(_ status: RPCStatus) -> Bool { machine.isAboutTime(status) }

        /// Returns the rows of each part that the machine stores.
        func parts(_ event: LongRead.Event) -> [[Int]] {
            machine.step(event).compactMap { effect in
                guard case .store(let rows, _) = effect else { return nil }
                return rows.map { Int($0.path.id)! }
            }
        }

        func finish() -> LongRead.Answer? {
            for case .finish(let answer) in machine.step(.ended) { return answer }
            return nil
        }
    }

    /// Gives rows to the machine, and returns the parts that it stores.
    private func give(
        _ rows: Range<Int>, at time: Int64 = 5, bytes: Int = 0, to read: Run
    ) -> [[Int]] {
        rows.flatMap { number in
            read.parts(
                .reply(
                    RunQueryReply(document: document(number, bytes: bytes), readTime: at(time))))
        }
    }

    @Test func `leaves a small answer to one transaction`() throws {
        let read = read()
        #expect(read.next() == RunQueryRequest(query: byAge))
        #expect(give(0..<199, to: read).isEmpty)
        let answer = try #require(read.finish())
        #expect(!answer.hasParts)
        #expect(answer.unstored.count == 199)
        #expect(answer.documents.count == 199)
        #expect(answer.readTime == at(5))
    }

    @Test func `stores a part when it is full, by rows and by bytes`() throws {
        let read = read(keepsRows: false)
        _ = read.next()
        #expect(give(0..<450, to: read) == [Array(0..<200), Array(200..<400)])
        let answer = try #require(read.finish())
        #expect(answer.unstored.map(\.path.id) == (400..<450).map(String.init))
        #expect(answer.count == 450)
        #expect(answer.documents.isEmpty)
        var names = answer.names
        let known = (0..<460).filter { names.contains(document($0).path) }
        #expect(known == Array(0..<400))
        let large = self.read()
        _ = large.next()
        #expect(give(0..<3, bytes: 130_000, to: large) == [[0, 1, 2]])
    }

    @Test func `goes on behind the last row, as of the same time`() throws {
        var query = byAge
        query.limit = .first(100)
        query.offset = 3
        let read = read(query)
        _ = read.next()
        #expect(give(0..<30, to: read).isEmpty)
        // The rows that arrived are stored before the pause.
        #expect(read.parts(.broke) == [Array(0..<30)])
        let request = try #require(read.next())
        #expect(request.consistency == .at(at(5)))
        #expect(request.query.limit == .first(70))
        #expect(request.query.offset == 0)
        #expect(
            request.query.orders == [Order(FieldPath(name: "age")), Order(.documentID)])
        #expect(
            request.query.start
                == Cursor(
                    values: [
                        .integer(29),
                        .reference(ReferenceValue(database: database, path: document(29).path)),
                    ], before: false))
        #expect(give(30..<100, to: read).isEmpty)
        #expect(read.parts(.broke) == [Array(30..<100)])
        // The read has all the rows that its limit allows.
        #expect(read.next() == nil)
        let answer = try #require(read.finish())
        #expect(answer.count == 100 && answer.isOfOneTime && answer.hasParts)
    }

    @Test func `says that its rows are of several times where the server forgot the first`() throws
    {
        let read = read()
        _ = read.next()
        _ = give(0..<10, to: read)
        _ = read.step(.broke)
        _ = read.next()
        let tooOld = RPCStatus(.invalidArgument, "The requested snapshot version is too old.")
        #expect(read.isAboutTime(tooOld))
        #expect(!read.isAboutTime(RPCStatus(.unavailable, "")))
        #expect(read.step(.timeForgotten).isEmpty)
        let request = try #require(read.next())
        #expect(request.consistency == .latest)
        #expect(request.query.start != nil)
        #expect(!read.isAboutTime(tooOld))
        _ = give(10..<20, at: 9, to: read)
        let answer = try #require(read.finish())
        #expect(!answer.isOfOneTime)
        #expect(answer.readTime == at(5))
        #expect(answer.count == 20)
    }

    @Test func `reads from the start again where rows of several times are of no use`() throws {
        let read = read(mayMixTimes: false)
        _ = read.next()
        _ = give(0..<10, to: read)
        _ = read.step(.broke)
        _ = read.next()
        _ = read.step(.timeForgotten)
        #expect(read.next() == RunQueryRequest(query: byAge))
        _ = give(0..<20, at: 9, to: read)
        let answer = try #require(read.finish())
        #expect(answer.isOfOneTime && answer.readTime == at(9) && answer.count == 20)
    }

    @Test func `gives up on a server that begins from the start again and again`() throws {
        let read = read()
        _ = read.next()
        _ = give(0..<10, to: read)
        _ = read.parts(.broke)
        _ = read.next()
        // A server that repeats only the row at the cursor does not count as such a server.
        #expect(give(9..<12, to: read).isEmpty)
        _ = read.parts(.broke)
        _ = read.next()
        let again = RunQueryReply(document: document(0), readTime: at(5))
        #expect(read.step(.reply(again)) == [.giveUp])
        #expect(try #require(read.finish()).count == 12)
    }

    @Test func `gives up when the server goes on forgetting`() {
        let read = read(mayMixTimes: false)
        var effects: [LongRead.Effect] = []
        var rounds = 0
        while !effects.contains(.giveUp), rounds < 10 {
            _ = read.next()
            _ = give(0..<1, to: read)
            _ = read.step(.broke)
            _ = read.next()
            effects = read.step(.timeForgotten)
            rounds += 1
        }
        #expect(rounds == 4)
    }
}
