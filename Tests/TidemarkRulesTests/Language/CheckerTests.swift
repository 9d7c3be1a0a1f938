import Testing

@testable import TidemarkRules

struct `A rules file` {
    private func issues(_ text: String) -> [String] {
        do {
            return try Ruleset(text).warnings.map(\.description)
        } catch {
            return error.issues.map(\.description)
        }
    }

    private func file(_ body: String, version: Int = 2) -> String {
        """
        rules_version = '\(version)';
        service cloud.firestore {
        \(body)
        }
        """
    }

    private func errors(of condition: String) -> [String] {
        issues(file("match /a/{b} { allow read: if \(condition); }"))
            .filter { !$0.contains("Invalid variable") && !$0.contains("Invalid function") }
    }

    @Test func `tells all its errors at once`() {
        let text = file(
            """
            match /a/{b} {
              allow read: if 1 +;
              allow grab: if true;
              allow get if true;
              allow list: if 'a'.matches('(');
              allow get: if x is thing;
            }
            match b { allow read; }
            match /c/{d} { allow read: if #; }
            """)
        let found = issues(text)
        let lines = found.map { $0.dropFirst().prefix { $0.isNumber } }
        #expect(Set(lines) == ["4", "5", "6", "7", "8", "10", "11"], "\(found)")
        #expect(found.contains("L7:30 Invalid regular expression pattern. Pattern: (."))
    }

    @Test func `is refused when it is none`() {
        #expect(issues("") == ["L1:1 Missing 'service' before end of file."])
        #expect(issues("service cloud.firestore {").count == 1)
        #expect(issues("import 'x'; service cloud.firestore { }").count == 1)
        #expect(issues("rules_version = '3'; service cloud.firestore { }").count == 1)
        #expect(issues("service cloud.firestore { } rules_version = '2';").count == 1)
        #expect(issues("/* no end") != [])
        #expect(issues(file("match /a/{b} { allow read: if 'no end; }")) != [])
        #expect(issues(String(repeating: " ", count: 256 * 1024 + 1)).count == 1)
    }

    @Test func `has operators and literals as production has them`() {
        #expect(errors(of: "1. == 1") != [])
        #expect(errors(of: "99999999999999999999 > 0") != [])
        #expect(errors(of: "null is null") != [])
        #expect(errors(of: "1 is integer") != [])
        #expect(errors(of: "a.b[0:1] == 'x' && b'x' != /a/$(b)/c") == [])
        #expect(errors(of: "/databases/(default)/documents/a-b/c.d == request.path") == [])
        #expect(errors(of: "{'a': 1, b: [1, 2,]} == 1") != [], "no comma at the end")
        #expect(errors(of: "/* a */ true // b\n") == [])
        #expect(errors(of: "'a'.matches(pattern)") == [], "only a literal is checked")
        #expect(errors(of: "'\\u00e9\\x41\\/' == ''") == [])
        #expect(errors(of: "'\\ud800' == ''") != [])
    }

    @Test func `bounds its expressions as production does`() {
        func operands(_ count: Int) -> String {
            Array(repeating: "true", count: count).joined(separator: " && ")
        }
        func parentheses(_ count: Int) -> String {
            String(repeating: "(", count: count) + "true" + String(repeating: ")", count: count)
        }
        #expect(errors(of: operands(98)) == [])
        #expect(errors(of: operands(99)).first?.hasSuffix(RulesText.tooComplex) == true)
        #expect(errors(of: parentheses(97)) == [])
        #expect(errors(of: parentheses(98)).first?.hasSuffix(RulesText.tooComplex) == true)
        #expect(errors(of: parentheses(20_000)) != [])
        #expect(errors(of: String(repeating: "!", count: 20_000) + "true") != [])
        #expect(errors(of: "a" + String(repeating: ".a", count: 20_000)) != [])
        #expect(errors(of: String(repeating: "true ? ", count: 20_000)) != [])
    }

    private func chain(_ count: Int) -> String {
        let functions = (1..<count).map { "function f\($0)() { return f\($0 + 1)(); }" }
        return file(
            (functions + [
                "function f\(count)() { return true; }",
                "match /a/{b} { allow read: if f1(); }",
            ]).joined(separator: "\n"))
    }

    @Test func `bounds its functions as production does`() {
        #expect(issues(chain(21)) == [])
        #expect(
            issues(chain(22)).contains {
                $0.contains("Maximum allowed call depth of 20 is reached for [f1->f2->f3")
            })
        #expect(issues(chain(2_000)) != [])
        func variables(_ count: Int) -> String {
            let lets = (0..<count).map { "let v\($0) = 1;" }.joined(separator: " ")
            return file(
                "function f() { \(lets) return true; } match /a/{b} { allow read: if f(); }")
        }
        #expect(issues(variables(11)) == [])
        #expect(issues(variables(12)).map { $0.contains("variable count of 10") } == [true])
    }

    @Test func `has no function that calls itself`() {
        let one = file("function f() { return f(); } match /a/{b} { allow read: if f(); }")
        #expect(issues(one) == ["L3:1 Recursive call is not allowed."])
        let two = file(
            """
            function f() { return g(); }
            function g() { return f() || true; }
            match /a/{b} { allow read: if g(); }
            """)
        #expect(issues(two).map { $0.hasSuffix("Recursive call is not allowed.") } == [true])
    }

    @Test func `calls functions as they are declared`() {
        let text = file("function f(a) { return a; } match /a/{b} { allow read: if f(1, 2); }")
        #expect(issues(text).map { $0.contains("takes 1 arguments") } == [true])
        let twice = file("function f() { return 1; } function f() { return 2; }")
        #expect(issues(twice).contains { $0.contains("Duplicate function name: f.") })
    }

    @Test func `has recursive wildcards as its version has them`() {
        let inside = "match /{a=**}/b/{c} { allow read; }"
        #expect(issues(file(inside)) == [])
        #expect(issues(file(inside, version: 1)) != [])
        #expect(issues(file("match /{a=**} { match /b/{c=**} { allow read; } }")) != [])
    }

    @Test func `warns of what is not there and of what nobody uses`() {
        let text = file(
            """
            function unused() { return true; }
            match /a/{b} { allow read: if whoever && something(); }
            """)
        #expect(
            issues(text) == [
                "L3:1 Unused function: unused.", "L4:31 Invalid variable name: whoever.",
                "L4:42 Invalid function name: something.",
            ])
    }
}
