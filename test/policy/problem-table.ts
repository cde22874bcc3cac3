import type { PolicyField } from '../../src/policy/index.ts'

/** Texts with something wrong, and all that is said about them: severity, code, offsets, message, help. */
export const problemTable: readonly {
  readonly field: PolicyField
  readonly text: string
  readonly problems: readonly (readonly [string, string, number, number, string, string | null])[]
}[] = [
  {
    field: 'condition',
    text: '',
    problems: [
      ['error', 'policy/unexpected-end', 0, 0, 'the expression is empty', 'leave the field out, or write `true`'],
    ],
  },
  {
    field: 'condition',
    text: '   ',
    problems: [
      ['error', 'policy/unexpected-end', 0, 0, 'the expression is empty', 'leave the field out, or write `true`'],
    ],
  },
  {
    field: 'condition',
    text: 'activity.kind == "SIGN_TRANSACTION"',
    problems: [
      ['error', 'policy/double-quotes', 17, 35, 'a text stands in single quotes', "write `'SIGN_TRANSACTION'`"],
    ],
  },
  {
    field: 'condition',
    text: "activity.kind == 'A' &&",
    problems: [['error', 'policy/unexpected-end', 23, 23, 'the expression ends where an expression is expected', null]],
  },
  {
    field: 'condition',
    text: '1 + 1 == 2',
    problems: [
      [
        'error',
        'policy/unexpected-character',
        2,
        3,
        'unexpected character `+`',
        'the language has no arithmetic: write the result',
      ],
    ],
  },
  {
    field: 'condition',
    text: '42',
    problems: [
      ['error', 'policy/not-bool', 0, 2, 'a condition is true or false, got an int', 'compare it with something'],
    ],
  },
  {
    field: 'condition',
    text: 'activity.kind',
    problems: [
      ['error', 'policy/not-bool', 0, 13, 'a condition is true or false, got a string', 'compare it with something'],
    ],
  },
  {
    field: 'condition',
    text: "approvers.any(u, u.id == 'a')",
    problems: [
      [
        'error',
        'policy/wrong-field',
        0,
        9,
        '`approvers` is not known in a condition',
        'move the clause to the `consensus`',
      ],
    ],
  },
  {
    field: 'consensus',
    text: "activity.kind == 'A'",
    problems: [
      [
        'error',
        'policy/wrong-field',
        0,
        8,
        '`activity` is not known in a consensus',
        'move the clause to the `condition`',
      ],
    ],
  },
  {
    field: 'condition',
    text: 'time.now == time.now',
    problems: [
      ['error', 'policy/wrong-field', 0, 4, '`time` is not known in a condition', 'move the clause to the `time`'],
      ['error', 'policy/wrong-field', 12, 16, '`time` is not known in a condition', 'move the clause to the `time`'],
    ],
  },
  {
    field: 'condition',
    text: "ethereum.tx.to == '0x00'",
    problems: [
      [
        'error',
        'policy/unknown-name',
        0,
        8,
        'unknown name `ethereum`',
        'a condition starts from `activity`, `eth`, `solana`, `tron`, `bitcoin`, `tempo`, `wallet`, `wallet_account`, `private_key`, `wallets` and `secret`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "activity.resorce == 'WALLET'",
    problems: [
      ['error', 'policy/unknown-field', 9, 16, 'an Activity has no field `resorce`', 'did you mean `resource`?'],
    ],
  },
  {
    field: 'condition',
    text: 'eth.tx.gasPrice < 5',
    problems: [
      [
        'error',
        'policy/unknown-field',
        7,
        15,
        'an EthereumTransaction has no field `gasPrice`',
        'did you mean `gas_price`?',
      ],
    ],
  },
  {
    field: 'condition',
    text: "eth.tx.nonce == '4'",
    problems: [
      [
        'error',
        'policy/type-mismatch',
        0,
        19,
        '`==` does not take int and string',
        'write the number without quotes: `4`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "'4' == eth.tx.nonce",
    problems: [
      [
        'error',
        'policy/type-mismatch',
        0,
        19,
        '`==` does not take string and int',
        'write the number without quotes: `4`',
      ],
    ],
  },
  {
    field: 'condition',
    text: 'wallet.id == 4',
    problems: [
      ['error', 'policy/type-mismatch', 0, 14, '`==` does not take string and int', "write the text in quotes: `'4'`"],
    ],
  },
  {
    field: 'condition',
    text: "wallet.label < 'x'",
    problems: [
      [
        'error',
        'policy/type-mismatch',
        0,
        18,
        '`<` does not take string and string',
        'only numbers and timestamps have an order',
      ],
    ],
  },
  {
    field: 'condition',
    text: 'wallets == wallets',
    problems: [
      [
        'error',
        'policy/type-mismatch',
        0,
        18,
        '`==` does not take list<Wallet> and list<Wallet>',
        'a list<Wallet> is not comparable, only what is in it',
      ],
    ],
  },
  {
    field: 'condition',
    text: '1 < 2 < 3',
    problems: [
      [
        'error',
        'policy/chained-comparison',
        6,
        7,
        'a comparison is followed by another, `<`',
        'join two comparisons with `&&`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "activity.kind in 'A'",
    problems: [
      [
        'error',
        'policy/type-mismatch',
        0,
        20,
        '`in` does not take string and string',
        'the right side of `in` is a list',
      ],
    ],
  },
  {
    field: 'condition',
    text: "1 in ['a']",
    problems: [
      [
        'error',
        'policy/type-mismatch',
        0,
        10,
        '`in` does not take int and list<string>',
        "write the text in quotes: `'1'`",
      ],
    ],
  },
  {
    field: 'condition',
    text: "[1, 'a'].count() == 2",
    problems: [['error', 'policy/mixed-list', 4, 7, 'the list starts with an int, this is a string', null]],
  },
  {
    field: 'condition',
    text: '[1, 2,].count() == 2',
    problems: [
      ['error', 'policy/unexpected-token', 6, 7, 'expected an expression, got `]`', 'remove the `,` before it'],
    ],
  },
  {
    field: 'condition',
    text: "'abc",
    problems: [['error', 'policy/unterminated-string', 0, 4, 'a text is not closed', null]],
  },
  {
    field: 'condition',
    text: "activity.kind = 'A'",
    problems: [['error', 'policy/unexpected-character', 14, 15, 'unexpected character `=`', 'did you mean `==`?']],
  },
  {
    field: 'condition',
    text: 'true & false',
    problems: [['error', 'policy/unexpected-character', 5, 6, 'unexpected character `&`', 'did you mean `&&`?']],
  },
  {
    field: 'condition',
    text: 'true and false',
    problems: [
      [
        'error',
        'policy/unexpected-token',
        5,
        8,
        'expected an operator or the end of the expression, got `and`',
        'did you mean `&&`?',
      ],
    ],
  },
  {
    field: 'condition',
    text: '0x10 == 16',
    problems: [['error', 'policy/malformed-number', 0, 4, '`0x10` is not a number in decimal digits', 'write `16`']],
  },
  {
    field: 'condition',
    text: '1_000 == 1000',
    problems: [['error', 'policy/malformed-number', 0, 5, '`1_000` is not a number in decimal digits', 'write `1000`']],
  },
  {
    field: 'condition',
    text: '1.5 == 1',
    problems: [
      ['error', 'policy/malformed-number', 0, 3, '`1.5` is not a number in decimal digits', 'numbers have no fraction'],
    ],
  },
  {
    field: 'condition',
    text: '115792089237316195423570985008687907853269984665640564039457584007913129639936 == 1',
    problems: [['error', 'policy/number-range', 0, 78, 'a number lies between -2^127 and 2^256-1', null]],
  },
  {
    field: 'condition',
    text: '!1',
    problems: [['error', 'policy/type-mismatch', 1, 2, '`!` takes a bool, got an int', null]],
  },
  {
    field: 'condition',
    text: 'true && 1',
    problems: [['error', 'policy/type-mismatch', 8, 9, '`&&` takes a bool, got an int', null]],
  },
  {
    field: 'condition',
    text: "wallet.label.contains('a')",
    problems: [
      [
        'error',
        'policy/unknown-method',
        13,
        21,
        'a string has no method `contains`',
        'compare a part of it, like `[0..10]`',
      ],
    ],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.some(t, t.amount > 1)',
    problems: [
      [
        'error',
        'policy/unknown-method',
        20,
        24,
        'unknown method `some`',
        'lists have `contains`, `count`, `all`, `any` and `filter`',
      ],
    ],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.any(t, t.amount)',
    problems: [['error', 'policy/type-mismatch', 27, 35, '`any` takes a bool, got an int', null]],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.any(t, t.amout > 1)',
    problems: [['error', 'policy/unknown-field', 29, 34, 'a Transfer has no field `amout`', 'did you mean `amount`?']],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.any(t)',
    problems: [['error', 'policy/unexpected-token', 25, 26, 'expected a `,` and a predicate, got `)`', null]],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.any(true, true)',
    problems: [
      [
        'error',
        'policy/unexpected-token',
        24,
        28,
        'expected a variable for the element, then `,` and a predicate, got `true`',
        '`true` is a reserved word',
      ],
    ],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.count(1) == 1',
    problems: [['error', 'policy/argument-count', 20, 25, '`count` takes no argument, got 1', 'write `count()`']],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.contains() ',
    problems: [
      ['error', 'policy/argument-count', 20, 28, '`contains` takes 1 argument, got 0', 'write `contains(value)`'],
    ],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.amount == 1',
    problems: [
      [
        'error',
        'policy/unknown-field',
        20,
        26,
        'a list<Transfer> has no field `amount`',
        'ask its elements, with `[0]`, `.any(…)` or `.all(…)`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "secret.static_properties.level == 'low'",
    problems: [
      ['error', 'policy/unknown-field', 25, 30, 'a map<string, string> has no field `level`', "write `['level']`"],
    ],
  },
  {
    field: 'condition',
    text: "secret.static_properties[1] == 'low'",
    problems: [['error', 'policy/type-mismatch', 25, 26, 'a map is read by a string, got an int', null]],
  },
  {
    field: 'condition',
    text: "wallet['id'] == 'a'",
    problems: [['error', 'policy/type-mismatch', 0, 12, 'a Wallet cannot be read with `[…]`', 'write `.id`']],
  },
  {
    field: 'condition',
    text: "eth.tx.data['a'] == 'a'",
    problems: [['error', 'policy/type-mismatch', 12, 15, 'a position is a number, got a string', null]],
  },
  {
    field: 'condition',
    text: "eth.tx.data[0..] == 'a'",
    problems: [
      [
        'error',
        'policy/unexpected-token',
        15,
        16,
        'expected an expression, got `]`',
        'a slice has both bounds, like `[0..10]`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "eth.tx.data[..4] == 'a'",
    problems: [
      [
        'error',
        'policy/unexpected-token',
        12,
        14,
        'expected an expression, got `..`',
        'a slice has both bounds, like `[0..10]`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "eth.tx.data['a'..4] == 'a'",
    problems: [['error', 'policy/type-mismatch', 12, 15, 'the bound of a slice is a number, got a string', null]],
  },
  {
    field: 'condition',
    text: 'eth.tx.gas[0..4] == 4',
    problems: [['error', 'policy/type-mismatch', 0, 16, 'an int cannot be sliced', null]],
  },
  {
    field: 'condition',
    text: "Timestamp('2026-01-01T00:00:00Z') == Timestamp('2026-01-01T00:00:00Z')",
    problems: [
      ['error', 'policy/wrong-field', 0, 9, '`Timestamp` is not known in a condition', 'move the clause to the `time`'],
      [
        'error',
        'policy/wrong-field',
        37,
        46,
        '`Timestamp` is not known in a condition',
        'move the clause to the `time`',
      ],
    ],
  },
  {
    field: 'time',
    text: "time.now < Timestamp('2026-05-01T00:00:00+02:00')",
    problems: [
      [
        'error',
        'policy/bad-timestamp',
        21,
        48,
        '`2026-05-01T00:00:00+02:00` has the offset `+02:00`, expected `Z`',
        null,
      ],
    ],
  },
  {
    field: 'time',
    text: "time.now < Timestamp('2026-02-30T00:00:00Z')",
    problems: [['error', 'policy/bad-timestamp', 21, 43, '`2026-02-30T00:00:00Z` is not a date of the calendar', null]],
  },
  {
    field: 'time',
    text: 'time.now < Timestamp(time.now)',
    problems: [
      [
        'error',
        'policy/not-literal',
        21,
        29,
        '`Timestamp` takes an RFC 3339 time with a zero offset as a text in quotes',
        "write `Timestamp('2026-01-31T12:00:00Z')`",
      ],
    ],
  },
  {
    field: 'time',
    text: "CronSpan('* * * * *', '1h')",
    problems: [
      [
        'error',
        'policy/argument-count',
        0,
        27,
        '`CronSpan` takes 3 arguments, got 2',
        "write `CronSpan('0 9 * * 1-5', '8h', 'Europe/Oslo')`",
      ],
    ],
  },
  {
    field: 'time',
    text: "CronSpan('*/15 * * * *', '8d', 'europe/oslo')",
    problems: [
      [
        'error',
        'policy/bad-cron',
        9,
        23,
        '`*/15 * * * *` has `*/15` for the minute, expected `*`, numbers, ranges or lists of 0 to 59',
        null,
      ],
      ['error', 'policy/bad-duration', 25, 29, '`8d` is longer than 7 days', null],
      ['error', 'policy/bad-zone', 31, 44, '`europe/oslo` is not an IANA time zone', 'did you mean `Europe/Oslo`?'],
    ],
  },
  {
    field: 'time',
    text: "CronSpan('0 8 * *', '0m', 'Mars/Olympus')",
    problems: [
      ['error', 'policy/bad-cron', 9, 18, '`0 8 * *` has 4 fields, expected 5 with single blanks between', null],
      ['error', 'policy/bad-duration', 20, 24, '`0m` is zero, expected more', null],
      ['error', 'policy/bad-zone', 26, 40, '`Mars/Olympus` is not an IANA time zone', null],
    ],
  },
  {
    field: 'time',
    text: "CronSpam('0 8 * * 1', '1h', 'UTC')",
    problems: [['error', 'policy/unknown-function', 0, 8, 'unknown function `CronSpam`', 'did you mean `CronSpan`?']],
  },
  {
    field: 'time',
    text: 'Timestamp',
    problems: [
      ['error', 'policy/unknown-name', 0, 9, '`Timestamp` is a function', "write `Timestamp('2026-01-31T12:00:00Z')`"],
    ],
  },
  {
    field: 'condition',
    text: 'solana.tx.transfers.count == 1',
    problems: [['warning', 'policy/bare-count', 20, 25, '`count` is written without parentheses', 'write `count()`']],
  },
  {
    field: 'condition',
    text: "activity.params.walet_id == 'a'",
    problems: [
      [
        'warning',
        'policy/unexposed-param',
        16,
        24,
        'no activity exposes the parameter `walet_id`',
        'did you mean `wallet_id`?',
      ],
    ],
  },
  {
    field: 'condition',
    text: "eth.tx.contract_call_args['o'].maker == 'a'",
    problems: [
      [
        'warning',
        'policy/dynamic-field',
        31,
        36,
        'a decoded value has no field `maker`',
        "read it with `['maker']`, or by position when it is a tuple",
      ],
    ],
  },
  {
    field: 'condition',
    text: "eth.tx.data[-1] == 'a' && eth.tx.data[4..2] == ''",
    problems: [
      ['warning', 'policy/never-in-range', 12, 14, 'a position is never negative', null],
      ['warning', 'policy/never-in-range', 38, 42, 'a slice ends before it starts', null],
    ],
  },
  {
    field: 'condition',
    text: '(true',
    problems: [
      ['error', 'policy/unexpected-end', 5, 5, 'the expression ends where an operator or `)` is expected', null],
    ],
  },
  {
    field: 'condition',
    text: 'true)',
    problems: [
      ['error', 'policy/unexpected-token', 4, 5, 'expected an operator or the end of the expression, got `)`', null],
    ],
  },
  {
    field: 'condition',
    text: 'true == false == true',
    problems: [
      [
        'error',
        'policy/chained-comparison',
        14,
        16,
        'a comparison is followed by another, `==`',
        'join two comparisons with `&&`',
      ],
    ],
  },
  {
    field: 'condition',
    text: "wallet.in == 'a'",
    problems: [
      [
        'error',
        'policy/unexpected-token',
        7,
        9,
        'expected the name of a field or method, got `in`',
        '`in` is a reserved word',
      ],
    ],
  },
  {
    field: 'condition',
    text: "{ id: 'a' }.name == 'a'",
    problems: [['error', 'policy/unknown-field', 12, 16, 'the struct has no field `name`', 'it has `id`']],
  },
  {
    field: 'condition',
    text: "wallet.label == 'a' # c",
    problems: [['error', 'policy/unexpected-character', 20, 23, 'the language has no comments', null]],
  },
  {
    field: 'condition',
    text: 'wallet.id == “a”',
    problems: [['error', 'policy/double-quotes', 13, 16, 'a text stands in single quotes', "write `'a'`"]],
  },
  {
    field: 'condition',
    text: "true || wallet.idd == 'a' && walet.id == 'b' && eth.tx.value == '1'",
    problems: [
      ['error', 'policy/unknown-field', 15, 18, 'a Wallet has no field `idd`', 'did you mean `id`?'],
      ['error', 'policy/unknown-name', 29, 34, 'unknown name `walet`', 'did you mean `wallet` or `wallets`?'],
      [
        'error',
        'policy/type-mismatch',
        48,
        67,
        '`==` does not take int and string',
        'write the number without quotes: `1`',
      ],
    ],
  },
  {
    field: 'condition',
    text: '1 == 1',
    problems: [['warning', 'policy/constant', 0, 6, '`1 == 1` is always true', null]],
  },
  {
    field: 'condition',
    text: "wallet.id == 'a' && [1, 2].any(x, x == 3)",
    problems: [['warning', 'policy/constant', 20, 41, '`[1, 2].any(x, x == 3)` is always false', null]],
  },
  {
    field: 'condition',
    text: "wallet.id == 'a' || true",
    problems: [['warning', 'policy/constant', 20, 24, '`|| true` leaves nothing to the other clauses', null]],
  },
  {
    field: 'condition',
    text: "wallet.id == 'a' && true",
    problems: [['warning', 'policy/constant', 20, 24, '`&& true` changes nothing', null]],
  },
  {
    field: 'condition',
    text: 'wallet.id != wallet.id',
    problems: [['warning', 'policy/constant', 0, 22, '`wallet.id != wallet.id` is always false', null]],
  },
  {
    field: 'consensus',
    text: 'approvers.count() >= 0',
    problems: [['warning', 'policy/constant', 0, 22, '`approvers.count() >= 0` is always true', null]],
  },
  {
    field: 'condition',
    text: '0 > wallets.count()',
    problems: [['warning', 'policy/constant', 0, 19, '`0 > wallets.count()` is always false', null]],
  },
  {
    field: 'condition',
    text: 'eth.tx.nonce < 340282366920938463463374607431768211456',
    problems: [
      [
        'warning',
        'policy/constant',
        0,
        54,
        '`eth.tx.nonce < 340282366920938463463374607431768211456` is always true',
        null,
      ],
    ],
  },
  {
    field: 'condition',
    text: 'eth.tx.value > 5 && eth.tx.value < 5',
    problems: [
      ['warning', 'policy/constant', 20, 36, '`eth.tx.value > 5` and `eth.tx.value < 5` are never both true', null],
    ],
  },
  {
    field: 'condition',
    text: 'eth.tx.value > 5 || 5 >= eth.tx.value',
    problems: [
      ['warning', 'policy/constant', 20, 37, '`eth.tx.value > 5` or `5 >= eth.tx.value` is always true', null],
    ],
  },
  {
    field: 'condition',
    text: "wallet.id in ['a', 'b'] && wallet.id == 'c'",
    problems: [
      [
        'warning',
        'policy/constant',
        27,
        43,
        "`wallet.id in ['a', 'b']` and `wallet.id == 'c'` are never both true",
        null,
      ],
    ],
  },
  {
    field: 'condition',
    text: "wallet.id != 'a' || wallet.id != 'b'",
    problems: [['warning', 'policy/constant', 20, 36, "`wallet.id != 'a'` or `wallet.id != 'b'` is always true", null]],
  },
  {
    field: 'condition',
    text: "wallets.any(w, w.id == 'a' && w.id != 'a')",
    problems: [['warning', 'policy/constant', 30, 41, "`w.id == 'a'` and `w.id != 'a'` are never both true", null]],
  },
  {
    field: 'time',
    text: "Timestamp('2026-01-01T00:00:00Z') == Timestamp('2026-01-01T00:00:00Z')",
    problems: [
      [
        'warning',
        'policy/constant',
        0,
        70,
        "`Timestamp('2026-01-01T00:00:00Z') == Timestamp('2026-01-01T00:00:00Z')` is always true",
        null,
      ],
    ],
  },
]
