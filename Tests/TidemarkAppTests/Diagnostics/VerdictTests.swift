import Testing
import TestSupport

@testable import TidemarkDiagnosis

@Suite(.ownThread) struct `A verdict` {
    private func every(_ body: (Evidence) -> Void) -> Int {
        var count = 0
        var evidence = Evidence()
        for interface in Evidence.Interface.allCases {
            for names in Evidence.Names.allCases {
                for connecting in Evidence.Connecting.allCases {
                    for securing in Evidence.Securing.allCases {
                        for speaking in Evidence.Speaking.allCases {
                            for reading in Evidence.Reading.allCases {
                                evidence.interface = interface
                                evidence.names = names
                                evidence.connecting = connecting
                                evidence.securing = securing
                                evidence.speaking = speaking
                                evidence.reading = reading
                                for namesProxy in [false, true] {
                                    evidence.namesProxy = namesProxy
                                    for ahead: Int64? in [nil, 0, -86_400] {
                                        evidence.clockAhead = ahead
                                        body(evidence)
                                        count += 1
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        return count
    }

    @Test func `follows from whatever can be seen, by what was seen last`() {
        var wrong: [Evidence] = []
        var seen = Set<Verdict>()
        let count = every { evidence in
            let verdict = Verdict(evidence)
            seen.insert(verdict)
            let hasAnswer = evidence.reading == .answered || evidence.reading == .answeredLate
            if verdict.isHealthy != hasAnswer { wrong.append(evidence) }
            // The verdict does not blame an earlier step for the finding of a later step.
            let readSays =
                switch evidence.reading {
                case .unavailable, .noAnswer, .notTried: false
                default: true
                }
            if !readSays, evidence.speaking == .redirected, verdict != .captivePortal {
                wrong.append(evidence)
            }
            if verdict == .noNetwork, evidence.interface != .down { wrong.append(evidence) }
            if verdict == .proxy, !evidence.namesProxy, evidence.speaking != .proxyAsks {
                wrong.append(evidence)
            }
        }
        print(
            "verdicts: \(count) combinations, \(seen.count) of \(Verdict.allCases.count) verdicts")
        #expect(wrong.isEmpty)
        #expect(seen == Set(Verdict.allCases), "each verdict can be come to")
    }

    @Test(arguments: Verdict.allCases)
    func `has a sentence for the person, without a code`(verdict: Verdict) {
        #expect(verdict.message.hasSuffix("."))
        // Some verdicts are words that users know, as `proxy`. A sentence can contain such a word.
        let isCode = verdict.rawValue.contains { $0.isUppercase }
        #expect(!isCode || !verdict.message.contains(verdict.rawValue))
    }

    private typealias Change = @Sendable (inout Evidence) -> Void

    /// Lists the evidence of each kind of trouble, with its verdict.
    @Test func `tells one trouble from another`() {
        let base = Evidence()
        func verdict(_ change: (inout Evidence) -> Void) -> Verdict {
            var evidence = base
            evidence.interface = .up
            change(&evidence)
            return Verdict(evidence)
        }
        #expect(verdict { $0.interface = .down } == .noNetwork)
        #expect(
            verdict {
                $0.interface = .down; $0.names = .noAnswer
            } == .noNetwork)
        #expect(verdict { $0.names = .noAnswer } == .namesFail)
        #expect(verdict { $0.names = .unknown } == .nameUnknown)
        func connected(_ change: (inout Evidence) -> Void) -> Verdict {
            verdict { evidence in
                (evidence.names, evidence.connecting) = (.found, .connected)
                change(&evidence)
            }
        }
        #expect(connected { $0.connecting = .refused } == .backendDown)
        #expect(connected { $0.connecting = .noAnswer } == .silence)
        #expect(connected { $0.connecting = .unreachable } == .noRoute)
        #expect(connected { $0.securing = .notYetValid } == .clockWrong)
        #expect(connected { $0.securing = .expired } == .certificateExpired)
        #expect(
            connected {
                $0.securing = .expired; $0.clockAhead = 90_000
            } == .clockWrong)
        #expect(connected { $0.securing = .untrusted } == .certificateUntrusted)
        #expect(
            connected {
                $0.securing = .untrusted; $0.namesProxy = true
            } == .proxy)
        #expect(
            connected {
                $0.securing = .notYetValid; $0.clockAhead = 2
            } == .certificateUntrusted)
        #expect(connected { $0.securing = .otherName } == .certificateUntrusted)
        #expect(
            connected {
                $0.securing = .otherName; $0.speaking = .redirected
            } == .captivePortal)
        #expect(connected { $0.securing = .otherProtocol } == .captivePortal)
        #expect(
            connected {
                $0.securing = .otherProtocol; $0.speaking = .http2
            } == .wrongService)
        #expect(connected { $0.speaking = .gatewayFails } == .backendDown)
        #expect(connected { $0.speaking = .exhausted } == .quota)
        #expect(
            connected {
                $0.securing = .secured; $0.speaking = .redirected
            } == .captivePortal)
        #expect(
            connected {
                $0.securing = .unused; $0.speaking = .proxyAsks
            } == .proxy)
        #expect(connected { $0.speaking = .noAnswer } == .silence)
        #expect(
            connected {
                $0.speaking = .http2; $0.reading = .noAnswer
            } == .backendSlow)
        #expect(
            connected {
                $0.speaking = .http2; $0.reading = .unavailable
            } == .backendDown)
        #expect(
            connected {
                $0.speaking = .http2; $0.reading = .exhausted
            } == .quota)
        #expect(
            connected {
                $0.speaking = .http2; $0.reading = .unauthenticated
            } == .credentials)
        #expect(
            connected {
                $0.speaking = .http2; $0.reading = .answeredLate
            } == .slow)
        #expect(
            connected {
                $0.speaking = .http2; $0.reading = .answered
            } == .healthy)
    }

    @Test func `hears from the first bytes who speaks`() {
        func finding(_ text: String) -> Evidence.Speaking {
            NetworkProbe.speech(Array(text.utf8), now: 0).finding
        }
        #expect(NetworkProbe.speech([0, 0, 6, 4, 0, 0, 0, 0, 0], now: 0).finding == .http2)
        #expect(finding("HTTP/1.1 302 Found\r\nLocation: http://login/\r\n\r\n") == .redirected)
        #expect(
            finding("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Log in") == .redirected)
        #expect(finding("HTTP/1.1 511 Network Authentication Required\r\n\r\n") == .redirected)
        #expect(finding("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") == .proxyAsks)
        #expect(finding("HTTP/1.1 503 Service Unavailable\r\n\r\n") == .gatewayFails)
        #expect(finding("HTTP/1.1 429 Too Many Requests\r\n\r\n") == .exhausted)
        #expect(finding("HTTP/1.1 400 Bad Request\r\n\r\n") == .otherProtocol)
        #expect(finding("SSH-2.0-OpenSSH_9.0\r\n") == .otherProtocol)
        #expect(finding("") == .closed)
        let dated = NetworkProbe.speech(
            Array("HTTP/1.1 400 Bad\r\nDate: Thu, 01 Jan 1970 00:01:00 GMT\r\n\r\n".utf8), now: 0)
        #expect(dated.clockAhead == -60)
    }
}
