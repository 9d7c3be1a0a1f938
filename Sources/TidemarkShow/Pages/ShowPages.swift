import Foundation
import TidemarkConsole
import TidemarkHTTP
import TidemarkPhones

/// The show's HTTP pages: the page itself, its changed parts, and its orders.
struct ShowPages: WebPages {
    let source: any ShowSource
    /// The minimum time between two updates.
    private static let pause = Duration.milliseconds(100)
    private static let maxOrderBytes = 16_384

    func answer(_ request: PageRequest) async -> PageAnswer? {
        switch (request.method, request.path) {
        case ("GET", []):
            let bytes = ShowPage.document(await source.current())
            var page = PageAnswer(type: "text/html; charset=utf-8", body: .bytes(bytes))
            page.containsPictures = true
            return page
        case ("GET", ["state.json"]): return .json(await source.current())
        case ("GET", ["assets", "show.css"]):
            return Assets.file(PackageResources.show_css, "text/css; charset=utf-8")
        case ("GET", ["assets", "show.js"]):
            return Assets.file(PackageResources.show_js, "text/javascript; charset=utf-8")
        case ("GET", ["assets", "icon.svg"]): return Assets.icon
        case ("GET", ["events"]): return .events(await events())
        case ("POST", ["do"]): return await order(request.body)
        default: return nil
        }
    }

    private func events() async -> AsyncStream<ServerEvent> {
        let states = await source.states()
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { sink in
            let task = Task {
                for await state in states {
                    sink.yield(ServerEvent(name: "parts", data: ShowPage.json(state)))
                    try? await Task.sleep(for: Self.pause)
                }
                sink.finish()
            }
            sink.onTermination = { _ in task.cancel() }
        }
    }

    private func order(_ body: [UInt8]) async -> PageAnswer {
        guard body.count <= Self.maxOrderBytes,
            let form = JSONLine.decode(OrderForm.self, Data(body))
        else { return .json(["error": "This is not a command."], status: 400) }
        do throws(OrderError) {
            try await source.order(try form.parsed())
            return .json(["status": "done"])
        } catch { return .json(["error": error.message], status: 400) }
    }
}
