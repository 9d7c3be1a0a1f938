import TidemarkModel
import TidemarkStore

/// The triggers and the outbox of events on disk.
///
/// A row of `documentEvent` is an event for one trigger. It is written in the transaction of the
/// commit that caused it. The small columns come first: SQLite reads the fields of a document only
/// for the event that is delivered.
struct EventTable {
    static let schema = """
        CREATE TABLE eventTrigger (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            project TEXT NOT NULL,
            key TEXT NOT NULL,
            database TEXT NOT NULL,
            type TEXT NOT NULL,
            pattern TEXT NOT NULL,
            isLiteral INTEGER NOT NULL,
            address TEXT,  -- null for a function that a tool has registered
            UNIQUE (project, key)
        ) STRICT;
        CREATE TABLE documentEvent (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            eventTrigger INTEGER NOT NULL,
            state INTEGER NOT NULL,  -- 0 waiting, 1 set aside, 2 delivered
            size INTEGER NOT NULL,
            commitTime INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            depth INTEGER NOT NULL,
            event TEXT NOT NULL,
            path TEXT NOT NULL,
            authorKind TEXT NOT NULL,
            authorID TEXT NOT NULL,
            reason TEXT,
            beforeCreateTime INTEGER,
            beforeUpdateTime INTEGER,
            afterCreateTime INTEGER,
            afterUpdateTime INTEGER,
            beforeFields BLOB,
            afterFields BLOB
        ) STRICT;
        """

    /// The state of an event.
    enum State: Int64, Hashable, Sendable { case waiting = 0, setAside, delivered }

    /// An event without its documents.
    struct Outline: Sendable {
        let id: Int64
        let trigger: Int64
        var state: State
        /// The approximate size of the row in bytes.
        let size: Int
        let time: Timestamp
        let attempts: Int
        let depth: Int
        /// The id that the function receives.
        let event: String
        let path: DocumentPath
        var reason: String?
    }

    let transaction: StoreTransaction

    // MARK: Triggers

    func registrations() throws(StoreError) -> [EventRegistration] {
        let rows = try transaction.rows(
            """
            SELECT id, project, key, database, type, pattern, isLiteral, address
            FROM eventTrigger ORDER BY id
            """)
        return try rows.map { row throws(StoreError) in
            EventRegistration(id: try row.integer(0), trigger: try Self.trigger(row))
        }
    }

    private static func trigger(_ row: SQLRow) throws(StoreError) -> EventTrigger {
        let key = try row.text(2)
        let (project, database) = (try row.text(1), try row.text(3))
        let (pattern, isLiteral) = (try row.text(5), try row.integer(6) == 1)
        let address = row.isNull(7) ? nil : try row.text(7)
        guard let type = EventType(name: try row.text(4)),
            let id = try? DatabaseID(project: project, database: database),
            let documents = try? TriggerPattern(pattern, isLiteral: isLiteral),
            let trigger = try? EventTrigger(
                key: key, database: id, type: type, pattern: documents, address: address)
        else { throw .corrupt(detail: "the trigger \(key)") }
        return trigger
    }

    /// Inserts a trigger, or replaces the one of the same key. The events of the key stay.
    ///
    /// - Parameter id: The row to write again; nil for a new row.
    /// - Returns: The row.
    func save(_ trigger: EventTrigger, as id: Int64?) throws(StoreError) -> Int64 {
        let row: SQLValue = if let id { .integer(id) } else { .null }
        try transaction.execute(
            """
            INSERT INTO eventTrigger
                (id, project, key, database, type, pattern, isLiteral, address)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET database = excluded.database, type = excluded.type,
                pattern = excluded.pattern, isLiteral = excluded.isLiteral,
                address = excluded.address
            """,
            [
                row, .text(trigger.database.project), .text(trigger.key),
                .text(trigger.database.database), .text(trigger.type.name),
                .text(trigger.pattern.text), .integer(trigger.pattern.isLiteral ? 1 : 0),
                Self.value(trigger.address),
            ])
        return id ?? transaction.lastInsertedRowID
    }

    /// Removes a trigger and its events.
    func remove(trigger id: Int64) throws(StoreError) {
        try transaction.execute(
            "DELETE FROM documentEvent WHERE eventTrigger = ?", [.integer(id)])
        try transaction.execute("DELETE FROM eventTrigger WHERE id = ?", [.integer(id)])
    }

    func removeAll() throws(StoreError) {
        try transaction.execute("DELETE FROM documentEvent")
        try transaction.execute("DELETE FROM eventTrigger")
    }

    // MARK: Events

    /// - Returns: The row of the event.
    func append(_ draft: EventDraft) throws(StoreError) -> Int64 {
        let (before, after) = (draft.before, draft.after)
        try transaction.execute(
            """
            INSERT INTO documentEvent (eventTrigger, state, size, commitTime, attempts, depth,
                event, path, authorKind, authorID, beforeCreateTime, beforeUpdateTime,
                afterCreateTime, afterUpdateTime, beforeFields, afterFields)
            VALUES (?, 0, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(draft.trigger), .integer(Int64(draft.size)),
                .integer(draft.time.microseconds), .integer(Int64(draft.depth)),
                .text(draft.event), .text(draft.path.text), .text(draft.author.kind.rawValue),
                .text(draft.author.id), Self.value(before?.createTime),
                Self.value(before?.updateTime), Self.value(after?.createTime),
                Self.value(after?.updateTime), Self.value(before?.contents),
                Self.value(after?.contents),
            ])
        return transaction.lastInsertedRowID
    }

    private static func value(_ time: Timestamp?) -> SQLValue {
        if let time { .integer(time.microseconds) } else { .null }
    }

    private static func value(_ fields: EncodedFields?) -> SQLValue {
        if let fields { .blob(fields.bytes) } else { .null }
    }

    private static func value(_ text: String?) -> SQLValue {
        if let text { .text(text) } else { .null }
    }

    private static let outlineColumns =
        "id, eventTrigger, state, size, commitTime, attempts, depth, event, path, reason"

    /// Returns all events, oldest first.
    func outlines() throws(StoreError) -> [Outline] {
        let rows = try transaction.rows(
            "SELECT \(Self.outlineColumns) FROM documentEvent ORDER BY id")
        return try rows.map(Self.outline)
    }

    private static func outline(_ row: SQLRow) throws(StoreError) -> Outline {
        guard let state = State(rawValue: try row.integer(2)) else {
            throw .corrupt(detail: "the state of an event")
        }
        return Outline(
            id: try row.integer(0), trigger: try row.integer(1), state: state,
            size: Int(try row.integer(3)), time: Timestamp(microseconds: try row.integer(4)),
            attempts: Int(try row.integer(5)), depth: Int(try row.integer(6)),
            event: try row.text(7), path: DocumentPath(unchecked: try row.text(8)),
            reason: row.isNull(9) ? nil : try row.text(9))
    }

    /// Returns an event with its documents; nil if there is no such row.
    func event(_ id: Int64, of trigger: EventTrigger) throws(StoreError) -> DocumentEvent? {
        let rows = try transaction.rows(
            """
            SELECT event, path, commitTime, authorKind, authorID, beforeCreateTime,
                beforeUpdateTime, afterCreateTime, afterUpdateTime, beforeFields, afterFields
            FROM documentEvent WHERE id = ?
            """, [.integer(id)])
        guard let row = rows.first else { return nil }
        let path = DocumentPath(unchecked: try row.text(1))
        guard let kind = EventAuthor.Kind(rawValue: try row.text(3)) else {
            throw .corrupt(detail: "the author of an event")
        }
        return DocumentEvent(
            id: try row.text(0), trigger: trigger, path: path,
            time: Timestamp(microseconds: try row.integer(2)),
            before: try Self.document(row, at: path, times: 5, fields: 9),
            after: try Self.document(row, at: path, times: 7, fields: 10),
            author: EventAuthor(kind, id: try row.text(4)))
    }

    private static func document(
        _ row: SQLRow, at path: DocumentPath, times: Int, fields: Int
    ) throws(StoreError) -> Document? {
        if row.isNull(fields) { return nil }
        return Document(
            path: path, contents: EncodedFields(trusted: try row.blob(fields)),
            createTime: Timestamp(microseconds: try row.integer(times)),
            updateTime: Timestamp(microseconds: try row.integer(times + 1)))
    }

    func keep(attempts: Int, of id: Int64) throws(StoreError) {
        try transaction.execute(
            "UPDATE documentEvent SET attempts = ? WHERE id = ?",
            [.integer(Int64(attempts)), .integer(id)])
    }

    func set(_ state: State, reason: String? = nil, of id: Int64) throws(StoreError) {
        try transaction.execute(
            "UPDATE documentEvent SET state = ?, reason = ? WHERE id = ?",
            [.integer(state.rawValue), Self.value(reason), .integer(id)])
    }

    func remove(event id: Int64) throws(StoreError) {
        try transaction.execute("DELETE FROM documentEvent WHERE id = ?", [.integer(id)])
    }

    /// Moves an event behind all others, to be delivered again.
    ///
    /// - Returns: The new outline.
    func repeatEvent(_ id: Int64) throws(StoreError) -> Outline? {
        try transaction.execute(
            """
            INSERT INTO documentEvent (eventTrigger, state, size, commitTime, attempts, depth,
                event, path, authorKind, authorID, beforeCreateTime, beforeUpdateTime,
                afterCreateTime, afterUpdateTime, beforeFields, afterFields)
            SELECT eventTrigger, 0, size, commitTime, 0, 0, event, path, authorKind, authorID,
                beforeCreateTime, beforeUpdateTime, afterCreateTime, afterUpdateTime,
                beforeFields, afterFields
            FROM documentEvent WHERE id = ?
            """, [.integer(id)])
        guard transaction.hasChangedRows else { return nil }
        let new = transaction.lastInsertedRowID
        try remove(event: id)
        let rows = try transaction.rows(
            "SELECT \(Self.outlineColumns) FROM documentEvent WHERE id = ?", [.integer(new)])
        return try rows.first.map(Self.outline)
    }
}

/// An event that a commit is about to store.
struct EventDraft: Sendable {
    let trigger: Int64
    let event: String
    let path: DocumentPath
    let time: Timestamp
    let before: Document?
    let after: Document?
    let author: EventAuthor
    let depth: Int

    /// The approximate size of the row in bytes.
    var size: Int {
        300 + path.text.utf8.count + author.id.utf8.count + (before?.contents.bytes.count ?? 0)
            + (after?.contents.bytes.count ?? 0)
    }
}
