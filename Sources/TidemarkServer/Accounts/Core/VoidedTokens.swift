import TidemarkModel

/// The tokens that were issued within the second in which their account's tokens were voided, but
/// before that moment.
///
/// Tokens and `validSince` count in seconds, as Firebase's do, so they cannot tell such tokens from
/// later ones. The table keeps them in memory for an hour, their lifetime. A restart empties it.
struct VoidedTokens: Sendable {
    /// When the tokens of an account were voided.
    struct Moment: Hashable, Sendable {
        /// The second since 1970 that `validSince` has.
        let second: Int64
        /// The place in the order of transactions: tokens of earlier ones are void.
        let mark: Int64
    }

    /// A token that was signed a moment ago.
    private struct Issued {
        let account: ChangedAccounts.Account
        let second: Int64
        let mark: Int64
        let signature: String
    }

    /// The maximum number of voided tokens, and of recent ones; the oldest are forgotten first.
    static let capacity = 10_000
    /// The seconds for which moments and recent tokens are kept: a token is signed soon after its
    /// transaction.
    private static let kept: Int64 = 60

    private var moments: [ChangedAccounts.Account: Moment] = [:]
    /// The number of moments from which the old ones are removed.
    private var crowd = 1_000
    private var recent: [Issued] = []
    private var voided: Set<String> = []
    /// The voided tokens with the second of their issue, oldest first.
    private var order: [(signature: String, second: Int64)] = []

    var count: Int { moments.count + recent.count + voided.count }

    mutating func add(_ others: [ChangedAccounts.Account: Moment]) {
        for (account, moment) in others {
            forget(before: moment.second)
            moments[account] = moment
            for token in recent where token.account == account { void(token, by: moment) }
        }
    }

    /// Notes a token that was signed.
    ///
    /// - Parameter mark: The place of its transaction in the order of all.
    mutating func noteIssue(of token: TokenFacts, mark: Int64) {
        guard let signature = token.signature else { return }
        forget(before: token.issuedAt)
        let account = ChangedAccounts.Account(pool: token.pool, localID: token.localID)
        let issued = Issued(
            account: account, second: token.issuedAt, mark: mark, signature: signature)
        if let moment = moments[account] { void(issued, by: moment) }
        recent.append(issued)
    }

    func contain(_ token: TokenFacts) -> Bool {
        token.signature.map { voided.contains($0) } ?? false
    }

    private mutating func void(_ token: Issued, by moment: Moment) {
        guard token.second == moment.second, token.mark < moment.mark,
            voided.insert(token.signature).inserted
        else { return }
        order.append((token.signature, token.second))
    }

    private mutating func forget(before second: Int64) {
        if let first = recent.first,
            first.second < second - 2 * Self.kept || recent.count >= Self.capacity
        {
            recent.removeFirst(max(1, recent.count { $0.second < second - Self.kept }))
        }
        if moments.count >= crowd {
            moments = moments.filter { $0.value.second >= second - Self.kept }
            if moments.count >= Self.capacity { moments = [:] }
            crowd = max(1_000, 2 * moments.count)
        }
        while let first = order.first,
            first.second < second - AccountClaims.lifetime || order.count >= Self.capacity
        {
            voided.remove(first.signature)
            order.removeFirst()
        }
    }
}
