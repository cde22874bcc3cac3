/**
 * Where the public documentation is silent or contradicts itself, one reading is taken and carried out in one place.
 * This is the list of them: to change a reading, go to its place. docs/policy-language.md#readings prints it, and
 * docs/protocol/policies.md says what each is part of.
 */
export interface Reading {
  readonly reading: string
  /** The file that carries it out, or the room when it is not this one. */
  readonly where: string
}

export const readings = {
  'U-empty-policy': {
    reading: 'a policy with neither consensus nor condition is accepted; both hold',
    where: 'src/policy/authorize.ts',
  },
  'U-legacy-selectors': {
    reading: 'selectors of old create versions are refused, not translated',
    where: 'src/service',
  },
  'U-batch-create': { reading: 'several policies are created all or nothing', where: 'src/service' },
  'U-clear-field': {
    reading:
      'an absent field of an update leaves the value alone, an empty time clears it, another empty field is refused',
    where: 'src/policy/refusal.ts',
  },
  'U-ws': {
    reading: 'blank, tab, CR and LF separate tokens; there are no comments',
    where: 'src/policy/lexer.ts',
  },
  'U-escape': {
    reading: 'a string has no escapes and cannot contain a single quote',
    where: 'src/policy/lexer.ts',
  },
  'U-intlit': {
    reading: 'numbers are decimal digits, with a `-` directly before them for negatives',
    where: 'src/policy/lexer.ts',
  },
  'U-binder': {
    reading: 'a variable is any identifier in ASCII but a reserved word, and hides what has its name',
    where: 'src/policy/tokens.ts',
  },
  'U-precedence': {
    reading: 'postfix, `!`, comparison, `&&`, `||`, tightest first',
    where: 'src/policy/operators.ts',
  },
  'U-parens': { reading: 'parentheses may stand around any expression', where: 'src/policy/parser.ts' },
  'U-not': { reading: '`!` negates a bool in every field', where: 'src/policy/operators.ts' },
  'U-chain': { reading: '`a < b < c` is a syntax error', where: 'src/policy/parser.ts' },
  'U-trailing': { reading: 'a trailing comma is a syntax error', where: 'src/policy/parser.ts' },
  'U-structlit': { reading: 'struct literals can be read with `.field` and no more', where: 'src/policy/check.ts' },
  'U-undoc-fn': { reading: '`hex_to_uint()` and `gasPrice` are unknown', where: 'src/policy/operators.ts' },
  'U-intuint': { reading: 'int and uint compare by value', where: 'src/policy/values.ts' },
  'U-overflow': {
    reading: 'a literal that fits neither int nor uint is refused; a value outside of its type is an error',
    where: 'src/policy/load.ts',
  },
  'U-eqtypes': {
    reading: '`==` takes numbers, texts, bools and timestamps; `<` takes numbers and timestamps',
    where: 'src/policy/types.ts',
  },
  'U-number': {
    reading: 'a `number` compares with numbers by value and with texts by its canonical decimal text',
    where: 'src/policy/values.ts',
  },
  'U-hexcase': {
    reading: 'hex text ignores letter case, also in pieces; a decoded text is hex when it is `0x` and hex digits',
    where: 'src/policy/load.ts',
  },
  'U-dynamic': {
    reading: 'decoded values are typed at evaluation; a mismatch is an error of the policy',
    where: 'src/policy/load.ts',
  },
  'U-712-num': {
    reading: 'an integer of a typed-data message, also as canonical decimal text, is a `number`',
    where: 'src/policy/load.ts',
  },
  'U-712-in': { reading: '`in` and `contains` take every comparable type', where: 'src/policy/operators.ts' },
  'U-float': { reading: 'a fraction is opaque: no operator takes it', where: 'src/policy/load.ts' },
  'U-option': {
    reading: 'an optional value reads as what it holds, and is missing when it holds nothing',
    where: 'src/policy/evaluate.ts',
  },
  'U-emptylist': {
    reading: '`[]` has any element type; element types do not mix, but numbers do',
    where: 'src/policy/types.ts',
  },
  'U-fields': {
    reading: 'a root outside of its field is refused',
    where: 'src/policy/environment.ts',
  },
  'U-root-def': {
    reading: 'exporting a wallet defines `wallet`, an account also `wallet_account`; other wallet activities neither',
    where: 'src/service',
  },
  'U-wallets': { reading: 'deleting wallets defines `wallets`', where: 'src/service' },
  'U-secret': {
    reading: 'a secret has `static_properties`; of several secrets each is judged separately',
    where: 'src/policy/environment/people.ts',
  },
  'U-ethfields': {
    reading: 'a field that the type of transaction does not have is missing',
    where: 'src/policy/environment/ethereum.ts',
  },
  'U-named-accounts': {
    reading: '`named_account` is another spelling of `named_accounts`',
    where: 'src/policy/environment/solana.ts',
  },
  'U-sol-hex': { reading: 'instruction data and discriminator are lower-case hex without `0x`', where: 'src/chain' },
  'U-tron-absent': {
    reading: 'a field of another contract type is missing, never 0',
    where: 'src/policy/environment/tron.ts',
  },
  'U-tron-types': {
    reading: 'keys are a list, operations a text',
    where: 'src/policy/environment/tron.ts',
  },
  'U-btc': { reading: 'address types, addresses without form, locktime of 0', where: 'src/chain' },
  'U-tempo-zero': { reading: 'an absent input is `0x`', where: 'src/policy/environment/tempo.ts' },
  'U-index-oob': { reading: 'a position outside of the value is an error', where: 'src/policy/evaluate.ts' },
  'U-slice-oob': {
    reading: 'bounds are clamped to the length; a negative bound or one past the other is an error',
    where: 'src/policy/evaluate.ts',
  },
  'U-slice-form': { reading: 'both bounds of a slice are required', where: 'src/policy/parser.ts' },
  'U-charunit': { reading: 'positions of a text count code points', where: 'src/policy/evaluate.ts' },
  'U-count-bare': { reading: '`.count` on a list is `.count()`, with a warning', where: 'src/policy/check.ts' },
  'U-strmethods': { reading: 'texts and maps have no methods', where: 'src/policy/check.ts' },
  'U-mapkey': {
    reading: "a map is read with `['key']`, by any text, and never with `.key`",
    where: 'src/policy/check.ts',
  },
  'U-abi-absent': {
    reading: 'without an interface the name and selector are empty and the arguments are missing',
    where: 'src/policy/environment/ethereum.ts',
  },
  'U-abi-shape': { reading: 'how ABI values appear', where: 'src/chain' },
  'U-idl-absent': {
    reading: 'without an interface the parsed instruction is missing',
    where: 'src/policy/environment/solana.ts',
  },
  'U-idl-shape': { reading: 'how IDL values appear', where: 'src/chain' },
  'U-time-scope': {
    reading: '`time` has `time.now` and the two functions alone, and they stand there alone',
    where: 'src/policy/check.ts',
  },
  'U-literal-args': { reading: 'arguments of the functions are text literals', where: 'src/policy/check.ts' },
  'U-cron-syntax': {
    reading: 'single blanks between fields; lists may contain ranges; no 7 for Sunday, nothing reversed or empty',
    where: 'src/policy/cron.ts',
  },
  'U-cron-dst': {
    reading: 'a skipped local time fires later by the gap, a repeated one fires once, at its first occurrence',
    where: 'src/policy/zone.ts',
  },
  'U-duration': {
    reading: 'd, then h, then m, each at most once, lower case, no blanks',
    where: 'src/policy/cron.ts',
  },
  'U-rfc3339': {
    reading: 'fractions down to a nanosecond, `t` and `z` in either case, no blank, no second 60',
    where: 'src/policy/instant.ts',
  },
  'U-time-error': { reading: 'an error in `time` makes the policy an error', where: 'src/policy/authorize.ts' },
  'U-time-pending': { reading: 'each vote is judged at its own time', where: 'src/service' },
  'U-static': {
    reading: 'what is certainly wrong is refused when written, the rest is an error of evaluation',
    where: 'src/policy/check.ts',
  },
  'U-err-consensus': { reading: 'nothing short-circuits in any field', where: 'src/policy/evaluate.ts' },
  'U-err-lambda': {
    reading: 'a predicate is evaluated for every element, and any error is the result',
    where: 'src/policy/evaluate.ts',
  },
  'U-err-final': {
    reading: 'a policy that errs neither allows nor denies',
    where: 'src/policy/authorize.ts',
  },
  'U-per-policy': { reading: 'the outcome told for each policy', where: 'src/policy/authorize.ts' },
  'U-pending': {
    reading: 'deny, allow, requires consensus, own credentials, quorum begun, implicit deny',
    where: 'src/policy/authorize.ts',
  },
  'U-outcome-names': { reading: "the API's names of outcomes", where: 'src/policy/model.ts' },
  'U-own-cred': {
    reading: 'the permission to change own credentials holds when no policy decides',
    where: 'src/policy/authorize.ts',
  },
  'U-own-cred-scope': {
    reading: 'it covers creating and deleting credentials of the only voter, and its own logins',
    where: 'src/policy/authorize.ts',
  },
  'U-rejected': { reading: 'one reject by a user who may vote rejects for good', where: 'src/service' },
  'U-denied-surface': {
    reading:
      'a denied request is answered with HTTP 403 and code 7, and its activity is kept as FAILED; a denied vote is answered likewise, its evaluation is kept under an id that no vote has, and the activity waits on',
    where: 'src/service',
  },
  'U-snapshot': { reading: 'each vote uses policies, tags and quorum as they are then', where: 'src/service' },
  'U-batch': {
    reading: 'every item is decided by itself; the worst outcome is the outcome',
    where: 'src/policy/authorize.ts',
  },
  'U-org': { reading: "only the organization's own policies count", where: 'src/service' },
  'U-approvers': {
    reading: 'one entry a user and one a credential; lapsed and rejecting votes are left out',
    where: 'src/service',
  },
  'U-included': {
    reading:
      'included is whom all predicates of one chain on `approvers` or `credentials` hold for, or anybody where they are counted bare; `true` or no consensus includes anybody',
    where: 'src/policy/inclusion.ts',
  },
  'U-otp-default': { reading: '`otp_length` is 9 when left out', where: 'src/policy/activity-params.ts' },
  'U-old-versions': { reading: 'versions of a kind share resource and action', where: 'src/protocol' },
  'U-resource-gap': { reading: 'resource and action where only the kind is given', where: 'src/protocol' },
  'U-kind-gap': { reading: 'kinds of the types in no table', where: 'src/protocol' },
  'U-limits': {
    reading:
      '16 KiB, 64 levels, one million steps an evaluation, two million a request, which no policy allows beyond them',
    where: 'src/policy/limits.ts',
  },
  'U-other-errors': {
    reading: 'an error in a scope refuses; an error in a multi-factor condition does not apply',
    where: 'src/service',
  },
} as const satisfies Readonly<Record<`U-${string}`, Reading>>
