import { printable } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  KINDS,
  kinds,
  type Resource,
  resolveValue,
  type Value,
} from '../resources/index.ts'
import type { Allowed } from './allow.ts'
import {
  authProxyUser,
  isActor,
  isAuthProxyPolicy,
  isCredential,
  MEMBER_KIND,
  QUORUM,
  type QuorumState,
  quorumOf,
} from './authority.ts'
import type { Difference } from './diff.ts'
import { GUARDS, type Guard, type GuardName } from './document.ts'
import type { Identified } from './identify.ts'
import type { LeftFields } from './left-out.ts'
import { listed } from './listed.ts'
import { compareText } from './lock.ts'
import type { Removed } from './removal.ts'
import type { LikelyRename } from './renames.ts'

/** The largest share of a kind that one plan deletes without a bypass where definitions set no limit. */
const MOST_DELETED_PERCENT = 30

export interface GuardInput {
  readonly desired: Desired
  readonly actual: Actual
  readonly identified: Identified
  readonly differences: readonly Difference[]
  readonly unmanaged: readonly Resource[]
  readonly undecided: readonly Removed[]
  readonly left: readonly LeftFields[]
  readonly renames: readonly LikelyRename[]
  readonly allowed: Allowed
}

type Finding = Omit<Guard, 'name' | 'allowed' | 'bypass'> & { readonly count?: number }

/** `no-undo` is found by whoever knows what a plan will mean (`withUndo`). */
const FOUND_HERE = GUARDS.filter((name): name is Exclude<GuardName, 'no-undo'> => name !== 'no-undo')

/** What each guard finds; an empty list lets the plan pass. */
const findings: Readonly<Record<(typeof FOUND_HERE)[number], (input: GuardInput) => readonly Finding[]>> = {
  delete: deletions,
  deletes: manyDeletions,
  removal: undecidedRemovals,
  'lock-out': lockOut,
  'quorum-lowered': quorumLowered,
  'credential-in-use': credentialInUse,
  adoption: adoptions,
  'exclusive-credentials': exclusiveCredentials,
  'auth-proxy': ofAuthProxy,
}

/** Reasons to stop before anything is submitted, each with its own bypass, which is recorded when it was given. */
export function guards(input: GuardInput): readonly Guard[] {
  return FOUND_HERE.flatMap((name) =>
    findings[name](input).map(({ message, addresses, count }): Guard => {
      const given = input.allowed.get(name)
      return {
        name,
        message,
        addresses: [...addresses].sort(compareText),
        bypass: bypassOf(name, count),
        allowed: given !== undefined && given >= (count ?? 0),
      }
    }),
  )
}

function bypassOf(name: GuardName, count: number | undefined): string {
  if (name === 'delete') return '--allow-delete'
  return count === undefined ? `--allow ${name}` : `--allow ${name}=${count}`
}

/** A deletion is refused without a mark on the resource (its tombstone) or the flag for the run. */
function deletions({ differences, renames }: GuardInput): readonly Finding[] {
  const unmarked = differences.filter(({ action, input }) => action === 'delete' && !input.desired?.tombstone)
  if (unmarked.length === 0) return []
  const addresses = unmarked.map(({ address }) => address)
  return [{ message: `the plan deletes ${list(addresses)}${renameText(addresses, renames)}`, addresses }]
}

/** Most of what may be the same under a new name that is named one by one. */
const MOST_RENAMES = 3

/** Of what may be the same under a new name: how its definition says so. */
function renameText(addresses: readonly Address[], renames: readonly LikelyRename[]): string {
  const found = renames.filter(({ former }) => addresses.includes(former))
  const named = found.slice(0, MOST_RENAMES).map(({ made, former, text }) => {
    return `; if \`${made.address}\` is \`${former}\` under a new name, say there \`${text}\``
  })
  const more = found.length - named.length
  return `${named.join('')}${more > 0 ? `; ${more} more may be renamed too, as the warnings say` : ''}`
}

function manyDeletions({ differences, actual, desired }: GuardInput): readonly Finding[] {
  return KINDS.flatMap((kind): readonly Finding[] => {
    const gone = differences.filter((one) => one.kind === kind && one.action === 'delete')
    const base = actual.resources.filter((one) => one.kind === kind).length
    const limit = desired.deleteLimits?.[kind] ?? MOST_DELETED_PERCENT
    if (gone.length * 100 <= base * limit) return []
    const percent = Math.round((gone.length * 100) / base)
    const { one, many } = kinds[kind]
    const message = `deleting ${gone.length} of ${base} ${base === 1 ? one : many} is ${percent} %, over ${limit} %`
    return [{ message, addresses: gone.map(({ address }) => address), count: gone.length }]
  })
}

/** What a deletion would destroy for good, or what cannot be deleted, needs a word of its own: to go, or to be handed back. */
function undecidedRemovals({ undecided, left, renames }: GuardInput): readonly Finding[] {
  const [deletable, lasting] = [true, false].map((can) =>
    undecided.filter(({ live }) => (kinds[live.kind].remove !== undefined) === can).map(({ address }) => address),
  )
  const said = (addresses: readonly Address[] | undefined, choice: string): readonly Finding[] => {
    if (!addresses || addresses.length === 0) return []
    const verb =
      addresses.length === 1
        ? 'was managed here, is not defined any more and is'
        : 'were managed here, are not defined any more and are'
    return [{ message: `${list(addresses)} ${verb} live; ${choice}${renameText(addresses, renames)}`, addresses }]
  }
  const forget = 'list under `forget:` what is to stay live and be managed no longer'
  return [
    ...said(deletable, `define it with \`delete: true\` to delete it, or ${forget}`),
    ...said(lasting, `it cannot be deleted: define it again, or ${forget}`),
    ...left.map(({ address, live, fields }) => {
      const [verb, it] = fields.length === 1 ? ['was', 'it'] : ['were', 'them']
      const why = fields.map((field) => kinds[live.kind].fields[field]!.immutable ?? 'the API cannot take it back')
      return {
        message:
          `${list(fields)} of ${list([address])} ${verb} managed here, ${fields.length === 1 ? 'is' : 'are'} defined no more and ` +
          `cannot be set back (${[...new Set(why)].join('; ')}); define ${it} again, or let ${it} be, which stays live and is managed no longer`,
        addresses: [address],
      }
    }),
  ]
}

/** Whether the quorum could still be met with the credentials that are left. Only a plan that touches either is asked. */
function lockOut(input: GuardInput): readonly Finding[] {
  const { differences } = input
  const touching = differences.filter(
    ({ kind, action }) =>
      kind === QUORUM.kind || (action === 'delete' && (isCredential({ kind }) || kind === MEMBER_KIND)),
  )
  if (touching.length === 0) return []
  const { threshold, members } = quorumAfter(input)
  const able = credentialHolders(input)
  const ready = members.filter((member) => able.has(member))
  if (ready.length >= threshold && threshold > 0) return []
  const message =
    `afterwards ${ready.length} of ${members.length} quorum members would have credentials, ` +
    `and the root quorum needs ${threshold}: nobody could act for the organization`
  return [{ message, addresses: touching.map(({ address }) => address) }]
}

function quorumLowered(input: GuardInput): readonly Finding[] {
  const change = quorumChange(input)
  if (!change) return []
  const before = quorumOf(change.input.actual, String).threshold
  const after = quorumAfter(input).threshold
  if (after >= before) return []
  return [{ message: `the root quorum falls from ${before} to ${after}`, addresses: [change.address] }]
}

function credentialInUse({ differences, actual }: GuardInput): readonly Finding[] {
  return differences
    .filter(({ action, input }) => action === 'delete' && isActor(input.actual!, actual.actor))
    .map(({ address }) => ({
      message: `deleting ${quote(address)} takes away the credential in use: this run could not go on after it`,
      addresses: [address],
    }))
}

function adoptions({ identified }: GuardInput): readonly Finding[] {
  const { adoptions: found } = identified
  if (found.length === 0) return []
  const each = [...found]
    .sort((a, b) => compareText(a.resource.address, b.resource.address))
    .map(
      ({ resource, creator }) =>
        `${quote(resource.address)} (created by ${creator ? quote(creator.userName) : 'nobody known'})`,
    )
  const message = `${list(each, (text) => text)} ${found.length === 1 ? 'was' : 'were'} there before and would be taken as defined`
  return [{ message, addresses: found.map(({ resource }) => resource.address) }]
}

/** Credentials of quorum members are exclusive: one that no definition mentions is somebody's way into the quorum. */
function exclusiveCredentials(input: GuardInput): readonly Finding[] {
  const { desired, identified, unmanaged } = input
  const members = new Set(quorumAfter(input).members)
  const quorumIsDeclared = desired.resources.some(({ kind }) => kind === QUORUM.kind)
  const declared = new Set([...identified.matches.values()].map(({ id }) => id))
  const strays = unmanaged.filter(
    (one) => isCredential(one) && members.has(one.parentId!) && (quorumIsDeclared || declared.has(one.parentId)),
  )
  if (strays.length === 0) return []
  const message = `${list(strays.map(({ address }) => address))} ${strays.length === 1 ? 'lets' : 'let'} quorum members in and ${strays.length === 1 ? 'is' : 'are'} not in the definitions`
  return [{ message, addresses: strays.map(({ address }) => address) }]
}

/** What the service keeps for the authentication proxy: its user, what that user has, and its policy. */
function ofAuthProxy(input: GuardInput): readonly Finding[] {
  const { differences, actual, identified } = input
  const userId = authProxyUser(actual)
  if (userId === undefined) return []
  const parentOf = ({ input: { desired, actual: live } }: Difference) =>
    live?.parentId ?? (desired?.parent && identified.ids[desired.parent])
  const isKept = (one: Difference) =>
    (one.input.actual?.id ?? '') === userId ||
    parentOf(one) === userId ||
    (one.input.actual !== undefined && isAuthProxyPolicy(one.input.actual, userId))
  const touched = differences.filter((one) => ['create', 'update', 'delete'].includes(one.action) && isKept(one))
  const kept = touched.map(({ address }) => address)
  const change = quorumChange(input)
  const before = change && quorumOf(change.input.actual, memberKey).members.includes(userId)
  const joins = change !== undefined && !before && quorumAfter(input).members.includes(userId)
  return [
    ...(kept.length === 0
      ? []
      : [
          {
            message: `${list(kept)} ${kept.length === 1 ? 'is' : 'are'} what the service keeps for the authentication proxy: nobody could rely on logging in through it`,
            addresses: kept,
          },
        ]),
    ...(joins
      ? [
          {
            message: 'the user of the authentication proxy would join the root quorum, by a key that answers everybody',
            addresses: [change.address],
          },
        ]
      : []),
  ]
}

function quorumChange({ differences }: GuardInput): Difference | undefined {
  return differences.find(({ kind }) => kind === QUORUM.kind)
}

/** The quorum as the plan leaves it; members by live id, or by address while they have none. */
function quorumAfter(input: GuardInput): QuorumState {
  const live = input.actual.resources.find(({ kind }) => kind === QUORUM.kind)
  const change = quorumChange(input)
  const fields = { ...live?.fields, ...change?.input.desired?.fields }
  const resolved = resolveValue(fields, input.identified.ids) as Resource['fields']
  return quorumOf({ ...(live ?? change?.input.desired)!, fields: resolved }, memberKey)
}

function memberKey(member: Value): string {
  return typeof member === 'string' ? member : (member as { readonly $ref: Address }).$ref
}

/** Who has a credential when the plan is done, by live id or address. */
function credentialHolders({ actual, differences, identified }: GuardInput): ReadonlySet<string> {
  const gone = new Set(differences.filter(({ action }) => action === 'delete').map(({ input }) => input.actual!.id))
  const kept = actual.resources.filter((one) => isCredential(one) && !gone.has(one.id) && !gone.has(one.parentId))
  const made = differences.filter((one) => one.action === 'create' && isCredential(one))
  const owners = made.map(({ input }) => input.desired!.parent!).map((address) => identified.ids[address] ?? address)
  return new Set([...kept.map(({ parentId }) => parentId!), ...owners])
}

function quote(text: string): string {
  return `\`${printable(text)}\``
}

/** The first five, and how many more. */
function list(texts: readonly string[], format: (text: string) => string = quote): string {
  return listed([...texts].sort(compareText).map(format))
}
