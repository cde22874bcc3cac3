/** A request in the keys of a scenario: the way back from what policies read. */
import type { PolicyContext } from '../policy/index.ts'
import { chains, type ExpectedOutcome } from './form.ts'
import { DEFAULT_TIME } from './read-request.ts'
import { parseTime } from './time.ts'
import type { World } from './world.ts'

/** One that approves, by name, with the id of the credential that is used. */
export interface WrittenVote {
  readonly user: string
  readonly credentialId: string | undefined
}

/** The keys of a scenario with their values; whole numbers are bigints. */
export interface WrittenScenario {
  readonly keys: Readonly<Record<string, unknown>>
  /** What no key says, such as a wallet that no definition names; the scenario is another request then. */
  readonly unsaid: readonly string[]
}

/** Writes a request of a world, with what should come of it. */
export function writeScenario(
  world: World,
  {
    context,
    votes,
    expect,
  }: { readonly context: PolicyContext; readonly votes: readonly WrittenVote[]; readonly expect?: ExpectedOutcome },
): WrittenScenario {
  const unsaid: string[] = []
  const by = votes.map((vote) => personOf(world, vote))
  const { activity, wallet, wallets, wallet_account: account, private_key: privateKey, secret, eth } = context
  const [chain, tx] = transactionOf(context)
  const { type: _, ...others } = (activity.params ?? {}) as Readonly<Record<string, unknown>>
  const params = chain === undefined ? activity.params : others
  const keys: Record<string, unknown> = {
    by: by.length === 1 ? by[0] : by,
    activity: activity.type,
    params: params && Object.keys(params).length > 0 ? params : undefined,
    wallet: wallet && nameOf(world, wallet, unsaid),
    wallets: wallets?.map((one) => nameOf(world, one, unsaid)),
    account: account?.['address'],
    privateKey,
    secret,
    transaction: chain && { [chain]: tx },
    typedData: eth?.['eip_712'],
    authorization: eth?.['eip_7702_authorization'],
    time: context.now === parseTime(DEFAULT_TIME) ? undefined : timeText(context.now),
    expect,
  }
  return { keys: defined(keys), unsaid }
}

function personOf({ users }: World, { user, credentialId }: WrittenVote): unknown {
  const credentials = users[user]?.credentials ?? []
  const used = credentials.find(({ facts }) => facts.id === credentialId)
  return used === undefined || used === credentials[0] ? user : { user, with: used.name }
}

/** The name of a wallet as the world knows it, untouched as a scenario has it. */
function nameOf({ wallets }: World, wallet: Readonly<Record<string, unknown>>, unsaid: string[]): string {
  const known = Object.entries(wallets).find(([, one]) => one.id === wallet['id'] && one.label === wallet['label'])
  if (known === undefined) unsaid.push(`a wallet with the id \`${wallet['id']}\` and the name \`${wallet['label']}\``)
  for (const word of ['imported', 'exported']) if (wallet[word] === true) unsaid.push(`that the wallet was ${word}`)
  return known?.[0] ?? String(wallet['label'])
}

function transactionOf(context: PolicyContext): readonly [chain?: string, tx?: unknown] {
  for (const [chain, { root }] of Object.entries(chains)) {
    const tx = context[root]?.['tx']
    if (tx !== undefined) return [chain, tx]
  }
  return []
}

/** Nanoseconds since the epoch as RFC 3339, with as many decimals as they need. */
function timeText(now: bigint): string {
  const [seconds] = new Date(Number(now / 1_000_000n)).toISOString().split('.')
  const fraction = `${((now % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '')
  return `${seconds}${fraction === '' ? '' : `.${fraction}`}Z`
}

/** Without what is absent, at every depth. */
function defined(value: unknown): never {
  if (Array.isArray(value)) return value.map(defined) as never
  if (typeof value !== 'object' || value === null) return value as never
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(entries.map(([key, one]) => [key, defined(one)])) as never
}
