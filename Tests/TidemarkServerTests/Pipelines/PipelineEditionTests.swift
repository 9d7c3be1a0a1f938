import Testing
import TidemarkModel
import TidemarkServer

struct PipelineEditionTests {
    @Test func `a database of the Standard edition refuses every pipeline`() throws {
        let server = try TestServer()
        for stage in [Pipeline.Stage.collection("c"), Pipeline.Stage(name: "nothing"), .delete] {
            let refused = try #require(refusal { _ = try server.execute(stage) })
            #expect(refused.code == .failedPrecondition)
            #expect(
                refused.message.hasPrefix(
                    """
                    Pipeline Operations are only available for Firestore databases in Enterprise \
                    edition.

                    Please switch to an Enterprise edition database to take advantage of such \
                    functionality.
                    """))
            #expect(refused.message.hasSuffix("only allowed on ENTERPRISE mode"))
            #expect(
                refused.details.first
                    == .errorInfo(
                        reason: "PIPELINE_REQUIRES_ENTERPRISE_EDITION",
                        domain: "firestore.googleapis.com", metadata: [:]))
        }
        #expect(server.reads("unlabelled") == 0)
    }

    @Test func `each database has its own edition, or the common one`() throws {
        let editions = DatabaseEditions(.standard, own: ["shop": .enterprise])
        #expect(editions.edition(of: try DatabaseID(project: "p")) == .standard)
        #expect(editions.edition(of: try DatabaseID(project: "p", database: "shop")) == .enterprise)
        let server = try TestServer(editions: DatabaseEditions(.enterprise))
        #expect(server.server.edition(of: server.database) == .enterprise)
    }

    @Test func `a request without a pipeline is refused`() throws {
        let server = try TestServer.enterprise()
        let refused = refusal {
            _ = try server.replies(.executePipeline(ExecutePipelineRequest(pipeline: nil)))
        }
        #expect(refused == .invalidArgument("Only structured pipelines are supported."))
    }

    @Test(arguments: [
        ("fast", "text", "The explain mode \"fast\" is none of execute, analyze, explain."),
        ("explain", "xml", "The output format \"xml\" is neither text nor json."),
    ])
    func `an unknown explanation is refused`(mode: String, form: String, text: String) throws {
        let server = try TestServer.enterprise()
        #expect(
            refusal {
                _ = try server.execute(.collection("c"), options: explaining(mode, as: form))
            } == .invalidArgument(text))
    }
}
