import type { Codes } from '../diagnostics/index.ts'

/** What can be wrong with the text of a policy's expression. */
export const policyCodes = {
  'policy/too-long': {
    summary: 'an expression is longer than 16 KiB',
    solve: 'split the policy in two, or name people by a tag instead of one by one',
  },
  'policy/too-deep': {
    summary: 'an expression is nested deeper than 64 levels',
    solve: 'remove parentheses that change nothing, or split the policy in two',
  },
  'policy/unexpected-character': {
    summary: 'a character has no meaning in the language',
    solve: 'remove it; there is no arithmetic, there are no comments',
  },
  'policy/double-quotes': {
    summary: 'a text stands in double quotes',
    solve: 'put it in single quotes',
  },
  'policy/unterminated-string': {
    summary: 'a text has no closing quote',
    solve: 'close it with a single quote; a text cannot contain one',
  },
  'policy/malformed-number': {
    summary: 'a number is not written in decimal digits alone',
    solve: 'write whole numbers in decimal digits, without separators',
  },
  'policy/unexpected-token': {
    summary: 'something else was expected at this place',
    solve: 'compare with the grammar in the language reference',
  },
  'policy/unexpected-end': {
    summary: 'the expression ends before it is complete',
    solve: 'complete it, or leave the field out; `true` holds for everybody and everything',
  },
  'policy/chained-comparison': {
    summary: 'two comparisons follow one another',
    solve: 'join two comparisons with `&&`',
  },
  'policy/unknown-name': {
    summary: 'a name is neither a keyword nor a variable',
    solve: 'use one of the keywords of the language reference',
  },
  'policy/wrong-field': {
    summary: 'a keyword or function belongs to another field of the policy',
    solve: 'move the clause: people to `consensus`, the request to `condition`, time to `time`',
  },
  'policy/unknown-field': {
    summary: 'a value has no such field',
    solve: 'use a field of the language reference; maps are read with `[…]`',
  },
  'policy/unknown-method': {
    summary: 'there is no such method on this kind of value',
    solve: 'lists have `all`, `any`, `filter`, `contains` and `count`; nothing else has methods',
  },
  'policy/unknown-function': {
    summary: 'there is no such function',
    solve: 'the functions are `Timestamp` and `CronSpan`, in `time` alone',
  },
  'policy/argument-count': {
    summary: 'a method or function has too many or too few arguments',
    solve: 'give the arguments that the message names',
  },
  'policy/type-mismatch': {
    summary: 'an operator does not take values of these types',
    solve: 'compare like with like: nothing is converted between text, numbers and bool',
  },
  'policy/not-bool': {
    summary: 'the expression is not true or false',
    solve: 'compare the value with something',
  },
  'policy/mixed-list': {
    summary: 'the elements of a list have different types',
    solve: 'make them all texts, or all numbers',
  },
  'policy/number-range': {
    summary: 'a number is outside of what the language can hold',
    solve: 'stay between -2^127 and 2^256-1',
  },
  'policy/not-literal': {
    summary: 'an argument of a time function is not a text in quotes',
    solve: 'write the argument as a text in single quotes',
  },
  'policy/bad-timestamp': {
    summary: 'the argument of `Timestamp` is not an RFC 3339 time with a zero offset',
    solve: "write it like `Timestamp('2026-01-31T12:00:00Z')`",
  },
  'policy/bad-cron': {
    summary: 'the first argument of `CronSpan` is not a cron expression of five fields',
    solve: 'write minute, hour, day of month, month and day of week as numbers, ranges, lists or `*`',
  },
  'policy/bad-duration': {
    summary: 'the second argument of `CronSpan` is not a duration of at most seven days',
    solve: 'write days, hours and minutes in this order, like `1d12h` or `90m`',
  },
  'policy/bad-zone': {
    summary: 'the third argument of `CronSpan` is not an IANA time zone',
    solve: 'write it like `Europe/Oslo` or `UTC`',
  },
  'policy/bare-count': {
    summary: '`.count` is written without parentheses',
    solve: 'write `.count()` in its place',
  },
  'policy/unexposed-param': {
    summary: 'no activity exposes this field of `activity.params`, so reading it is always an error',
    solve: 'use one of the exposed fields of the language reference',
  },
  'policy/dynamic-field': {
    summary: 'a decoded value is read with `.name`, which is always an error',
    solve: "read it with `['name']`, or by position when it is a tuple",
  },
  'policy/constant': {
    summary: 'a clause has the same value on every request',
    solve: 'write what was meant, or remove it; `true` alone is how one says "anybody" or "anything"',
  },
  'policy/never-in-range': {
    summary: 'a position can never be inside of the value, so reading it is always an error',
    solve: 'count positions from 0; a slice goes from its start to its end',
  },
} as const satisfies Codes

export type PolicyCode = keyof typeof policyCodes
