/// Conditions and their results: `+` is true, `-` is false, `!` is an error. The request is an
/// update of `rooms/blue` by ann. `old` is `resource.data`, and `new` is `request.resource.data`.
let expressionTable = #"""
    # numbers
    + 1 + 2 == 3
    + 1 + 2 * 3 == 7
    + (1 + 2) * 3 == 9
    + 7 / 2 == 3
    + -7 / 2 == -3
    + -5 % 3 == -2
    + 5 % -3 == 2
    + 7.0 / 2 == 3.5
    + 1.0 / 0.0 > 1000000
    + -(1.0 / 0.0) < 0
    ! 1 / 0 == 1
    ! 1 % 0 == 1
    ! 1.5 % 0 == 1
    + 5.5 % 2 == 1.5
    + 1 == 1.0
    + 1.0 == 1
    - 1 == 2
    + 1 != 2
    - 1 == '1'
    + 1 != '1'
    - null == 0
    + null == null
    - null == false
    - 1 == true
    + 9223372036854775807 > 0
    + -9223372036854775808 < 0
    ! 9223372036854775807 + 1 > 0
    ! -9223372036854775808 - 1 < 0
    ! 9223372036854775807 * 2 > 0
    ! -9223372036854775808 / -1 > 0
    ! -(-9223372036854775808) > 0
    + 9007199254740993 != 9007199254740992.0
    + 1 < 2
    - 2 < 1
    + 1 <= 1
    + 2 >= 2
    + 2 > 1.5
    - 1 > 1
    + 1 < 1.5
    ! 1 < '2'
    ! null < 1
    ! true < false
    ! [1] < [2]
    ! {'a': 1} < {'a': 2}
    + 2 - 3 == -1
    + 2 - 0.5 == 1.5
    + 1e3 == 1000
    + 1.5e-1 == 0.15
    ! 'a' * 2 == 'aa'
    ! 'a' - 'b' == ''
    + int('12') == 12
    + int(1.9) == 1
    + int(-1.9) == -1
    + int(5) == 5
    ! int(' 12 ') == 12
    ! int('12abc') == 12
    ! int(true) == 1
    ! int(1e300) == 1
    + float('2.5') == 2.5
    + float(2) is float
    ! float('x') == 1
    ! float(null) == 0
    + string(12) == '12'
    + string(true) == 'true'
    + string(null) == 'null'
    + string(1.5) == '1.5'
    ! string([1]) == '[1]'
    ! bool('true')
    ! bytes('a') == b'a'
    # math
    + math.abs(-5) == 5
    + math.abs(-5.5) == 5.5
    + math.ceil(1.2) == 2
    + math.floor(-1.2) == -2
    + math.round(1.5) == 2
    + math.round(-1.5) == -1
    + math.round(2.4) is int
    + math.sqrt(16) == 4
    + math.isNaN(math.sqrt(-1))
    + math.pow(2, 10) == 1024
    - math.isNaN(1.0)
    ! math.isInfinite(1.0)
    ! math.abs('1') == 1
    ! math.pow(2) == 4
    - math.sqrt(-1) == math.sqrt(-1)
    # strings
    + 'a' + 'b' == 'ab'
    ! 'a' + 1 == 'a1'
    + 'abc'.size() == 3
    + 'é'.size() == 1
    + '👩'.size() == 1
    + 'ABC'.lower() == 'abc'
    + 'abc'.upper() == 'ABC'
    + '  a b '.trim() == 'a b'
    + 'abc'[0] == 'a'
    + 'abc'[2] == 'c'
    ! 'abc'[3] == 'd'
    ! 'abc'[-1] == 'c'
    + 'abc'[1:2] == 'b'
    + 'abc'[1:1] == ''
    ! 'abc'[0:0] == ''
    ! 'abc'[3:3] == ''
    ! ''[0:0] == ''
    + 'abc'[0:3] == 'abc'
    ! 'abc'[0:4] == 'abc'
    + 'a' < 'b'
    + 'Z' < 'a'
    + 'a' < 'aa'
    + "it's" == 'it\'s'
    + 'a\u00e9' == 'aé'
    + '\x41' == 'A'
    + '\U0001F469' == '👩'
    + 'a\tb'.size() == 3
    ! 'abc'.size(1) == 3
    ! 'abc'.length() == 3
    + 'a,b,c'.split(',') == ['a', 'b', 'c']
    + 'a,b,,'.split(',') == ['a', 'b']
    + 'a1b22c'.split('[0-9]+') == ['a', 'b', 'c']
    + 'abc'.split('') == ['a', 'b', 'c']
    + ''.split(',') == ['']
    + 'aaa'.replace('a', 'b') == 'bbb'
    + 'john smith'.replace('(\\w+) (\\w+)', '$2 $1') == 'smith john'
    + 'abc'.replace('x*', '-') == '-a-b-c-'
    ! 'abc'.replace('a') == 'bc'
    + 'abc'.toUtf8() == b'abc'
    # patterns
    + 'hello'.matches('h.*o')
    - 'hello world'.matches('hello')
    - 'a\nb'.matches('a.b')
    + 'a\nb'.matches('(?s)a.b')
    + 'HeLLo'.matches('(?i)hello')
    + 'abc123'.matches('[[:alpha:]]+\\d+')
    + 'é'.matches('\\p{L}')
    - '1'.matches('\\p{L}')
    + 'ab'.matches('a|ab')
    + 'aaa'.matches('a{3}')
    - 'aa'.matches('a{3,}')
    + 'aaaa'.matches('a{2,4}')
    + ''.matches('')
    + 'a.b'.matches('a\\.b')
    + 'A'.matches('\\x41')
    + 'A'.matches('\\101')
    + 'a-b'.matches('[a-z-]+')
    + ']'.matches('[]]')
    - 'a'.matches('[^a]')
    + 'ab'.matches('\\bab\\b')
    + 'a+b'.matches('\\Qa+b\\E')
    + 'xyz'.matches('(?P<first>x)(?:y)(z)')
    + 'naïve'.matches('(?i)NAÏVE')
    + 'ab'.matches('^ab$')
    ! 'a'.matches(new.badPattern)
    ! 'a'.matches(1)
    ! (1).matches('1')
    # bytes
    + b'abc'.size() == 3
    + b'\xff'.toHexString() == 'FF'
    + b'abc'.toBase64() == 'YWJj'
    + b'a'.toBase64() == 'YQ=='
    + b'abc'[1] == b'b'
    + b'a' < b'b'
    ! b'abc'.upper() == b'ABC'
    + hashing.md5('').toHexString() == 'D41D8CD98F00B204E9800998ECF8427E'
    + hashing.md5('abc') == hashing.md5(b'abc')
    + hashing.sha256('abc').toHexString() == 'BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD'
    + hashing.crc32('123456789').toHexString() == '2639F4CB'
    + hashing.crc32c('123456789').toHexString() == '839206E3'
    ! hashing.md5(1) == b''
    # lists
    + [1, 2, 3].size() == 3
    + [] == []
    + [1, 2] == [1, 2]
    - [1, 2] == [2, 1]
    - [1] == [1.0]
    + 1 in [1, 2]
    + 1.0 in [1, 2]
    - 3 in [1, 2]
    - '1' in [1, 2]
    + [1, 2, 3][1] == 2
    ! [1, 2, 3][3] == 4
    ! [1]['0'] == 1
    + [1, 2, 3, 4][1:3] == [2, 3]
    ! [1, 2][0:0] == []
    ! [1] + [2] == [1, 2]
    + [1].concat([1]) == [1, 1]
    + ['a', 'b'].join('-') == 'a-b'
    + [1, 2].join(',') == '1,2'
    + [].join(',') == ''
    + [1, 2, 3].hasAll([1, 3])
    - [1, 2].hasAll([1, 3])
    + [1, 2].hasAny([2, 3])
    - [1, 2].hasAny([3])
    + [1, 2].hasOnly([1, 2, 3])
    - [1, 4].hasOnly([1, 2, 3])
    + [].hasOnly([])
    + [1, 2, 1].removeAll([1]) == [2]
    + [1, 1, 2].toSet().size() == 2
    ! [1].concat(2) == [1, 2]
    ! [1].keys() == []
    ! [1].union([2]) == [1, 2]
    # sets
    + [1, 2].toSet() == [2, 1, 1].toSet()
    - [1].toSet() == [1]
    + 1 in [1].toSet()
    + [1].toSet().union([2].toSet()) == [1, 2].toSet()
    + [1, 2].toSet().intersection([2, 3].toSet()) == [2].toSet()
    + [1, 2].toSet().difference([2].toSet()) == [1].toSet()
    ! [1].toSet().union([2]) == [1, 2].toSet()
    + [1, 2].toSet().hasAll([1])
    + [1, 2].toSet().hasAny([2, 3].toSet())
    + [1].toSet().hasOnly([1, 2])
    ! [1].toSet().toSet().size() == 1
    - [1].toSet() is list
    - [1].toSet() is set
    ! [1].toSet()[0] == 1
    # maps
    + {'a': 1} == {'a': 1}
    - {'a': 1} == {'a': 1.0}
    + {'a': 1}.a == 1
    + {'a': 1}['a'] == 1
    + {a: 1}.a == 1
    ! {'a': 1}.b == 1
    ! {'a': 1}['b'] == 1
    ! {'a': 1}.b == null
    + 'a' in {'a': 1}
    - 'b' in {'a': 1}
    ! 1 in {'a': 1}
    ! !(1 in {'a': 1})
    ! !('a' in null)
    ! !('a' in 'abc')
    ! !('a' in 5)
    ! !('a' in 1.5)
    ! !('a' in true)
    ! !('a' in request.time)
    ! !('a' in request.path)
    ! !('a' in {'a': 1}.diff({}))
    + 'a' in 'abc' || true
    - 'b' in ['a'].toSet()
    + {'a': 1}.size() == 1
    + {'b': 1, 'a': 2}.keys() == ['a', 'b']
    + {'b': 1, 'a': 2}.values() == [2, 1]
    + {'a': 1}.get('a', 2) == 1
    + {'a': 1}.get('b', 2) == 2
    + {'a': {'b': 1}}.get(['a', 'b'], 2) == 1
    + {'a': 1}.get(['a', 'b'], 2) == 2
    + {'a': {}}.get(['a', 'b'], 2) == 2
    ! {'a': 1}.get('a') == 1
    ! {'a': 1}.hasAll(['a'])
    + {'a': 1, 'b': 2}.diff({'a': 1, 'c': 3}).addedKeys() == ['b'].toSet()
    + {'a': 1, 'b': 2}.diff({'a': 1, 'c': 3}).removedKeys() == ['c'].toSet()
    + {'a': 1}.diff({'a': 2}).changedKeys() == ['a'].toSet()
    + {'a': 1}.diff({'a': 1.0}).changedKeys() == ['a'].toSet()
    + {'a': 1, 'b': 1}.diff({'a': 1}).unchangedKeys() == ['a'].toSet()
    + {'a': 1, 'b': 1}.diff({'a': 2, 'c': 1}).affectedKeys() == ['a', 'b', 'c'].toSet()
    ! {'a': 1}.diff([1]).addedKeys().size() == 0
    # types
    + true is bool
    + 1 is int
    + 1 is number
    + 1.0 is float
    + 1.0 is number
    - 1 is float
    + 'a' is string
    + b'a' is bytes
    + [] is list
    + {} is map
    + /a/b is path
    + timestamp.value(0) is timestamp
    + duration.value(1, 's') is duration
    + latlng.value(0, 0) is latlng
    + {}.diff({}) is map_diff
    - {} is list
    # logic
    + true && true
    - true && false
    + false || true
    - false || false
    + !false
    ! !1
    + new.missing > 0 || true
    + true || new.missing > 0
    ! new.missing > 0 || false
    - new.missing > 0 && false
    - false && new.missing > 0
    ! new.missing > 0 && true
    ! !(new.missing > 0)
    + true || null
    - null && false
    ! null && true
    ! null || false
    ! 1 && true
    + true ? true : false
    - false ? true : false
    ! 1 ? true : false
    + true ? true : new.missing
    ! true ? new.missing : true
    + false || false || true && !false
    - true && (false || !true)
    + true || false && false
    + 1 == 1 == true
    # paths
    + /a/b == /a/b
    - /a/b == /a/c
    + path('a/b') == /a/b
    + path('/a/b') == /a/b
    ! path(/a/b) == /a/b
    + /a/$('b') == /a/b
    + /a/$(1 + 1) == /a/2
    + /a/b[1] == 'b'
    ! /a/b[2] == 'c'
    ! (/a/b).size() == 2
    + path('/a/{x}').bind({'x': 'b'}) == /a/b
    ! path('/a/{x}').bind({}) == /a/b
    ! path('/a/{x}').bind({'x': 'b', 'y': 'c'}) == /a/b
    ! path('/a/$(x)') == /a/b
    + request.path == /databases/$(database)/documents/rooms/$(room)
    + request.path[3] == 'rooms'
    + /databases/(default)/documents/rooms/blue == request.path
    # times
    + timestamp.date(2020, 2, 29).day() == 29
    ! timestamp.date(2020, 2, 30).day() == 30
    ! timestamp.date(2021, 2, 29).day() == 29
    + timestamp.date(2020, 1, 2).dayOfWeek() == 4
    + timestamp.date(2024, 12, 31).dayOfYear() == 366
    + timestamp.date(1969, 12, 31).toMillis() == -86400000
    + timestamp.value(1500).nanos() == 500000000
    + timestamp.value(1500).seconds() == 1
    + timestamp.value(3723000).hours() == 1
    + timestamp.value(3723000).minutes() == 2
    + timestamp.value(0).year() == 1970
    + timestamp.value(0).month() == 1
    + timestamp.value(90000000).date() == timestamp.date(1970, 1, 2)
    + timestamp.value(90000000).time() == duration.time(1, 0, 0, 0)
    + timestamp.value(0) + duration.value(1, 'd') == timestamp.date(1970, 1, 2)
    + timestamp.value(0) - duration.value(1, 'w') < timestamp.value(0)
    + timestamp.value(1000) - timestamp.value(0) == duration.value(1, 's')
    ! timestamp.value(0) + 1 == timestamp.value(1)
    + duration.value(90, 'm') == duration.time(1, 30, 0, 0)
    + duration.value(1, 'h') > duration.value(59, 'm')
    + duration.value(1500, 'ms').seconds() == 1
    + duration.value(-1500, 'ms').nanos() == -500000000
    + duration.abs(duration.value(-5, 's')) == duration.value(5, 's')
    + duration.value(1, 's') + duration.value(1, 'ns') > duration.value(1, 's')
    ! duration.value(1, 'y') == duration.value(365, 'd')
    + request.time == timestamp.date(2026, 1, 2)
    + request.time > old.created
    # places
    + latlng.value(1, 2).latitude() == 1
    + latlng.value(1, 2).longitude() == 2
    + latlng.value(0, 0).distance(latlng.value(0, 1)) > 111000
    + latlng.value(0, 0).distance(latlng.value(0, 1)) < 112000
    ! latlng.value(91, 0) == latlng.value(0, 0)
    + latlng.value(1, 2) == latlng.value(1.0, 2.0)
    # the request
    + request.auth.uid == 'ann'
    + request.auth != null
    + request.auth.token.email == 'ann@example.com'
    + request.auth.token.admin
    ! request.auth.token.moderator
    + request.auth.token.get('moderator', false) == false
    + request.method == 'update'
    + room == 'blue'
    + resource.id == room
    + resource.__name__ == request.path
    + old.name == 'Blue'
    + new.name == 'Navy'
    + new.diff(old).affectedKeys().hasOnly(['name', 'badPattern'])
    + request.auth.uid in old.members
    + old.members.hasAll(['ann', 'bob'])
    + 'query' in request == false
    ! request.query.limit <= 10
    + request.keys() == ['auth', 'method', 'path', 'resource', 'time']
    + debug(request.auth.uid) == 'ann'
    ! whoever == null
    ! unknown()
    # documents
    + exists(/databases/$(database)/documents/users/ann)
    - exists(/databases/$(database)/documents/users/zoe)
    + get(/databases/$(database)/documents/users/ann).data.role == 'owner'
    + get(/databases/$(database)/documents/users/ann).id == 'ann'
    ! get(/databases/$(database)/documents/users/zoe).data.role == 'owner'
    ! get(/databases/$(database)/documents/users/zoe) == null
    + getAfter(/databases/$(database)/documents/users/ann).data.role == 'guest'
    - existsAfter(/databases/$(database)/documents/users/bob)
    ! get('users/ann').data.role == 'owner'
    ! get(null).data.role == 'owner'
    + get(/databases/$(database)/documents/users/$(request.auth.uid)).data.rooms.hasAny([room])
    """#
