import { approverOf, standingCredentials, type User } from '../authority/index.ts'
import type { SmartContractInterface } from '../chain/index.ts'
import { type Diagnostic, diagnostic, messageOf, type Span, suggest } from '../diagnostics/index.ts'
import {
  type Approver,
  type CredentialFacts,
  exposedOnly,
  memberNames,
  memberType,
  type PolicyContext,
  paramNames,
  rootType,
  type Type,
} from '../policy/index.ts'
import { type ActivityRow, activities, activityKinds, findActivity } from '../protocol/index.ts'
import { parseAddress } from '../resources/index.ts'
import { contextValue } from './context-value.ts'
import { type ChainName, chains } from './form.ts'
import { parseTime } from './time.ts'
import { childOf, entriesOf, itemsOf, type ScenarioScalar, type ScenarioTree, wordOf } from './tree.ts'
import { idOf, type World } from './world.ts'

/** Turns the bytes of an unsigned transaction into the roots of policies; throws when they are none. */
export type TransactionReader = (request: {
  readonly type: string
  readonly unsignedTransaction: string
  readonly signer?: string
  readonly interfaces: readonly SmartContractInterface[]
}) => Partial<PolicyContext>

export interface RequestTools {
  readonly world: World
  readonly readTransaction: TransactionReader
  readonly readInterfaces: (tree: ScenarioTree | undefined) => readonly SmartContractInterface[]
  readonly report: (fault: Diagnostic) => void
}

/** The time of a request that gives none, in a world without a time. */
export const DEFAULT_TIME = '2026-01-01T00:00:00Z'

/** Reads a request from the keys of a scenario. A wrong value is reported and left out of the request. */
export function readRequest(tree: ScenarioTree, tools: RequestTools): PolicyContext {
  const { world } = tools
  const now = readTime(childOf(tree, 'time'), tools)
  const people = readPeople(tree, now, tools)
  const row = readActivity(tree, tools)
  const transaction = readTransaction(childOf(tree, 'transaction'), tree, tools)
  const calls = itemsOf(childOf(tree, 'calls')).map((call) => readTransaction(call, tree, tools).facts)
  const params = readParams(tree, row, transaction.type, tools)
  const target = readTarget(tree, row, params, tools)
  return {
    now,
    activity: { type: row?.type ?? '', params },
    approvers: people.map(({ approver }) => approver),
    credentials: people.map(({ credential }) => credential),
    rootQuorum: world.quorum,
    ...(target === undefined ? {} : { targetUserId: target }),
    ...readThings(tree, tools),
    ...transaction.facts,
    ...readPayload(tree, tools),
    ...(calls.length === 0 ? {} : { batch: calls }),
  }
}

function readPeople(
  tree: ScenarioTree,
  now: bigint,
  tools: RequestTools,
): readonly { readonly approver: Approver; readonly credential: CredentialFacts }[] {
  const by = childOf(tree, 'by')
  if (by === undefined) {
    tools.report(
      diagnostic('scenarios/missing-key', '`by` is missing: who asks for it', tree.span, {
        help: 'add `by:` with the name of a user',
      }),
    )
    return []
  }
  return (by.kind === 'list' ? by.items : [by]).flatMap((item) => {
    const named = item.kind === 'map' ? childOf(item, 'user') : item
    const found = lookUp(named ?? item, tools.world.users, 'user', tools)
    if (found === undefined) return []
    const credential = credentialOf(found.value, childOf(item, 'with'), now, tools)
    return [{ approver: approverOf(found.value), credential }]
  })
}

/** The credential that was used: the one named, one of the type named, or the user's first. */
function credentialOf(user: User, tree: ScenarioTree | undefined, now: bigint, tools: RequestTools): CredentialFacts {
  const [first] = standingCredentials(user, Number(now / 1_000_000n))
  const madeUp = (type: string) => ({ id: `${user.id} ${type}`, user_id: user.id, type })
  const word = wordOf(tree)
  if (word === undefined) return first ?? madeUp(API_KEY)
  if (word.startsWith('CREDENTIAL_TYPE_'))
    return user.credentials.find(({ facts }) => facts.type === word)?.facts ?? madeUp(word)
  const byName = Object.fromEntries(user.credentials.toReversed().map((one) => [one.name, one.facts]))
  return lookUp(tree!, byName, 'credential', tools)?.value ?? first ?? madeUp(API_KEY)
}

const API_KEY = 'CREDENTIAL_TYPE_API_KEY_P256'

/** Finds an activity by kind, by type, or by type without its prefix; of a kind the newest version. */
function readActivity(tree: ScenarioTree, { report }: RequestTools): ActivityRow | undefined {
  const written = childOf(tree, 'activity')
  const word = wordOf(written)
  if (written === undefined || word === undefined) {
    const at = written?.span ?? tree.span
    report(diagnostic('scenarios/missing-key', '`activity` is missing: what is asked for', at))
    return undefined
  }
  const rows = Object.values(activities)
  const row =
    findActivity(word)?.row ??
    rows.find(({ kind, latest }) => kind === word && latest) ??
    rows.find(({ family, latest }) => family === word && latest) ??
    findActivity(`ACTIVITY_TYPE_${word}`)?.row
  if (row === undefined) {
    const near = suggest(word, [...activityKinds, ...Object.keys(activities)])
    report(
      diagnostic('scenarios/unknown-activity', `there is no activity \`${word}\``, written.span, {
        help:
          didYouMean(near) ??
          'write a kind such as `SIGN_TRANSACTION`, or a type such as `ACTIVITY_TYPE_CREATE_WALLET`',
      }),
    )
  }
  return row
}

function readParams(
  tree: ScenarioTree,
  row: ActivityRow | undefined,
  transactionType: string | undefined,
  tools: RequestTools,
): Readonly<Record<string, unknown>> {
  const written = childOf(tree, 'params')
  const known = row === undefined ? [] : paramNames(row.type)
  const implied = transactionType !== undefined && known.includes('type') ? { type: transactionType } : {}
  const exposed = (params: Readonly<Record<string, unknown>>) =>
    row === undefined ? params : exposedOnly(row.type, params)
  if (written === undefined) return exposed(implied)
  for (const { key, keySpan } of entriesOf(written)) {
    if (row === undefined || known.includes(key)) continue
    const help =
      didYouMean(suggest(key, known)) ?? (known.length > 0 ? `it shows ${known.map(quote).join(', ')}` : undefined)
    tools.report(
      diagnostic('scenarios/unknown-key', `\`${row.type}\` shows policies no parameter \`${key}\``, keySpan, { help }),
    )
  }
  const filled = mapTexts(written, (scalar) => fillReferences(scalar, tools))
  return exposed({ ...implied, ...(contextValue(filled, rootType('params')) as Readonly<Record<string, unknown>>) })
}

/** The user whose credentials the request is about, by its own key or its parameters (U-own-cred-scope). */
function readTarget(
  tree: ScenarioTree,
  row: ActivityRow | undefined,
  params: Readonly<Record<string, unknown>>,
  tools: RequestTools,
): string | undefined {
  const written = childOf(tree, 'target')
  if (written !== undefined) return lookUp(written, tools.world.users, 'user', tools)?.value.id
  const { user_id: userId } = params
  return row?.resource === 'CREDENTIAL' && typeof userId === 'string' ? userId : undefined
}

function readTime(tree: ScenarioTree | undefined, { report, world }: RequestTools): bigint {
  if (tree === undefined && world.now !== undefined) return world.now
  const word = wordOf(tree) ?? DEFAULT_TIME
  const time = parseTime(word)
  if (time !== undefined) return time
  report(
    diagnostic('scenarios/wrong-value', `expected a time such as \`${DEFAULT_TIME}\`, got \`${word}\``, tree!.span),
  )
  return parseTime(DEFAULT_TIME)!
}

/** Wallets, private keys and secrets (docs/protocol/policies.md#roots). */
function readThings(tree: ScenarioTree, tools: RequestTools): Partial<PolicyContext> {
  const { world } = tools
  const wallet = childOf(tree, 'wallet')
  const found = wallet && lookUp(wallet, world.wallets, 'wallet', tools)?.value
  const account = wordOf(childOf(tree, 'account'))
  const privateKey = childOf(tree, 'privateKey')
  const wallets = childOf(tree, 'wallets')
  const secret = childOf(tree, 'secret')
  return {
    ...(found === undefined ? {} : { wallet: untouched(found) }),
    ...(account === undefined ? {} : { wallet_account: { address: account } }),
    ...(privateKey === undefined ? {} : { private_key: keyOf(privateKey, tools) }),
    ...(wallets === undefined
      ? {}
      : {
          wallets: itemsOf(wallets).flatMap((item) => {
            const one = lookUp(item, world.wallets, 'wallet', tools)?.value
            return one === undefined ? [] : [untouched(one)]
          }),
        }),
    ...(secret === undefined ? {} : { secret: typed(secret, rootType('secret'), tools) }),
  }
}

function untouched(thing: object): Readonly<Record<string, unknown>> {
  return { ...thing, imported: false, exported: false }
}

function keyOf(tree: ScenarioTree, tools: RequestTools): Readonly<Record<string, unknown>> {
  const fields = typed(
    mapTexts(tree, (scalar) => fillReferences(scalar, tools)),
    rootType('private_key'),
    tools,
  )
  const label = fields['label']
  return { id: typeof label === 'string' ? label : '', tags: [], imported: false, exported: false, ...fields }
}

/** Reads a payload to sign whose encoding policies can read. */
function readPayload(tree: ScenarioTree, tools: RequestTools): Partial<PolicyContext> {
  const part = (key: string, member: string) => {
    const written = childOf(tree, key)
    return written === undefined ? {} : { [member]: typed(written, memberType(rootType('eth'), member), tools) }
  }
  const eth = { ...part('typedData', 'eip_712'), ...part('authorization', 'eip_7702_authorization') }
  return Object.keys(eth).length === 0 ? {} : { eth }
}

function readTransaction(
  tree: ScenarioTree | undefined,
  request: ScenarioTree,
  tools: RequestTools,
): { readonly facts: Partial<PolicyContext>; readonly type?: string } {
  const [entry] = entriesOf(tree)
  if (tree === undefined || entry === undefined) return { facts: {} }
  if (!isChain(entry.key)) {
    const help =
      didYouMean(suggest(entry.key, Object.keys(chains))) ?? `known: ${Object.keys(chains).map(quote).join(', ')}`
    tools.report(diagnostic('scenarios/unknown-key', `there is no chain \`${entry.key}\``, entry.keySpan, { help }))
    return { facts: {} }
  }
  const { root, type } = chains[entry.key]
  if (entry.value.kind === 'map')
    return { type, facts: { [root]: { tx: typed(entry.value, memberType(rootType(root), 'tx'), tools) } } }
  const unsignedTransaction = wordOf(entry.value) ?? ''
  const signer = wordOf(childOf(request, 'account'))
  const interfaces = [...tools.world.interfaces, ...tools.readInterfaces(childOf(request, 'interfaces'))]
  try {
    return {
      type,
      facts: tools.readTransaction({
        type,
        unsignedTransaction,
        interfaces,
        ...(signer === undefined ? {} : { signer }),
      }),
    }
  } catch (error) {
    const message = messageOf(error)
    tools.report(diagnostic('scenarios/bad-transaction', message, entry.value.span))
    return { type, facts: {} }
  }
}

function isChain(word: string): word is ChainName {
  return Object.hasOwn(chains, word)
}

/** The value of a struct of the environment; fields that it does not have are reported. */
function typed(
  tree: ScenarioTree,
  type: Type | undefined,
  { report }: RequestTools,
): Readonly<Record<string, unknown>> {
  checkFields(tree, type, report)
  return contextValue(tree, type) as Readonly<Record<string, unknown>>
}

function checkFields(tree: ScenarioTree, type: Type | undefined, report: RequestTools['report']): void {
  if (tree.kind === 'list' && type?.kind === 'list')
    for (const item of tree.items) checkFields(item, type.element, report)
  if (type?.kind !== 'struct') return
  for (const { key, keySpan, value } of entriesOf(tree)) {
    const member = memberType(type, key)
    if (member !== undefined) checkFields(value, member, report)
    else {
      const help = didYouMean(suggest(key, memberNames(type)))
      report(diagnostic('scenarios/unknown-key', `\`${type.name}\` has no field \`${key}\``, keySpan, { help }))
    }
  }
}

/** Puts ids in place of `${user.bob}`. */
function fillReferences(scalar: ScenarioScalar, { world, report }: RequestTools): ScenarioScalar {
  if (typeof scalar.value !== 'string' || !scalar.value.includes('${')) return scalar
  const text = scalar.value.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => {
    const address = parseAddress(inside)
    const id = address && idOf(world, address.kind, address.names[0] ?? '')
    if (id !== undefined) return id
    report(
      diagnostic('scenarios/unknown-name', `\`${whole}\` names nothing that is defined`, scalar.span, {
        help: didYouMean(suggest(inside, Object.keys(world.ids))),
      }),
    )
    return whole
  })
  return { ...scalar, value: text, source: text }
}

function mapTexts(tree: ScenarioTree, change: (scalar: ScenarioScalar) => ScenarioScalar): ScenarioTree {
  switch (tree.kind) {
    case 'scalar':
      return change(tree)
    case 'list':
      return { ...tree, items: tree.items.map((item) => mapTexts(item, change)) }
    case 'map':
      return { ...tree, entries: tree.entries.map((entry) => ({ ...entry, value: mapTexts(entry.value, change) })) }
    default:
      return tree satisfies never
  }
}

/** Looks up a name that is written; one that is not known is reported. */
function lookUp<T>(
  tree: ScenarioTree,
  table: Readonly<Record<string, T>>,
  what: string,
  { report }: RequestTools,
): { readonly value: T } | undefined {
  const word = wordOf(tree)
  if (word !== undefined && Object.hasOwn(table, word)) return { value: table[word]! }
  report(unknownName(what, word, Object.keys(table), tree.span))
  return undefined
}

/** Says that a name is not known, and which are. */
export function unknownName(what: string, word: string | undefined, known: readonly string[], span: Span): Diagnostic {
  if (word === undefined) return diagnostic('scenarios/wrong-type', `expected the name of a ${what}`, span)
  const listed = known.length === 0 ? 'none is defined' : `defined: ${known.slice(0, 8).map(quote).join(', ')}`
  const help = didYouMean(suggest(word, known)) ?? listed
  return diagnostic('scenarios/unknown-name', `no ${what} \`${word}\` is defined`, span, { help })
}

export function didYouMean(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `did you mean ${names.map(quote).join(', ')}?`
}

function quote(name: string): string {
  return `\`${name}\``
}
