import Testing
import Tidemark

@testable import TidemarkApp

struct `The board of a chat list` {
    private typealias Board = ConversationBoard<String>
    private typealias Row = ConversationRow<String>

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func row(
        _ id: String, at seconds: Int64, count: Int?, isOwn: Bool = false,
        isEstimated: Bool = false,
        created: Int64 = 1
    ) -> Row {
        Row(
            id: ByteString(id), content: id, lastMessageAt: time(seconds),
            isTimeEstimated: isEstimated, count: count, isOwn: isOwn, createTime: time(created))
    }

    /// Returns a board with two conversations that was complete at 100.
    private func board(
        _ way: Board.Way = .sinceMark, shares: Bool = false
    ) -> Board {
        var board = Board(way, sharesMarks: shares)
        _ = board.step(.loaded(ConversationMarks()))
        if shares { _ = board.step(.shared(nil)) }
        _ = board.step(
            .rows([row("a", at: 90, count: 9), row("b", at: 80, count: 8)], readTime: time(100)))
        return board
    }

    private func unread(_ board: Board) -> [Int] { board.entries.map(\.unread) }

    @Test func `counts what was there at first as seen, and then what comes`() {
        var board = board()
        #expect(unread(board) == [0, 0])
        let rows = [row("a", at: 110, count: 12), row("b", at: 80, count: 8)]
        #expect(board.step(.rows(rows, readTime: time(110))) == [.publish])
        #expect(unread(board) == [3, 0] && board.unreadTotal == 3)
        #expect(board.step(.seen(ByteString("a"), unread: 1)) == [.save, .publish])
        #expect(unread(board) == [1, 0])
        #expect(board.step(.seen(ByteString("a"), unread: 0)) == [.save, .publish])
        #expect(unread(board) == [0, 0])
        #expect(board.step(.seen(ByteString("a"), unread: 2)) == [], "marks only move forward")
        #expect(board.step(.seen(ByteString("nobody"), unread: 0)) == [])
    }

    @Test func `counts two messages of one time`() {
        var board = board()
        let rows = [row("a", at: 90, count: 10), row("b", at: 80, count: 8)]
        _ = board.step(.rows(rows, readTime: time(110)))
        #expect(unread(board) == [1, 0])
    }

    @Test func `says nothing before it was complete, and before the marks are read`() {
        var board = Board(.sinceMark, sharesMarks: false)
        #expect(board.step(.rows([row("a", at: 90, count: 9)], readTime: nil)) == [])
        #expect(board.entries.isEmpty)
        #expect(board.step(.loaded(ConversationMarks())) == [.publish])
        #expect(unread(board) == [0])
        let rows = [row("a", at: 95, count: 10)]
        #expect(board.step(.rows(rows, readTime: time(100))) == [.save, .publish])
        #expect(unread(board) == [0])
    }

    @Test func `tells a new conversation from an old one that turns up`() {
        var board = board()
        let rows = [
            row("new", at: 130, count: 4, created: 120), row("old", at: 125, count: 5_000),
            row("a", at: 90, count: 9), row("older", at: 70, count: 700),
        ]
        _ = board.step(.rows(rows, readTime: time(130)))
        #expect(unread(board) == [4, 1, 0, 0])
        #expect(board.entries.map(\.isExact) == [true, false, true, true])
        // New messages of an old conversation count from its first appearance on.
        _ = board.step(.rows([row("older", at: 140, count: 702)], readTime: time(140)))
        #expect(unread(board) == [2])
    }

    @Test func `counts a message that its sender did not count as one`() {
        var board = board()
        _ = board.step(.rows([row("a", at: 110, count: 9)], readTime: time(110)))
        #expect(unread(board) == [1])
        #expect(board.entries.first?.isExact == false)
        _ = board.step(.rows([row("a", at: 120, count: nil)], readTime: time(120)))
        #expect(unread(board) == [1])
    }

    @Test func `what one writes is seen by oneself`() {
        var board = board(shares: true)
        _ = board.step(.rows([row("a", at: 110, count: 12)], readTime: time(110)))
        let sending = row("a", at: 400, count: 13, isOwn: true, isEstimated: true)
        #expect(board.step(.rows([sending], readTime: nil)) == [.publish])
        #expect(unread(board) == [0])
        #expect(board.marks[ByteString("a")]?.time == time(90), "its time is a guess")
        let sent = row("a", at: 120, count: 13, isOwn: true)
        #expect(
            board.step(.rows([sent], readTime: time(120)))
                == [.save, .share([ByteString("a")], begin: nil), .publish])
        _ = board.step(.rows([row("a", at: 130, count: 14)], readTime: time(130)))
        #expect(unread(board) == [1])
        // Another device of the same user has answered, and shares the mark itself.
        let elsewhere = row("a", at: 140, count: 15, isOwn: true)
        #expect(board.step(.rows([elsewhere], readTime: time(140))) == [.save, .publish])
    }

    @Test func `waits for other devices' marks, and takes each part that is further`() {
        var board = Board(.sinceMark, sharesMarks: true)
        _ = board.step(.loaded(ConversationMarks()))
        let rows = [row("a", at: 90, count: 9), row("b", at: 80, count: 8)]
        #expect(board.step(.rows(rows, readTime: time(100))) == [.publish])
        var theirs = ConversationMarks()
        theirs.begin = time(50)
        _ = theirs.raise(ByteString("a"), to: ConversationMark(time: time(60), count: 5))
        #expect(board.step(.shared(theirs)) == [.save, .publish])
        #expect(unread(board) == [4, 1], "of b it is only known that something came after 50")
        #expect(
            board.step(.seen(ByteString("a"), unread: 0))
                == [.save, .share([ByteString("a")], begin: nil), .publish])
        #expect(board.step(.shared(theirs)) == [], "they are behind")
    }

    @Test func `shares when it began, once`() {
        var board = Board(.sinceMark, sharesMarks: true)
        _ = board.step(.loaded(ConversationMarks()))
        _ = board.step(.rows([row("a", at: 90, count: 9)], readTime: time(100)))
        #expect(board.step(.shared(nil)) == [.save, .share([], begin: time(100))])
        #expect(board.step(.shared(nil)) == [])
    }

    @Test func `sets counts of each user to zero`() {
        var board = board(.ofEachUser)
        #expect(unread(board) == [9, 8])
        #expect(board.step(.seen(ByteString("b"), unread: 0)) == [.zero([ByteString("b")])])
        #expect(board.step(.seenAll) == [.zero([ByteString("a"), ByteString("b")])])
    }

    @Test func `shows that something is new where nothing is counted`() {
        var board = board(.notCounted)
        _ = board.step(.rows([row("a", at: 110, count: nil)], readTime: time(110)))
        #expect(unread(board) == [1])
        #expect(board.step(.seenAll) == [.save, .publish])
        #expect(unread(board) == [0])
    }

    @Test func `marks come back from disk and from a document as they were`() {
        var marks = ConversationMarks()
        marks.begin = time(7)
        let (one, two) = (ByteString("\u{E9}"), ByteString("e\u{301}"))
        _ = marks.raise(one, to: ConversationMark(time: time(5), count: 3))
        _ = marks.raise(two, to: ConversationMark(time: time(6), count: 4))
        let read = ConversationMarks(encoded: marks.encoded)
        #expect(read == marks && read[one] != read[two])
        #expect(ConversationMarks(encoded: [9, 9, 9]) == ConversationMarks())
        let shared = Value.map(
            MapValue([
                ("begin", .double(7_000)), ("bad", .integer(1)),
                ("a", .map(MapValue([("at", .double(5_000)), ("count", .integer(3))]))),
            ]))
        let heard = ConversationMarks(shared: shared)
        #expect(heard.begin == time(7))
        #expect(heard[ByteString("a")] == ConversationMark(time: time(5), count: 3))
        #expect(heard[ByteString("bad")] == nil)
    }

    @Test func `keeps the newest marks of too many`() {
        var marks = ConversationMarks()
        for number in 0..<ConversationMarks.capacity + 10 {
            _ = marks.raise(
                ByteString("c\(number)"),
                to: ConversationMark(time: time(Int64(number)), count: number))
        }
        let read = ConversationMarks(encoded: marks.encoded)
        #expect(read[ByteString("c9")] == nil && read[ByteString("c10")] != nil)
    }

    /// Nobody counts the messages of these conversations.
    @Test func `takes a count of the server until the conversation was seen`() {
        var board = board()
        func rows(at seconds: Int64) -> Board.Event {
            .rows(
                [row("a", at: seconds, count: nil), row("b", at: 80, count: 8)],
                readTime: time(200))
        }
        _ = board.step(rows(at: 110))
        #expect(unread(board) == [1, 0] && !board.entries[0].isExact)
        let wanted = board.uncounted
        #expect(
            wanted == [
                Board.Uncounted(id: ByteString("a"), since: time(90), lastMessageAt: time(110))
            ])
        let count = ConversationCount(lastMessageAt: time(110), unread: 7)
        #expect(board.step(.counted(ByteString("a"), count)) == [.save, .publish])
        #expect(unread(board) == [7, 0] && board.entries[0].isExact && board.uncounted.isEmpty)
        // Another message comes: there are more, and the number is inexact.
        _ = board.step(rows(at: 120))
        #expect(unread(board) == [8, 0] && !board.entries[0].isExact)
        #expect(board.uncounted.map(\.lastMessageAt) == [time(120)])
        // A count of before that message says nothing of it.
        #expect(board.step(.counted(ByteString("a"), count)) == [])
        let stored = ConversationMarks(encoded: board.marks.encoded)
        #expect(stored.counts[ByteString("a")] == count)
        _ = board.step(.seen(ByteString("a"), unread: 0))
        #expect(unread(board) == [0, 0] && board.marks.counts.isEmpty)
        _ = board.step(rows(at: 130))
        #expect(unread(board) == [1, 0], "the old count is forgotten")
    }

    @Test func `takes no count where messages are counted`() {
        var board = board()
        _ = board.step(
            .rows(
                [row("a", at: 110, count: 12), row("b", at: 80, count: 8)], readTime: time(200)))
        #expect(board.uncounted.isEmpty && unread(board) == [3, 0])
    }
}
