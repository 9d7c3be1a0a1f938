import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// The pages of accounts, and the requests that change accounts.
struct AccountRoutes {
    let console: Console
    private var accounts: AccountsServer? { console.accounts }

    func answer(
        _ path: [String], request: PageRequest, form: PageForm
    ) async -> PageAnswer {
        guard let accounts else {
            return ErrorPage(section: .accounts, error: "This server has no accounts.")
                .answer(404, form)
        }
        let project =
            path.first ?? request["project"]
            ?? console.server.databases().first?.project ?? accounts.settings.project
        let desk = AccountDesk(accounts: accounts, project: project)
        do throws(AccountRefusal) {
            guard path.count > 1 else {
                return form.answer(try await desk.page(after: request["page"]))
            }
            if let page = try await desk.account(path[1]) { return form.answer(page) }
            return ErrorPage(section: .accounts, error: "This account does not exist.")
                .answer(404, form)
        } catch {
            return ErrorPage(section: .accounts, error: error.message).answer(error.status, form)
        }
    }

    func change(
        _ path: [String], _ request: PageRequest
    ) async throws(PageRefusal) -> PageAnswer {
        guard let accounts else { throw PageRefusal(404, "This server has no accounts.") }
        guard
            case .object(let order)? = try? JSONDecoder().decode(
                JSONTree.self, from: Data(request.body))
        else { throw PageRefusal(400, "The body must be a JSON object.") }
        let project = path.first ?? accounts.settings.project
        let id = path.count > 1 && !path[1].isEmpty ? path[1] : nil
        do throws(AccountRefusal) {
            let reply = try await AccountDesk(accounts: accounts, project: project).change(
                id, order)
            return .json(JSONTree.object(reply))
        } catch { throw PageRefusal(error.status, error.message) }
    }
}
