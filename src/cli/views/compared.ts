import type { ComparedPower, Relation } from '../../analysis/index.ts'
import { amountNote } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { outcomeWords } from './explanation.ts'

/** A request that the two sets decide in different ways. */
export interface ShownDifference {
  /** Who gets it executed in the one set, the submitter first. */
  readonly people: readonly string[]
  /** What comes of the request in each set, in a word of scenarios. */
  readonly before: string
  readonly after: string
  /** The request in the keys of a scenario, with as many votes as make the difference. */
  readonly scenario: Readonly<Record<string, unknown>>
  /** What no key of a scenario says of it. */
  readonly unsaid: readonly string[]
  /** Policies that this request makes err, which then decide nothing: that alone may be the difference. */
  readonly errors: readonly {
    readonly set: 'before' | 'after'
    readonly policy: string
    readonly effect: 'allow' | 'deny'
    readonly field: string
    /** The part of the field that errs, and how. */
    readonly part: string
    readonly message: string
  }[]
}

/** The answer of `quorate policy compare`, and its JSON. */
export interface ComparedView {
  readonly before: string
  readonly after: string
  readonly relation: Relation
  readonly powers: readonly (Omit<ComparedPower, 'wider' | 'narrower'> & {
    readonly wider?: ShownDifference
    readonly narrower?: ShownDifference
  })[]
}

const sentences: Readonly<Record<Relation, string>> = {
  equal: 'lets through the same as',
  wider: 'lets through more than',
  narrower: 'lets through less than',
  incomparable: 'lets through more here and less there than',
  unknown: 'cannot be told from',
}

/** An outcome in the word that a scenario has for it. */
export function scenarioWord(outcome: string): 'allow' | 'deny' | 'pending' {
  return (outcomeWords[outcome] ?? 'deny') as 'allow' | 'deny' | 'pending'
}

/** The relation of the whole, then each power that differs with its requests. */
export const renderCompared = view((report: ComparedView, style: Style): string => {
  const { before, after, relation, powers } = report
  const differing = powers.filter((one) => one.relation !== 'equal')
  const equal = powers.filter((one) => one.relation === 'equal').map(({ power }) => power)
  return [
    `${style.strong(`${after} ${sentences[relation]} ${before}`)}\n`,
    ...differing.map(({ power, relation: how, wider, narrower, unknown, because }) =>
      [
        `\n${style.strong(power)}  ${how}\n`,
        wider ? differenceText('more', wider, style) : '',
        narrower ? differenceText('less', narrower, style) : '',
        unknown.length > 0
          ? `  ${style.warning(`more may differ, because of ${unknown.join(', ')}: ${because.join('; ')}`)}\n`
          : '',
      ].join(''),
    ),
    equal.length > 0 && differing.length > 0 ? `\n${style.dim(`equal: ${equal.join(', ')}`)}\n` : '',
  ].join('')
})

function differenceText(
  how: string,
  { people, before, after, scenario, unsaid, errors }: ShownDifference,
  style: Style,
): string {
  const { expect: _, ...request } = scenario
  const lines = Object.entries(request).map(
    ([key, value]) => `      ${key}: ${flow(value)}${style.dim(inEther(value))}\n`,
  )
  const also = unsaid.map((one) => `      ${style.dim(`and ${one}`)}\n`)
  const erring = errors.map(
    ({ set, policy, effect, field, part, message }) =>
      `      ${set}, the ${field} of \`${policy}\` errs at \`${part}\` (${message}): it ${effect === 'deny' ? 'denies' : 'allows'} nothing here\n`,
  )
  const count = Array.isArray(scenario['by']) ? scenario['by'].length : 1
  const [submitter, ...voters] = people.slice(0, count)
  const by = voters.length === 0 ? submitter : `${submitter}, approved by ${voters.join(' and ')},`
  const missing = people.slice(count).join(' and ') || 'others'
  // Where the request is executed in the end, it is known by whose approval.
  const [first, second] = how === 'less' ? [missing, 'others'] : ['others', missing]
  const told = `${inWords(before, first)} before, and ${inWords(after, second)} after`
  return `  ${how}: a request by ${by} ${told}\n${[...lines, ...also, ...erring].join('')}`
}

/** A comment of YAML with the value of a transaction in ether, where there is one. */
function inEther(value: unknown): string {
  const wei = (value as { readonly ethereum?: { readonly value?: unknown } } | null)?.ethereum?.value
  const note = /^\d+$/.test(String(wei)) ? amountNote(`eth.tx.value == ${wei}`) : ''
  return note && ` #${note}`
}

/** The word of a scenario as a sentence has it. */
function inWords(word: string, missing: string): string {
  return word === 'allow' ? 'is executed' : word === 'deny' ? 'is denied' : `waits for ${missing}`
}

/** A value on one line, as YAML reads it. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, one]) => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}: ${flow(one)}`)
      .join(', ')} }`
  if (typeof value !== 'string') return `${value}`
  return /^[A-Za-z_][\w.@-]*$/.test(value) && !/^(true|false|null|yes|no|on|off)$/i.test(value)
    ? value
    : JSON.stringify(value)
}
