import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// The pages of the past, and the requests that restore earlier versions.
struct HistoryRoutes {
    let console: Console
    private var server: FirestoreServer { console.server }
    private var insight: ServerInsight { ServerInsight(server) }

    func answer(_ path: [String], request: PageRequest, form: PageForm) async -> PageAnswer {
        var path = path
        if path.isEmpty, let first = server.databases().first {
            path = [first.project, first.database]
        }
        guard !path.isEmpty else {
            return ErrorPage(section: .history, error: "There is no data yet.").answer(404, form)
        }
        do throws(PageRefusal) {
            let place = try DataPlace(path, request)
            guard let kept = insight.history(of: place.database) else {
                throw PageRefusal(404, "This database is empty.")
            }
            if request["times"] != nil { return try times(place, kept.oldest) }
            if case .document(let document) = place.kind {
                return form.answer(try await versions(of: document, place, kept.oldest))
            }
            return form.answer(try await changes(place, request: request, kept: kept))
        } catch { return error.answer(.history, form) }
    }

    private static func unreadable(_ error: RPCStatus) -> PageRefusal {
        PageRefusal(503, error.message)
    }

    private func times(_ place: DataPlace, _ oldest: Timestamp) throws(PageRefusal) -> PageAnswer {
        do throws(RPCStatus) {
            let times = try insight.commitTimes(of: place.database, limit: CommitTimes.maxTimes)
            return .json(
                CommitTimes(
                    times: times.filter { $0 >= oldest }.map(\.rfc3339), oldest: oldest.rfc3339))
        } catch { throw Self.unreadable(error) }
    }

    private func changes(
        _ place: DataPlace, request: PageRequest, kept: (oldest: Timestamp, newest: Timestamp)
    ) async throws(PageRefusal) -> ChangesPage {
        let to = try Self.time(request["to"] ?? request["at"]) ?? kept.newest
        let from = max(try Self.time(request["from"]) ?? kept.oldest, kept.oldest)
        let prefix = place.path.joined(separator: "/")
        let limit = ChangesPage.maxDocuments
        let paths: [DocumentPath]
        do throws(RPCStatus) {
            paths = try insight.changedPaths(
                in: place.database, after: from, upTo: to,
                limit: prefix.isEmpty ? limit + 1 : 10_000
            ).filter { prefix.isEmpty || $0.text.hasPrefix(prefix + "/") }
        } catch { throw Self.unreadable(error) }
        var differences: [VersionDifference] = []
        for path in paths.prefix(limit) {
            let before = try await console.document(path, in: place.database, at: .at(from))
            let after = try await console.document(path, in: place.database, at: .at(to))
            let difference = VersionDifference(path, before: before, after: after)
            if !difference.isNone { differences.append(difference) }
        }
        return ChangesPage(
            place: place, from: from.rfc3339, to: to.rfc3339, differences: differences,
            hasMore: paths.count > limit, oldest: kept.oldest.rfc3339)
    }

    private static func time(_ text: String?) throws(PageRefusal) -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw PageRefusal(400, "\(text) is not a time, as in 2026-11-24T10:00:00.000001Z.")
        }
        return time
    }

    private func versions(
        of path: DocumentPath, _ place: DataPlace, _ oldest: Timestamp
    ) async throws(PageRefusal) -> VersionsPage {
        let limit = VersionsPage.maxVersions
        var times: [Timestamp]
        do throws(RPCStatus) {
            times = try insight.changeTimes(of: path, in: place.database, limit: limit + 1)
        } catch { throw Self.unreadable(error) }
        times = times.filter { $0 > oldest }
        var versions: [VersionsPage.Version] = []
        for time in times.prefix(limit) {
            let after = try await console.document(path, in: place.database, at: .at(time))
            let before = try await console.document(
                path, in: place.database, at: .at(time.advanced(by: .microseconds(-1))))
            versions.append(
                VersionsPage.Version(
                    time: time.rfc3339, exists: after != nil,
                    difference: VersionDifference(path, before: before, after: after)))
        }
        return VersionsPage(place: place, versions: versions, hasMore: times.count > limit)
    }

    /// Writes a document's version at a time, or deletes the document if it did not exist then.
    /// Fails if the present document changes during the request.
    func restore(
        _ path: [String], _ request: PageRequest
    ) async throws(PageRefusal) -> PageAnswer {
        let place = try DataPlace(path, request)
        guard case .document(let path) = place.kind, place.time != nil else {
            throw PageRefusal(400, "A restore needs the time \"at\".")
        }
        let then = try await console.document(path, in: place.database, at: place.consistency)
        let now = try await console.document(path, in: place.database, at: .latest)
        let precondition = now.map { Precondition.updateTime($0.updateTime) } ?? .exists(false)
        if then == nil, now == nil {
            throw PageRefusal(409, "This document exists neither now nor at that time.")
        }
        let mutation = Mutation(
            path: path, then.map { .set($0.fields) } ?? .delete, precondition: precondition)
        return try await console.write([mutation], in: place.database)
    }
}
