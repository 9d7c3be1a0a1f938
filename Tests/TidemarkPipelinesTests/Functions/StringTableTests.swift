import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `Functions of strings` {
    @Test func `count code points, and the bytes of bytes`() {
        check(
            """
            char_length('añb') => 3
            char_length('') => 0
            char_length(b'a') => error
            byte_length('añb') => 4
            byte_length(b'ab') => 2
            length('añb') => 3
            length([1, 2]) => 2
            length({a: 1}) => 1
            length(vec[1, 2, 3]) => 3
            length(1) => error
            length(null) => null
            reverse('añb') => 'bña'
            reverse(b'ab') => b'ba'
            reverse([1, 2]) => [2, 1]
            string_reverse('abc') => 'cba'
            string_reverse([1]) => error
            to_upper('aé') => 'AÉ'
            to_lower('AÉ') => 'aé'
            to_upper(b'az') => b'AZ'
            to_lower(1) => error
            """)
    }

    @Test func `join values of one type`() {
        check(
            """
            concat('a', 'b', 'c') => 'abc'
            concat(b'a', b'b') => b'ab'
            concat([1], [2]) => [1, 2]
            concat('a', b'b') => error
            concat('a', [1]) => error
            concat('a', null) => null
            string_concat('a') => 'a'
            string_concat('a', 'b') => 'ab'
            string_concat('a', 1) => error
            string_concat('a', absent) => null
            string_repeat('ab', 3) => 'ababab'
            string_repeat('ab', 0) => ''
            string_repeat('ab', -1) => error 'non-negative'
            string_repeat('ab', 9000000) => error 'larger'
            string_repeat('', 9223372036854775807) => ''
            join(['a', 'b'], ', ') => 'a, b'
            join(['a', null, 'b'], '-') => 'a-b'
            join(['a', null, 'b'], '-', '?') => 'a-?-b'
            join([b'a', b'b'], b'-') => b'a-b'
            join(['a', 1], '-') => error
            join([], '-') => ''
            """)
    }

    @Test func `take parts`() {
        check(
            """
            substring('hello', 1) => 'ello'
            substring('hello', 1, 3) => 'ell'
            substring('hello', -3) => 'llo'
            substring('hello', -3, 2) => 'll'
            substring('hello', -9, 2) => 'he'
            substring('hello', 9) => ''
            substring('hello', 1, 99) => 'ello'
            substring('hello', 0, -1) => error 'length must be non-negative'
            substring('añb', 1, 1) => 'ñ'
            substring(b'abc', 1) => b'bc'
            substring('a', 'b') => error
            split('a,b,,c') => ['a', 'b', '', 'c']
            split('a--b', '--') => ['a', 'b']
            split('añ', '') => ['a', 'ñ']
            split('', ',') => ['']
            split(b'a,b', b',') => [b'a', b'b']
            split('a', b',') => error
            trim('  a b ') => 'a b'
            ltrim('  a ') => 'a '
            rtrim(' a  ') => ' a'
            trim('xyaxy', 'yx') => 'a'
            ltrim('xya', 'x') => 'ya'
            rtrim('ayx', 'x') => 'ay'
            trim(b'xax', b'x') => b'a'
            trim('a', b'x') => error
            """)
    }

    @Test func `search and replace`() {
        check(
            """
            starts_with('hello', 'he') => true
            starts_with('hello', '') => true
            starts_with('hello', 'lo') => false
            ends_with('hello', 'lo') => true
            ends_with('lo', 'hello') => false
            string_contains('hello', 'ell') => true
            string_contains('hello', '') => true
            string_contains('hello', 1) => error
            string_contains(null, 'a') => null
            string_index_of('añbñ', 'ñ') => 1
            string_index_of('hello', 'z') => -1
            string_index_of('hello', '') => 0
            string_replace_one('aaa', 'a', 'b') => 'baa'
            string_replace_all('aXbX', 'X', '--') => 'a--b--'
            string_replace_all('aaa', 'aa', 'b') => 'ba'
            string_replace_all('abc', '', 'x') => 'abc'
            string_replace_all(b'aba', b'a', b'c') => b'cbc'
            like('hello', 'h%o') => true
            like('hello', 'h_llo') => true
            like('hello', 'h_lo') => false
            like('hello', 'hell') => false
            like('', '%') => true
            like('a.c', 'a.c') => true
            like('abc', 'a.c') => false
            like('50%', '50\\%') => true
            like('500', '50\\%') => false
            like('aXbXc', '%X%X%') => true
            """)
    }

    @Test func `match regular expressions`() {
        check(
            """
            regex_contains('hello', 'l+') => true
            regex_contains('hello', 'x') => false
            regex_match('hello', 'l+') => false
            regex_match('hello', 'h.*o') => true
            regex_match('hello', '(') => error 'invalid regular expression'
            regex_contains('aa', '(a)\\1') => error
            regex_find('a1b22', '[0-9]+') => '1'
            regex_find('abc', '[0-9]+') => null
            regex_find('key=val', '([a-z]+)=') => 'key'
            regex_find('abc', '(a)(b)') => error 'more than one'
            regex_find_all('a1b22', '[0-9]+') => ['1', '22']
            regex_find_all('abc', '[0-9]') => []
            regex_find_all('a=1,b=2', '([a-z])=') => ['a', 'b']
            regex_contains(null, 'a') => null
            regex_contains(1, 'a') => error
            """)
    }

    @Test func `end a pattern that needs too many steps`() {
        let text = Value.string(String(repeating: "a", count: 5_000))
        let pattern = Pipeline.Expression.constant(.string("(a?){500}(a?){500}b"))
        for name in ["regex_contains", "regex_match", "regex_find_all"] {
            let outcome = evaluate(.call(name, [.field("t"), pattern]), ["t": text])
            guard case .error(let message) = outcome else {
                Issue.record("\(name) is \(outcome.text)")
                continue
            }
            #expect(message.contains("too many steps") || message.contains("more than one"))
        }
    }
}
