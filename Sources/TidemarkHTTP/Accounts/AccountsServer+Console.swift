package import TidemarkServer

extension AccountsServer {
    /// Asks as an administrator of this machine does: the server's own pages.
    ///
    /// - Throws: Why not, in the protocol's words.
    package func ask(
        _ method: AccountMethod, project: String, fields: [String: JSONTree]
    ) async throws(AccountRefusal) -> [String: JSONTree] {
        guard AccountsSettings.isProject(project) else {
            throw AccountRefusal("INVALID_PROJECT_ID")
        }
        var call = AccountCall(method, project: project, fields: AccountFields(fields))
        call.isAdmin = true
        return try await perform(call)
    }

    /// What a token says, whoever made it, and whether this server takes it.
    ///
    /// - Throws: For what is no token.
    package func takeApart(
        _ token: String
    ) async throws(AccountRefusal) -> (claims: [String: JSONTree], verdict: String) {
        let claims: [String: JSONTree]
        do { claims = try TokenDesk.unverified(token) } catch { throw .invalidIDToken }
        do throws(AccountRefusal) {
            _ = try await facts(ofCaller: token)
            return (claims, "This server takes it.")
        } catch { return (claims, "This server refuses it: \(error.message)") }
    }
}
