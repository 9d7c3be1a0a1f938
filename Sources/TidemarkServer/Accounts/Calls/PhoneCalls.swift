/// Sends codes to phones, and signs in with these codes. Source: firebase-tools,
/// `src/emulator/auth/operations.ts`.
struct PhoneCalls: AccountCalls {
    let turn: AccountTurn

    /// The number of wrong codes that ends a session, if tokens are signed.
    static let maxFailures: Int64 = 5

    private var table: PhoneCodeTable {
        PhoneCodeTable(project: call.pool.name, transaction: transaction)
    }

    // MARK: Sending

    /// Makes a code for the owner of a phone number. The code is stored in the project, from which
    /// a sender of messages reads it.
    func sendCode() throws -> AccountReply {
        // Production returns the same error for a missing number.
        guard let number = try fields.phoneNumber() else { throw AccountRefusal.invalidPhoneNumber }
        let session = Base64.text(environment.randomBytes(48), isURL: true)
        try table.insert(
            PhoneCode(
                digest: digest(session), session: session, code: newCode(), phoneNumber: number,
                createdAt: now))
        return AccountReply(["sessionInfo": .text(session)])
    }

    func listCodes() throws -> AccountReply {
        let list = try table.codes().map { code in
            JSONTree.object([
                "phoneNumber": .text(code.phoneNumber), "sessionInfo": .text(code.session ?? ""),
                "code": .text(code.code ?? ""),
            ])
        }
        var reply = AccountReply(["verificationCodes": .list(list)])
        let factors = try FactorCalls(turn: turn).currentCodes()
        if !factors.isEmpty { reply.fields["totpCodes"] = .list(factors) }
        return reply
    }

    /// Returns six random digits. All values have the same probability.
    private func newCode() -> String {
        let bound: UInt32 = 4_294_000_000
        while true {
            let number = environment.randomBytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard number < bound else { continue }
            let digits = String(number % 1_000_000)
            return String(repeating: "0", count: 6 - digits.utf8.count) + digits
        }
    }

    private func digest(_ text: String) -> [UInt8] { environment.digest(Array(text.utf8)) }

    // MARK: Signing in

    /// Signs in with the code of a session, or adds the number to the caller's account.
    ///
    /// If the number belongs to another account, the reply contains a proof. With the proof, the
    /// client can sign in to that account without a second code.
    func signIn() throws -> AccountReply {
        let proof = try fields.filled("temporaryProof")
        let shown = try proof.map(proven) ?? sent()
        if proof == nil {
            guard let text = try fields.filled("code") else { throw AccountRefusal("MISSING_CODE") }
            guard isSame(Array((shown.code ?? "").utf8), Array(text.utf8)) else {
                return try refuse(shown)
            }
        }
        let holder = fields.has("idToken") ? try turn.user() : nil
        let known = try accounts.account(phoneNumber: shown.phoneNumber)
        if let holder, let known, holder.row != known.row {
            if proof != nil { throw AccountRefusal.phoneNumberExists }
            return try prove(shown)
        }
        // In an emulator, a proof can be used several times.
        if proof == nil || isSecure { try table.delete(shown) }
        return try grant(shown.phoneNumber, to: holder ?? known)
    }

    private func proven(_ proof: String) throws -> PhoneCode {
        guard let number = try fields.phoneNumber() else {
            throw AccountRefusal("MISSING_PHONE_NUMBER")
        }
        guard let found = try table.code(digest(proof)), found.code == nil,
            found.phoneNumber == number, now - found.createdAt <= PhoneCodeTable.lifetime
        else { throw AccountRefusal("INVALID_TEMPORARY_PROOF") }
        return found
    }

    private func sent() throws -> PhoneCode {
        guard let session = try fields.filled("sessionInfo") else {
            throw AccountRefusal("MISSING_SESSION_INFO")
        }
        guard let found = try table.code(digest(session)), found.code != nil else {
            throw AccountRefusal("INVALID_SESSION_INFO")
        }
        if now - found.createdAt > PhoneCodeTable.lifetime {
            throw AccountRefusal("SESSION_EXPIRED")
        }
        return found
    }

    /// Counts a wrong code. There are a million codes; the count prevents that a client tries them
    /// all, if tokens are signed.
    private func refuse(_ code: PhoneCode) throws -> AccountReply {
        if isSecure {
            let failures = code.failures + 1
            if failures >= Self.maxFailures {
                try table.delete(code)
            } else {
                try table.setFailures(of: code, to: failures)
            }
        }
        return AccountReply(refusal: AccountRefusal("INVALID_CODE"))
    }

    private func prove(_ code: PhoneCode) throws -> AccountReply {
        let proof = Base64.text(environment.randomBytes(48), isURL: true)
        try table.delete(code)
        try table.insert(
            PhoneCode(digest: digest(proof), phoneNumber: code.phoneNumber, createdAt: now))
        return AccountReply([
            "temporaryProof": .text(proof), "phoneNumber": .text(code.phoneNumber),
            "temporaryProofExpiresIn": .text(String(PhoneCodeTable.lifetime / 1_000)),
        ])
    }

    /// - Parameter known: The account; nil creates an account.
    private func grant(_ number: String, to known: Account?) throws -> AccountReply {
        if known == nil, try fields.filled("operation") == "REAUTH" {
            throw AccountRefusal.userNotFound
        }
        if known?.isDisabled == true { throw AccountRefusal.userDisabled }
        var account = known ?? Account(localID: turn.newLocalID(), createdAt: now)
        if let old = account.phoneNumber, old != number { try turn.revokeTokens(of: &account) }
        account.phoneNumber = number
        if known == nil {
            account.validSince = seconds
            try turn.create(&account, by: "phone")
        }
        var reply = AccountReply([
            "isNewUser": .bool(known == nil), "phoneNumber": .text(number),
            "localId": .text(account.localID),
        ])
        try turn.signIn(&reply, to: &account, provider: "phone")
        return reply
    }
}
