import Foundation
import TidemarkStore

/// The configurations of a project, stored in their original JSON.
struct ProviderConfigurations {
    /// The maximum number of configurations of a kind.
    static let capacity = 1_000

    let project: String
    let kind: String
    let transaction: StoreTransaction

    func configuration(_ id: String) throws(StoreError) -> [String: JSONTree]? {
        try transaction.rows(
            "SELECT json FROM providerConfiguration WHERE project = ? AND kind = ? AND id = ?",
            [.text(project), .text(kind), .text(id)]
        ).first.flatMap { row throws(StoreError) in AccountClaims.object(try row.text(0)) }
    }

    func page(after id: String, limit: Int) throws(StoreError) -> [(String, [String: JSONTree])] {
        try transaction.rows(
            """
            SELECT id, json FROM providerConfiguration WHERE project = ? AND kind = ? AND id > ?
            ORDER BY id LIMIT ?
            """, [.text(project), .text(kind), .text(id), .integer(Int64(limit))]
        ).map { row throws(StoreError) in
            (try row.text(0), AccountClaims.object(try row.text(1)) ?? [:])
        }
    }

    func count() throws(StoreError) -> Int64 {
        try transaction.rows(
            "SELECT COUNT(*) FROM providerConfiguration WHERE project = ? AND kind = ?",
            [.text(project), .text(kind)])[0].integer(0)
    }

    func put(_ id: String, _ fields: [String: JSONTree]) throws(StoreError) {
        try transaction.execute(
            "INSERT OR REPLACE INTO providerConfiguration VALUES (?, ?, ?, ?)",
            [.text(project), .text(kind), .text(id), .text(AccountClaims.text(fields))])
    }

    func delete(_ id: String) throws(StoreError) {
        try transaction.execute(
            "DELETE FROM providerConfiguration WHERE project = ? AND kind = ? AND id = ?",
            [.text(project), .text(kind), .text(id)])
    }
}
