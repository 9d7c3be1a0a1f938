import Foundation
import Testing
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

struct `The rules over HTTP` {
    private let open = "service cloud.firestore { match /{all=**} { allow read; } }"

    private func ask(
        _ endpoint: RulesEndpoint, _ method: String, _ path: String, _ body: Any? = nil,
        project: String? = nil
    ) async throws -> (status: Int, json: [String: Any]) {
        let bytes = try body.map { Array(try JSONSerialization.data(withJSONObject: $0)) } ?? []
        let request = PageRequest(
            method: method, path: path.split(separator: "/").map(String.init),
            query: project.map { [PageRequest.Parameter("project", $0)] } ?? [],
            body: bytes)
        let answer = try #require(await endpoint.answer(request), "nothing is at \(path)")
        guard case .bytes(let text) = answer.body else { return (answer.status, [:]) }
        let json = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        return (answer.status, json ?? ["text": String(decoding: text, as: UTF8.self)])
    }

    private func endpoint() throws -> RulesEndpoint {
        RulesEndpoint(try FirestoreServer(FirestoreServer.Configuration()))
    }

    private func files(_ text: String) -> [String: Any] {
        ["rules": ["files": [["content": text]]]]
    }

    @Test func `puts rules as Google's libraries do`() async throws {
        let endpoint = try endpoint()
        let place = "emulator/v1/projects/demo:securityRules"
        #expect(
            try await ask(endpoint, "GET", "tidemark/v1/rules").json["isInForce"] as? Bool == false)
        let put = try await ask(endpoint, "PUT", place, files(open))
        #expect(put.status == 200 && put.json["issues"] as? [String] == [])
        let wrong = try await ask(
            endpoint, "PUT", place, files("service cloud.firestore { match }"))
        #expect(wrong.status == 400)
        let error = wrong.json["error"] as? [String: Any]
        #expect((error?["message"] as? String)?.hasPrefix("Error compiling rules:\nL1:") == true)
        #expect(error?["status"] as? String == "INVALID_ARGUMENT")
        var lenient = files("nonsense")
        lenient["ignore_errors"] = true
        let issues = try await ask(endpoint, "PUT", place, lenient)
        #expect(issues.status == 200 && (issues.json["issues"] as? [Any])?.isEmpty == false)
        let state = try await ask(endpoint, "GET", "tidemark/v1/rules", project: "demo").json
        #expect(state["source"] as? String == open, "the old rules stay")
        for other in [nil, "elsewhere"] {
            let state = try await ask(endpoint, "GET", "tidemark/v1/rules", project: other).json
            #expect(state["isInForce"] as? Bool == false, "the rules are of the named project")
        }
        #expect(try await ask(endpoint, "PUT", place, ["files": []]).status == 400)
    }

    @Test func `explains, tries and covers`() async throws {
        let endpoint = try endpoint()
        #expect(try await ask(endpoint, "GET", "tidemark/v1/rules/coverage").status == 404)
        _ = try await ask(endpoint, "PUT", "emulator/v1/projects/local:securityRules", files(open))
        let read = try await ask(endpoint, "POST", "tidemark/v1/rules/explain", ["get": "a/b"])
        #expect(read.json["allowed"] as? Bool == true)
        let write = try await ask(
            endpoint, "POST", "tidemark/v1/rules/explain", ["as": "ann", "delete": "a/b"])
        #expect(write.json["allowed"] as? Bool == false)
        #expect(write.json["reason"] as? String == "No rule allows 'delete' at this path.")
        #expect(
            try await ask(endpoint, "POST", "tidemark/v1/rules/explain", ["get": "a"]).status == 400
        )
        let attempt = try await ask(
            endpoint, "POST", "tidemark/v1/rules/try", ["source": "service cloud.firestore {"])
        let severities = (attempt.json["issues"] as? [[String: Any]])?.map {
            $0["severity"] as? String
        }
        #expect(severities?.first == "error")
        let covered = try await ask(endpoint, "GET", "emulator/v1/projects/local:ruleCoverage")
        #expect(covered.status == 200 && covered.json["report"] != nil)
        let page = try await ask(endpoint, "GET", "emulator/v1/projects/local:ruleCoverage.html")
        #expect((page.json["text"] as? String)?.contains("Coverage of the rules") == true)
        #expect(try await ask(endpoint, "DELETE", "tidemark/v1/rules/requests").status == 200)
        #expect(try await ask(endpoint, "PATCH", "tidemark/v1/rules").status == 405)
        let unknown = PageRequest(path: ["tidemark", "v1", "rules", "else"])
        #expect(await endpoint.answer(unknown) == nil)
    }
}
