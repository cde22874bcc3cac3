/** Who gains or loses a part of a power, a person at a time: what a voter asks first. */
import { printable } from '../diagnostics/index.ts'
import { etherText } from './amounts.ts'
import { circumstanceText } from './circumstance.ts'
import type { Access, Ways } from './document.ts'
import { listed } from './listed.ts'

/**
 * `tara gains: alone up to 5 ETH` · `bob and carol: alone below 1 ETH → alone below 0.5 ETH` · `dave loses: with others`. Nothing
 * of a power that nobody had or has, where its sign says all, nor of one that is not known, or whose sets are too many to write out.
 */
export function peopleTexts(before: Access, after: Access): readonly string[] {
  const all = [before, after].map(waysOf)
  if (all.some((ways) => ways.length === 0 || ways.some(({ more = 0 }) => more > 0))) return []
  if (before.unknown !== undefined || after.unknown !== undefined) return []
  const [names, then] = all.map((ways) => new Set(ways.flatMap(everybody)))
  const people = [...new Set([...names!, ...then!])].sort()
  const byChange = Map.groupBy(
    people.map((name) => ({ name, change: changeOf(partOf(name, before), partOf(name, after)) })),
    ({ change }) => JSON.stringify(change),
  )
  return [...byChange.values()].flatMap((some) => {
    const change = some[0]!.change
    if (change === undefined) return []
    const verb = change.verb === undefined ? '' : ` ${some.length === 1 ? `${change.verb}s` : change.verb}`
    return [`${listed(some.map(({ name }) => printable(name)))}${verb}: ${change.what}`]
  })
}

/** What one person can do of a power. */
function partOf(name: string, access: Access): string | undefined {
  const isAlone = (ways: readonly Ways[]) => ways.some((one) => soleHolders(one).includes(name))
  if (isAlone(access.ways)) return 'alone'
  const alone = (access.under ?? []).filter(({ ways }) => isAlone(ways))
  if (alone.length > 0) return `alone ${limitsText(alone)}`
  return waysOf(access).some((ways) => everybody(ways).includes(name)) ? 'with others' : undefined
}

function changeOf(
  before: string | undefined,
  after: string | undefined,
): { readonly verb?: 'gain' | 'lose'; readonly what: string } | undefined {
  if (before === after) return undefined
  if (before === undefined) return { verb: 'gain', what: after! }
  if (after === undefined) return { verb: 'lose', what: before }
  // Who needed others and needs none now gains, whatever else there is.
  if (before === 'with others') return { verb: 'gain', what: after }
  if (after === 'with others') return { verb: 'lose', what: before }
  return { what: `${before} → ${after}` }
}

type Under = NonNullable<Access['under']>[number]

/** `below 0.5 ETH` where a condition says just that, of several the highest, which holds for the others; else the condition. */
function limitsText(under: readonly Under[]): string {
  const amounts = under.flatMap((one) => amountOf(one) ?? []).sort((a, b) => Number(a.end - b.end))
  const highest = amounts.at(-1)
  const others = under.filter((one) => amountOf(one) === undefined).map(circumstanceText)
  return [...(highest ? [highest.text] : []), ...others].join(', or ')
}

/** An upper limit that is all of a condition; `end` is the first amount that it does not let through. */
function amountOf({ condition, unless = [] }: Under): { readonly end: bigint; readonly text: string } | undefined {
  const [, sign, wei] = /^eth\.tx\.value (<=?) (\d+)$/.exec(condition ?? '') ?? []
  if (wei === undefined || unless.length > 0) return undefined
  const below = sign === '<'
  return { end: BigInt(wei) + (below ? 0n : 1n), text: `${below ? 'below' : 'up to'} ${etherText(BigInt(wei))}` }
}

const waysOf = ({ ways, under = [] }: Access): readonly Ways[] => [...ways, ...under.flatMap((one) => one.ways)]
const everybody = ({ sets, any }: Ways): readonly string[] => any?.of ?? sets.flat()

/** Whose approval alone suffices. */
function soleHolders({ sets, any }: Ways): readonly string[] {
  if (any) return any.count === 1 ? any.of : []
  return sets.flatMap((set) => (set.length === 1 ? set : []))
}
