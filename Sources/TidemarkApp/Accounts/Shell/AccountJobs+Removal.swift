import Tidemark

// The acts of a removal, and the sign-in that a removal may need.

extension AccountJobs {
    /// The record of a removal that waits for the user; nil if there is none.
    var removalThatWaits: AccountRecord? {
        switch (job.work, job.record?.phase) {
        case (.idle, .deleting), (.idle, .undoing), (.parkedForPerson, .deleting),
            (.parkedForPerson, .undoing):
            job.record
        default: nil
        }
    }

    /// Signs the user in again, and continues the removal, which asks the user again if the sign-in
    /// failed or was another user's.
    func confirm(_ record: AccountRecord, _ proof: SignInRequest.Proof) {
        Task {
            let request = SignInRequest(proof, mayCreate: false)
            if let signedIn = try? await identity.signIn(request), signedIn.isNew,
                signedIn.user != record.user
            {
                // Some servers create an account for an unknown identity.
                try? await identity.deleteAccount(of: signedIn.user)
            }
            continueRemoval(record)
        }
    }

    /// Removes the profile. Its account follows.
    func removeProfile(
        _ user: UserID, _ record: AccountRecord, onlyOwn: Bool
    ) async -> RemovalAnswer {
        if isRemoved(user) { return .gone }
        return await profiles.remove(user, onlyID: onlyOwn ? record.id : nil)
    }

    /// Returns true if the app was killed after the account was deleted and before the journal
    /// was cleared, for an identity whose session ends with the account. The profile was removed
    /// before.
    private func isRemoved(_ user: UserID) -> Bool {
        guard identity.endsSessionWithAccount, files.known.removing == user,
            case .signedOut = identity.state
        else { return false }
        return true
    }

    /// Runs before any deletion: an account that the server will not delete keeps its profile.
    func checkLogin(_ user: UserID) async -> RemovalAnswer {
        if isRemoved(user) { return .gone }
        guard identity.user == user else { return .needsLogin }
        do throws(AccountError) {
            guard let age = try await identity.signInAge(of: user) else { return .needsLogin }
            return age <= Self.recentSignIn ? .gone : .needsLogin
        } catch { return error == .accountGone ? .gone : Self.removal(error) }
    }

    /// The maximum age of a sign-in with which this job begins a deletion. Source: Identity Toolkit
    /// requires five minutes; the rest is a margin for the actions before the deletion.
    static let recentSignIn = Duration.seconds(240)

    func removeAccount(_ user: UserID, _ record: AccountRecord) async -> RemovalAnswer {
        if isRemoved(user) { return .gone }
        do throws(AccountError) {
            try note(removing: user)
            try await identity.deleteAccount(of: user)
            return .gone
        } catch {
            switch error {
            case .accountGone: return .gone
            case .needsRecentSignIn, .sessionExpired, .signedOut:
                guard case .undoing = record.phase else { return .needsLogin }
                return await removeAnew(user, record)
            default: return Self.removal(error)
            }
        }
    }

    /// Records that the account may be gone from now on.
    private func note(removing user: UserID) throws(AccountError) {
        guard identity.endsSessionWithAccount else { return }
        do throws(LaunchFiles.Failure) { try files.update { $0.removing = user } } catch {
            throw .storage(.failed(error.detail))
        }
    }

    /// Signs in again with the secret that a sign-up still has, and removes the account.
    private func removeAnew(_ user: UserID, _ record: AccountRecord) async -> RemovalAnswer {
        guard case .secret(let secret) = secret() else { return .needsLogin }
        do throws(AccountError) {
            guard try await find(record.method, secret).user == user else { return .gone }
            try await identity.deleteAccount(of: user)
            return .gone
        } catch {
            switch error {
            case .accountGone, .wrongCredentials: return .gone
            default: return Self.removal(error)
            }
        }
    }

    private static func removal(_ error: AccountError) -> RemovalAnswer {
        switch error {
        case .needsRecentSignIn, .sessionExpired, .signedOut, .wrongCredentials: .needsLogin
        default: .unreachable
        }
    }
}
