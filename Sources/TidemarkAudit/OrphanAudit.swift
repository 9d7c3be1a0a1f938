public import TidemarkModel

/// Finds all accounts without a profile and all profiles without an account, in constant memory.
///
/// Compares pages of ids from both sides as they arrive. Checks each presumed orphan once more,
/// because the two sides were not read at the same moment. Costs a read for each profile, a read
/// for each check, and one write for the report.
public struct OrphanAudit: Sendable {
    private let accounts: AccountDirectory
    private let profiles: ProfileDirectory
    private let report: DocumentPath?
    /// The minimum age of an account to count, in seconds. A younger account may still be signing
    /// up.
    private let grace: Int64
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - accounts: The accounts of the project.
    ///   - profiles: The profiles of the accounts.
    ///   - report: The document to which the result is written; nil for none.
    ///   - grace: The minimum age of an account to count, in whole seconds.
    ///   - now: Returns the current time.
    public init(
        accounts: AccountDirectory, profiles: ProfileDirectory, report: DocumentPath?,
        grace: Duration = .seconds(600), now: @escaping @Sendable () -> Timestamp
    ) {
        self.accounts = accounts
        self.profiles = profiles
        self.report = report
        self.grace = grace.components.seconds
        self.now = now
    }

    /// - Throws: ``AuditError`` or `RPCStatus`. If the comparison did not complete, the audit
    ///   writes nothing.
    public func run(repair: OrphanRepair? = nil) async throws -> OrphanReport {
        do {
            let report = try await compare(repair)
            AuditMetrics.ended(report)
            return report
        } catch {
            AuditMetrics.failed()
            throw error
        }
    }

    private func compare(_ repair: OrphanRepair?) async throws -> OrphanReport {
        var reads = 0
        let merge = try await merge(&reads)
        var result = OrphanReport(
            detectedAt: now(), accounts: merge.counts.accounts, profiles: merge.counts.profiles,
            accountsWithoutProfile: .init(count: 0, ids: []),
            profilesWithoutAccount: .init(count: 0, ids: []), tooYoung: 0, reads: 0)
        result.accountsWithoutProfile = try await confirmed(
            accounts: merge.accountsWithoutProfile, &reads, &result.tooYoung)
        result.profilesWithoutAccount = try await confirmed(
            profiles: merge.profilesWithoutAccount, &reads)
        result.reads = reads
        if let report {
            let mutation = Mutation(path: report, .set(result.fields))
            _ = try await profiles.transport.commit(
                [mutation], try await profiles.context())
        }
        if let repair { result.repaired = try await perform(repair, on: result) }
        return result
    }

    private func merge(_ reads: inout Int) async throws -> OrphanMerge {
        var merge = OrphanMerge()
        var mark: String?
        var last: String?
        var time: Timestamp?
        while true {
            try Task.checkCancellation()
            switch merge.step() {
            case .done: return merge
            case .page(.accounts):
                let page = try await accounts.page(after: mark)
                mark = page.next
                try merge.take(page.ids, of: .accounts, isLast: page.next == nil)
            case .page(.profiles):
                let page = try await profiles.page(after: last, at: time)
                reads += max(1, page.ids.count)
                time = time ?? page.readTime
                last = page.ids.last
                let isLast = page.ids.count < ProfileDirectory.pageSize
                try merge.take(page.ids, of: .profiles, isLast: isLast)
            }
        }
    }

    // MARK: Looking again

    private func confirmed(
        accounts found: OrphanMerge.Found, _ reads: inout Int, _ tooYoung: inout Int
    ) async throws -> OrphanReport.Orphans {
        var ids: [String] = []
        let youngest = now().seconds - grace
        for part in found.ids.parts(of: AccountDirectory.lookupSize) {
            let known = try await accounts.known(part)
            reads += part.count
            let withProfile = try await profiles.known(part)
            for id in part {
                guard let createdAt = known[id], !withProfile.contains(id) else { continue }
                if createdAt > youngest { tooYoung += 1 } else { ids.append(id) }
            }
        }
        return .init(count: ids.count + found.count - found.ids.count, ids: ids)
    }

    private func confirmed(
        profiles found: OrphanMerge.Found, _ reads: inout Int
    ) async throws -> OrphanReport.Orphans {
        var ids: [String] = []
        for part in found.ids.parts(of: AccountDirectory.lookupSize) {
            reads += part.count
            let known = try await profiles.known(part)
            let withAccount = try await accounts.known(part)
            ids += part.filter { known.contains($0) && withAccount[$0] == nil }
        }
        return .init(count: ids.count + found.count - found.ids.count, ids: ids)
    }

    /// - Returns: The number of accounts or profiles that were deleted or written, among those with
    ///   known ids.
    private func perform(_ repair: OrphanRepair, on report: OrphanReport) async throws -> Int {
        switch repair {
        case .deleteAccounts:
            let ids = report.accountsWithoutProfile.ids
            for part in ids.parts(of: AccountDirectory.pageSize) { try await accounts.delete(part) }
            return ids.count
        case .writeProfiles:
            var made = 0
            for id in report.accountsWithoutProfile.ids
            where try await profiles.writeStub(of: id, at: now()) { made += 1 }
            return made
        case .deleteProfiles:
            let ids = report.profilesWithoutAccount.ids
            for part in ids.parts(of: 500) { try await profiles.delete(part) }
            return ids.count
        }
    }
}

extension Array {
    fileprivate func parts(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
