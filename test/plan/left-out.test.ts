/** A field that a definition leaves out, after it was managed: over every kind and field that may be left out. */
import { describe, expect, test } from 'vitest'
import { type Lock, makePlan, readPlan, renderPlanText, writePlan } from '../../src/plan/index.ts'
import {
  type Address,
  formatAddress,
  KINDS,
  kinds,
  parentOf,
  type Resource,
  type Value,
} from '../../src/resources/index.ts'
import { actualOf, bootstrap, declare, idFor, key, live, ORGANIZATION, policy } from './organization.ts'
import { planInput, planOf, rows } from './planning.ts'

/** A thing with the field in it, and what the field is set back to; none where it needs a decision. */
interface Case {
  readonly address: Address
  readonly fields: Readonly<Record<string, Value>>
  readonly cleared?: Value
}

const ACCOUNT = formatAddress('walletAccount', 'cold', "m/44'/60'/0'/0/0 ethereum")
const event = (name: string): Value => ({ event: name, isActive: true })
const cases: Readonly<Record<string, Case>> = {
  'organization.name': { address: 'organization', fields: { name: 'Acme' } },
  'feature.value': { address: 'feature.SMS_AUTH', fields: { value: 'x' }, cleared: '' },
  'user.tags': { address: 'user.alice', fields: { email: 'alice@acme.test', tags: [idFor('tag.ops')] }, cleared: [] },
  'apiKey.expiresIn': { address: 'apiKey.alice.spare', fields: { ...key('spare'), expiresIn: 60 } },
  'invitation.tags': { address: 'invitation.dave', fields: { email: 'd@acme.test', tags: [idFor('tag.ops')] } },
  ...Object.fromEntries(
    Object.entries(kinds.authProxy.fields).map(([field, { cleared, compare }]) => {
      const value = {
        set: ['sms'],
        exact: { string: 'x', number: 7, boolean: cleared !== true, object: { appName: 'x' } },
      }
      const other = compare === 'set' ? value.set : value.exact[typeof cleared as keyof typeof value.exact]
      return [`authProxy.${field}`, { address: 'authProxy', fields: { [field]: other }, cleared: cleared! }]
    }),
  ),
  'mfaPolicy.notes': {
    address: 'mfaPolicy.alice.m',
    fields: { condition: 'true', requiredAuthenticationMethods: [['passkey']], order: 1, notes: 'why' },
    cleared: '',
  },
  'policy.notes': { address: 'policy.p', fields: { ...policy(null, null), notes: 'why' }, cleared: '' },
  'privateKey.formats': { address: 'privateKey.k', fields: { curve: 'secp256k1', formats: ['ethereum'] } },
  'privateKey.tags': {
    address: 'privateKey.k',
    fields: { curve: 'secp256k1', tags: [idFor('privateKeyTag.hot')] },
    cleared: [],
  },
  'walletAccount.name': {
    address: ACCOUNT,
    fields: { path: "m/44'/60'/0'/0/0", curve: 'secp256k1', format: 'ethereum', name: 'main' },
  },
  'smartContractInterface.interface': { address: 'smartContractInterface.c', fields: { interface: [{ name: 'f' }] } },
  'smartContractInterface.notes': { address: 'smartContractInterface.c', fields: { notes: 'old' } },
  'webhook.subscriptions': {
    address: 'webhook.w',
    fields: { url: 'https://a.test', subscriptions: [event('ACTIVITY_UPDATES')] },
  },
  'webhook.isActive': { address: 'webhook.w', fields: { url: 'https://a.test', isActive: false }, cleared: true },
}

const others = [live('tag.ops'), live('privateKeyTag.hot', { name: 'hot' }), live('wallet.cold')]

/** What lives, with this thing in it; and its definition, with the field or without. */
function scene({ address, fields }: Case, field: string) {
  const world = (value: Value) => {
    const own = live(address, { ...fields, [field]: value })
    return [...bootstrap().filter((one) => one.address !== address), ...others, own]
  }
  const { [field]: managed, ...rest } = fields
  // A child is found in its parent, which is defined as it lives.
  const parent = parentOf(address)
  const holder =
    parent === undefined ? [] : [declare(parent, parent === 'user.alice' ? { email: 'alice@acme.test', tags: [] } : {})]
  const around = (own: Resource) => [...holder, own]
  return {
    world,
    managed: managed!,
    with: around(declare(address, fields)),
    without: around(declare(address, rest)),
  }
}

/** The lock of somebody who applied this. */
const lockOf = (desired: readonly Resource[], actual: readonly Resource[]): Lock =>
  makePlan(planInput({ desired, actual, creators: {}, lock: idsOnly(desired, actual) })).lock()
const idsOnly = (desired: readonly Resource[], actual: readonly Resource[]): Lock => ({
  [ORGANIZATION]: Object.fromEntries(
    desired.map(({ address, kind, name }) => {
      const { id } = actual.find((one) => one.address === address)!
      return [address, id === name || kind === 'organization' ? {} : { id: id! }]
    }),
  ),
})
/** As versions before wrote it. */
const withoutFields = (lock: Lock): Lock => ({
  [ORGANIZATION]: Object.fromEntries(
    Object.entries(lock[ORGANIZATION]!).map(([address, { managed: _, ...row }]) => [address, row]),
  ),
})

test('left out: the table has every field that a definition may leave out without saying what it is then', () => {
  const open = KINDS.flatMap((kind) =>
    Object.entries(kinds[kind].fields).flatMap(([field, row]) =>
      row.schema && !row.required && !row.inherited && row.absent === undefined && row.compare !== 'never'
        ? [`${kind}.${field}`]
        : [],
    ),
  )
  expect(Object.keys(cases).sort()).toEqual(open.sort())
})

describe.each(Object.entries(cases))('left out: %s', (name, given) => {
  const field = name.split('.')[1]!
  const { world, managed, with: defined, without } = scene(given, field)
  const lock = lockOf(defined, world(managed))
  const { address, cleared } = given

  test('as defined, nothing to do; never managed, nothing to do either', () => {
    expect(rows(planOf({ desired: defined, actual: world(managed), lock }))).toEqual([])
    const never = lockOf(without, world(managed))
    expect(rows(planOf({ desired: without, actual: world(managed), lock: never }))).toEqual([])
  })

  test.each([
    ['as the lock says', lock],
    ['as the digest of an older lock tells', withoutFields(lock)],
  ])('taken out, it never looks finished, %s', (_how, locked) => {
    const plan = planOf({ desired: without, actual: world(managed), lock: locked })
    const text = renderPlanText(plan)
    expect(text).not.toContain('No changes.')
    expect(readPlan(writePlan(plan))).toEqual(plan)
    if (cleared === undefined) {
      expect(rows(plan)).toEqual([`undecided ${address}`])
      expect(plan.changes[0]!.fields.map((one) => one.field)).toEqual([field])
      expect(text).toContain(`\`${field}\` taken out of the definitions, and still live`)
      expect(plan.guards).toContainEqual(
        expect.objectContaining({ name: 'removal', addresses: [address], bypass: '--allow removal', allowed: false }),
      )
      expect(plan.batches).toEqual([])
    } else {
      expect(rows(plan)).toEqual([`update ${address}`])
      expect(plan.changes[0]).toMatchObject({ cause: 'definition changed', fields: [{ field, after: cleared }] })
      expect(plan.batches.flatMap(({ changes }) => changes)).toEqual([address])
    }
  })

  test('it is told until it is settled, and then no more', () => {
    const told = makePlan(planInput({ desired: without, actual: world(managed), lock }))
    expect(rows(planOf({ desired: without, actual: world(managed), lock: told.lock() }))).toEqual(rows(told.plan))
    const settled =
      cleared === undefined
        ? makePlan(planInput({ desired: without, actual: world(managed), lock: told.lock(), allow: ['removal'] }))
        : makePlan(planInput({ desired: without, actual: world(cleared), lock: told.lock() }))
    const actual = world(cleared ?? managed)
    expect(rows(planOf({ desired: without, actual, lock: settled.lock() }))).toEqual([])
    expect(settled.lock()[ORGANIZATION]![address]!.managed).not.toContain(field)
  })

  test('where an older lock cannot tell, that is said, and the next lock tells', () => {
    const ids = idsOnly(without, world(managed))
    const made = makePlan(planInput({ desired: without, actual: world(managed), lock: ids }))
    expect(made.diagnostics).toMatchObject([{ code: 'plan/unknown-fields', severity: 'warning' }])
    expect(made.diagnostics[0]!.message).toContain(`\`${field}\` of \`${address}\``)
    const next = makePlan(planInput({ desired: without, actual: world(managed), lock: made.lock() }))
    expect(next.diagnostics).toEqual([])
  })
})

test('left out: tags that somebody changed meanwhile are taken away all the same', () => {
  const { world, managed, with: defined, without } = scene(cases['user.tags']!, 'tags')
  const lock = lockOf(defined, world(managed))
  const drifted = [...world([idFor('tag.ops'), idFor('tag.more')]), live('tag.more')]
  const plan = planOf({ desired: without, actual: drifted, lock })
  expect(rows(plan)).toEqual(['update user.alice'])
  const { diagnostics } = makePlan(planInput({ desired: without, actual: drifted, lock: withoutFields(lock) }))
  expect(diagnostics).toMatchObject([{ code: 'plan/unknown-fields' }])
})

test('left out: of a kind that was not read nothing is said', () => {
  const { world, managed, with: defined, without } = scene(cases['user.tags']!, 'tags')
  const lock = lockOf(defined, world(managed))
  const actual = { ...actualOf(world(managed)), unread: ['user' as const] }
  expect(rows(planOf({ desired: without, actual, lock }))).toEqual([])
})
