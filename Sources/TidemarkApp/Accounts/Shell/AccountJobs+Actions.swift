import Foundation
import Tidemark

// Performs each action of a job, and translates its result.

extension AccountJobs {
    func answer(to action: AccountAction, _ record: AccountRecord) async -> AccountJobEvent {
        switch action {
        case .makeAccount: return .account(await makeAccount(record))
        case .createProfile(let user):
            let answer = await profiles.create(user, record.fields, id: record.id)
            LaunchMetrics.profile(answer)
            if answer == .refused || answer == .unreachable {
                for observer in observers { observer.receive(.profileFailed(answer)) }
            }
            return .profile(answer)
        case .readProfile(let user):
            return .compared(await profiles.compare(user, record.fields, id: record.id))
        case .setFlag(let user): return .flagSet(setFlag(user))
        case .findAccount: return await findAccount(record)
        case .checkLogin(let user): return .login(await checkLogin(user))
        case .removeProfile(let user, let onlyOwn):
            return .profileRemoved(await removeProfile(user, record, onlyOwn: onlyOwn))
        case .removeAccount(let user): return .accountRemoved(await removeAccount(user, record))
        case .eraseLocal(let user):
            await eraseLocal(user, record)
            return .erased
        }
    }

    enum SecretReading {
        case secret(SignUpSecret)
        case gone, unreadable
    }

    func secret() -> SecretReading {
        do throws(CredentialStoreError) {
            guard let bytes = try secrets.read(.signUp),
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
            let signedIn = try await identity.signIn(
                SignInRequest(Self.proof(record.method, secret), mayCreate: true) { [probe] in
                    probe?("account made, nothing kept")
                })
            return signedIn.isNew ? .made(signedIn.user) : .existed(signedIn.user)
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

    static func proof(
        _ method: AccountRecord.Method, _ secret: SignUpSecret
    ) -> SignInRequest.Proof {
        switch method {
        case .password(let address), .installation(let address):
            .password(email: address, secret.password ?? "")
        case .provider(let provider):
            .provider(
                ProviderCredential(
                    provider: provider, idToken: secret.token ?? "", nonce: secret.nonce))
        case .customToken: .customToken(secret.token ?? "")
        }
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
            return .found(try await find(record.method, secret).user)
        } catch {
            return switch error {
            case .wrongCredentials, .accountGone, .accountDisabled: .found(nil)
            case .providerRefused, .sessionExpired: .couldNotLook(secretGone: true)
            default: .couldNotLook(secretGone: false)
            }
        }
    }

    /// Signs in with the secret of the account, if it was created.
    func find(
        _ method: AccountRecord.Method, _ secret: SignUpSecret
    ) async throws(AccountError) -> SignedIn {
        try await identity.signIn(SignInRequest(Self.proof(method, secret), mayCreate: false))
    }

    // MARK: This device

    private func setFlag(_ user: UserID) -> Bool {
        do {
            try files.update { facts in
                facts.completeProfile = user
                facts.lastUser = user
            }
            try identity.completeSignUp()
            try secrets.write(.signUp, nil)
            return true
        } catch { return false }
    }

    private func eraseLocal(_ user: UserID?, _ record: AccountRecord) async {
        // A secret that cannot be removed now belongs to an account that no longer exists, so the
        // secret is useless.
        try? secrets.write(.signUp, nil)
        if let user {
            try? files.update { facts in
                if facts.completeProfile == user { facts.completeProfile = nil }
                if facts.lastUser == user { facts.lastUser = nil }
                if facts.removing == user { facts.removing = nil }
            }
        }
        var erases = false
        if case .deleting = record.phase { erases = true }
        if let user, identity.user == user {
            try? await identity.signOut(.removed, erasing: erases)
        } else {
            try? identity.completeSignUp()
        }
    }
}

extension AccountRecord {
    /// The fields of the profile. A damaged record is not read at all.
    var fields: MapValue { (try? FieldsCodec.decode(profile)) ?? [:] }
}
