import Foundation
import Synchronization
import Tidemark

// Performs each act of a job, and translates its result.

extension AccountJobs {
    func answer(to act: AccountAct, _ record: AccountRecord) async -> AccountJobEvent {
        switch act {
        case .makeAccount: return .account(await makeAccount(record))
        case .createProfile(let user):
            let answer = await profiles.create(user, record.fields, id: record.id)
            LaunchMetrics.profile(answer)
            return .profile(answer)
        case .readProfile(let user):
            return .compared(await profiles.compare(user, record.fields, id: record.id))
        case .setFlag(let user): return .flagSet(setFlag(user))
        case .findAccount: return await findAccount(record)
        case .checkLogin(let user): return .login(await checkLogin(user))
        case .removeProfile(let user, let onlyOwn):
            return .profileRemoved(
                await profiles.remove(user, onlyID: onlyOwn ? record.id : nil))
        case .removeAccount(let user): return .accountRemoved(await removeAccount(user, record))
        case .eraseLocal(let user):
            await eraseLocal(user, record)
            return .erased
        }
    }

    private enum SecretReading {
        case secret(SignUpSecret)
        case gone, unreadable
    }

    private func secret() -> SecretReading {
        do throws(CredentialStoreError) {
            guard let bytes = try accounts.store.read(.signUp),
                let secret = try? JSONDecoder().decode(SignUpSecret.self, from: Data(bytes))
            else { return .gone }
            return .secret(secret)
        } catch { return .unreadable }
    }

    // MARK: The account

    private func makeAccount(_ record: AccountRecord) async -> AccountAnswer {
        let secret: SignUpSecret
        switch self.secret() {
        case .secret(let found): secret = found
        case .gone: return .secretGone
        case .unreadable: return .unreachable
        }
        do throws(AccountError) {
            let signIn = try await make(record.method, secret)
            reached("account made, nothing kept")
            try await accounts.begin(
                signIn, isOfSignUp: true, with: Self.credential(record.method, secret))
            return signIn.isNew ? .made(signIn.user) : .existed(signIn.user)
        } catch {
            return switch error {
            case .addressTaken, .wrongCredentials: .taken
            case .unreachable, .storage, .tooManyAttempts, .refused: .unreachable
            case .providerRefused, .sessionExpired, .signedOut, .needsRecentSignIn: .secretGone
            case .addressInvalid, .passwordWeak, .accountDisabled, .alreadyLinked, .notAllowed,
                .keyRefused, .accountGone, .needsSecondFactor, .phoneInvalid, .wrongCode,
                .codeExpired:
                .refused
            }
        }
    }

    private func make(
        _ method: AccountRecord.Method, _ secret: SignUpSecret
    ) async throws(AccountError) -> AccountsService.SignIn {
        switch method {
        case .password(let address), .installation(let address):
            let password = secret.password ?? ""
            do throws(AccountError) {
                return try await accounts.service.signUp(email: address, password: password)
            } catch {
                // The address may be taken by this same request, whose answer was lost.
                guard error == .addressTaken else { throw error }
                return try await accounts.service.signIn(email: address, password: password)
            }
        case .provider, .customToken: return try await signIn(method, secret)
        }
    }

    /// Signs in with the secret of the account, if it was created.
    private func signIn(
        _ method: AccountRecord.Method, _ secret: SignUpSecret
    ) async throws(AccountError) -> AccountsService.SignIn {
        switch method {
        case .password(let address), .installation(let address):
            return try await accounts.service.signIn(
                email: address, password: secret.password ?? "")
        case .provider(let provider):
            return try await accounts.service.signIn(with: Self.credential(provider, secret))
        case .customToken:
            return try await accounts.service.signIn(customToken: secret.token ?? "")
        }
    }

    private static func credential(
        _ provider: String, _ secret: SignUpSecret
    ) -> ProviderCredential {
        ProviderCredential(provider: provider, idToken: secret.token ?? "", nonce: secret.nonce)
    }

    private static func credential(
        _ method: AccountRecord.Method, _ secret: SignUpSecret
    ) -> ProviderCredential? {
        if case .provider(let provider) = method { credential(provider, secret) } else { nil }
    }

    /// Looks for the account. For providers and custom tokens the search creates the account, which
    /// is then removed as well.
    private func findAccount(_ record: AccountRecord) async -> AccountJobEvent {
        let secret: SignUpSecret
        switch self.secret() {
        case .secret(let found): secret = found
        case .gone: return .couldNotLook(secretGone: true)
        case .unreadable: return .couldNotLook(secretGone: false)
        }
        do throws(AccountError) {
            let signIn = try await signIn(record.method, secret)
            if accounts.user == nil {
                try await accounts.begin(
                    signIn, isOfSignUp: true, with: Self.credential(record.method, secret))
            } else if accounts.user != signIn.user {
                foreign = signIn
            }
            return .found(signIn.user)
        } catch {
            return switch error {
            case .wrongCredentials, .accountGone, .accountDisabled: .found(nil)
            case .providerRefused, .sessionExpired: .couldNotLook(secretGone: true)
            default: .couldNotLook(secretGone: false)
            }
        }
    }

    // MARK: This device

    private func setFlag(_ user: UserID) -> Bool {
        do {
            try files.update { facts in
                facts.completeProfile = user
                facts.lastUser = user
            }
            try accounts.completeSignUp()
            try accounts.store.write(.signUp, nil)
            return true
        } catch { return false }
    }

    private func eraseLocal(_ user: UserID?, _ record: AccountRecord) async {
        // A secret that cannot be removed now belongs to an account that no longer exists, so the
        // secret is useless.
        try? accounts.store.write(.signUp, nil)
        foreign = nil
        guard let user else { return }
        try? files.update { facts in
            if facts.completeProfile == user { facts.completeProfile = nil }
            if facts.lastUser == user { facts.lastUser = nil }
        }
        var erases = false
        if case .deleting = record.phase { erases = true }
        if accounts.user == user { try? await accounts.end(.removed, erasing: erases) }
    }

    // MARK: Removal

    /// Runs before any deletion: an account that the server will not delete keeps its profile.
    private func checkLogin(_ user: UserID) async -> RemovalAnswer {
        guard accounts.user == user else { return .needsLogin }
        do throws(AccountError) {
            // A new token contains the server's time; this device's clock has no influence.
            let token = try await accounts.renew(
                replacing: accounts.held.withLock { $0.session?.idToken })?.idToken
            guard let age = token.flatMap(Self.signInAge) else { return .needsLogin }
            return age <= Self.recentSignIn ? .gone : .needsLogin
        } catch { return error == .accountGone ? .gone : Self.removal(error) }
    }

    /// The maximum age of a sign-in in seconds at which the server still deletes, with a margin for
    /// the acts before. Source: Identity Toolkit requires five minutes.
    static let recentSignIn: Int64 = 240

    /// Returns the seconds from the sign-in to the creation of the token.
    static func signInAge(_ token: String) -> Int64? {
        struct Claims: Decodable { let iat, auth_time: Int64 }
        guard let claims = TokenClaims.read(Claims.self, from: token) else { return nil }
        return claims.iat - claims.auth_time
    }

    private func removeAccount(_ user: UserID, _ record: AccountRecord) async -> RemovalAnswer {
        do throws(AccountError) {
            let token = try await token(of: user)
            guard let token else { return .needsLogin }
            try await accounts.service.delete(token)
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

    /// Returns the token of the session, or of an account beside the session.
    private func token(of user: UserID) async throws(AccountError) -> String? {
        if let foreign, foreign.user == user { return foreign.idToken }
        guard accounts.user == user else { return nil }
        return try await accounts.renew(replacing: nil)?.idToken
    }

    /// Signs in again with the secret that a sign-up still has, and removes the account.
    private func removeAnew(_ user: UserID, _ record: AccountRecord) async -> RemovalAnswer {
        guard case .secret(let secret) = secret() else { return .needsLogin }
        do throws(AccountError) {
            let signIn = try await signIn(record.method, secret)
            guard signIn.user == user else { return .gone }
            try await accounts.service.delete(signIn.idToken)
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

extension AccountRecord {
    /// The fields of the profile. A damaged record is not read at all.
    var fields: MapValue { (try? FieldsCodec.decode(profile)) ?? [:] }
}
