import { describe, expect, test } from 'vitest'
import { identify, makePlan } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { actualOf, bootstrap, declare, desiredOf, idFor, key, live, ORGANIZATION, publicKey } from './organization.ts'
import { type Given, planInput, planOf, rows } from './planning.ts'

const ALICE = idFor('user.alice')
const bob = { userId: idFor('user.bob'), userName: 'bob' }
const alice = { userId: ALICE, userName: 'alice' }
const lockOf = (ids: Readonly<Record<string, string>>) => ({
  [ORGANIZATION]: Object.fromEntries(Object.entries(ids).map(([address, id]) => [address, { id }])),
})

function find({ desired = [], actual = [], lock = {}, creators = {} }: Given) {
  return identify({
    desired: desiredOf(desired),
    actual: actualOf([...bootstrap(), ...(actual as readonly Resource[])]),
    actingUserId: ALICE,
    lock,
    creators,
  })
}

describe('identify', () => {
  test('the id in the lock says which one is meant, whatever it is called now', () => {
    const found = find({
      desired: [declare('policy.ops')],
      actual: [live('policy.renamed', {}, 'id-1'), live('policy.ops', {}, 'id-2')],
      lock: lockOf({ 'policy.ops': 'id-1' }),
    })
    expect(found.matches.get('policy.ops')?.id).toBe('id-1')
    expect(found.adoptions).toEqual([])
  })

  test('a former name keeps the identity, and comes before the new name', () => {
    const found = find({
      desired: [declare('policy.new', {}, { renamedFrom: 'old' })],
      actual: [live('policy.old', {}, 'id-1'), live('policy.new', {}, 'id-2')],
      lock: lockOf({ 'policy.old': 'id-1' }),
    })
    expect(found.matches.get('policy.new')?.id).toBe('id-1')
    expect(found.lock()).toEqual(lockOf({ 'policy.new': 'id-1' }))
  })

  test('a lock whose id is gone is followed no further: the name decides', () => {
    const found = find({
      desired: [declare('tag.ops')],
      actual: [live('tag.ops', {}, 'id-2')],
      lock: lockOf({ 'tag.ops': 'id-1' }),
      creators: { 'id-2': bob },
    })
    expect(found.matches.get('tag.ops')?.id).toBe('id-2')
    expect(found.adoptions).toHaveLength(1)
  })

  test('children are looked for in their own parent, also when two parents share a name', () => {
    const keyOfTwin = { ...live('apiKey.bob.laptop', key('bob laptop'), 'key-2'), parentId: 'bob-2' }
    const found = find({
      desired: [declare('user.bob'), declare('apiKey.bob.laptop', key('bob laptop'))],
      actual: [live('user.bob', {}, 'bob-1'), live('user.bob', {}, 'bob-2'), keyOfTwin],
      lock: lockOf({ 'user.bob': 'bob-1' }),
    })
    expect(found.matches.get('user.bob')?.id).toBe('bob-1')
    expect(found.matches.has('apiKey.bob.laptop')).toBe(false)
  })

  test('two live ones of the same name are a diagnostic that names both ids', () => {
    const { diagnostics } = makePlan(
      planInput({
        desired: [declare('user.bob')],
        actual: [...bootstrap(), live('user.bob', {}, 'id-2'), live('user.bob', {}, 'id-1')],
      }),
    )
    expect(diagnostics.map(({ code, message, help }) => ({ code, message, help }))).toEqual([
      {
        code: 'plan/ambiguous',
        message: '2 live things are the user `bob`: `id-1` and `id-2`',
        help: 'rename or delete one, or write `user.bob: <id>` into the lock file',
      },
    ])
  })

  test('the lock keeps what it knew of undeclared things that still live, and forgets the dead', () => {
    const found = find({
      desired: [],
      actual: [live('tag.old', {}, 'id-1')],
      lock: { ...lockOf({ 'tag.old': 'id-1', 'tag.dead': 'id-9' }), other: { 'tag.x': { id: 'id-3' } } },
    })
    expect(found.lock()).toEqual({ ...lockOf({ 'tag.old': 'id-1' }), other: { 'tag.x': { id: 'id-3' } } })
  })

  test('references to undeclared live things are known by their name, unless two share it', () => {
    const found = find({
      actual: [live('tag.one', {}, 'id-1'), live('tag.two', {}, 'id-2'), live('tag.two', {}, 'id-3')],
    })
    expect(found.ids['tag.one']).toBe('id-1')
    expect('tag.two' in found.ids).toBe(false)
  })
})

describe('adoption', () => {
  const carol = live('user.carol', {}, 'carol-1')
  const carolKey = { ...live('apiKey.carol.laptop', key('carol laptop'), 'key-1'), parentId: 'carol-1' }
  const declared = [declare('user.carol'), declare('apiKey.carol.laptop', key('carol laptop'))]

  const cases: readonly { name: string; given: Given; adopted: readonly (readonly [string, string | null])[] }[] = [
    { name: 'what is in the lock', given: { lock: lockOf({ 'user.carol': 'carol-1' }) }, adopted: [] },
    {
      name: 'what the acting user created, with what came with it',
      given: { creators: { 'carol-1': alice } },
      adopted: [],
    },
    {
      name: 'what somebody else created, and what came with it',
      given: { creators: { 'carol-1': bob } },
      adopted: [
        ['user.carol', 'bob'],
        ['apiKey.carol.laptop', null],
      ],
    },
    {
      name: 'what has no known creator',
      given: {},
      adopted: [
        ['user.carol', null],
        ['apiKey.carol.laptop', null],
      ],
    },
    {
      name: 'what came with a user that is in the lock, whoever made both',
      given: {
        lock: lockOf({ 'user.carol': 'carol-1' }),
        creators: { 'key-1': { ...bob, cameWithUser: true } },
      },
      adopted: [],
    },
    {
      name: 'a key that came with its user is said to be of who made both',
      given: { creators: { 'carol-1': bob, 'key-1': { ...bob, cameWithUser: true } } },
      adopted: [
        ['user.carol', 'bob'],
        ['apiKey.carol.laptop', 'bob'],
      ],
    },
    {
      name: 'a key that somebody else put on a user of ours',
      given: {
        creators: new Map([
          ['carol-1', alice],
          ['key-1', bob],
        ]),
      },
      adopted: [['apiKey.carol.laptop', 'bob']],
    },
  ]
  test.each(cases)('$name', ({ given, adopted }) => {
    const plan = planOf({ desired: declared, actual: [...bootstrap(), carol, carolKey], ...given })
    const found = plan.changes.filter(({ action }) => action === 'adopt')
    expect(found.map(({ address, creator }) => [address, creator])).toEqual(adopted)
    expect(plan.batches).toEqual([])
    const guards = plan.guards.filter(({ name }) => name === 'adoption')
    expect(guards.map(({ addresses, allowed, bypass }) => ({ addresses, allowed, bypass }))).toEqual(
      adopted.length === 0
        ? []
        : [{ addresses: adopted.map(([address]) => address).sort(), allowed: false, bypass: '--allow adoption' }],
    )
  })

  test('the acting user and the very credential in use are nothing that anybody planted', () => {
    const desired = [declare('user.alice'), declare('apiKey.alice.laptop', key('alice laptop'))]
    expect(planOf({ desired, creators: { [ALICE]: bob } }).changes).toEqual([])
  })

  test('another key of the acting user that somebody else added is a row', () => {
    const desired = [declare('user.alice'), declare('apiKey.alice.spare', key('spare'))]
    const spare = live('apiKey.alice.spare', { curve: 'P256', publicKey: publicKey('spare') })
    const plan = planOf({ desired, actual: [...bootstrap(), spare], creators: { [spare.id!]: bob } })
    expect(rows(plan)).toEqual(['adopt apiKey.alice.spare'])
  })

  test('an adopted thing that differs has both rows, and the bypass is recorded', () => {
    const given: Given = {
      desired: [declare('policy.ops', { effect: 'deny' })],
      actual: [...bootstrap(), live('policy.ops', { effect: 'allow' })],
      creators: { [idFor('policy.ops')]: bob },
      allow: ['adoption'],
    }
    const plan = planOf(given)
    expect(rows(plan)).toEqual(['adopt policy.ops', 'update policy.ops'])
    expect(plan.guards.map(({ name, allowed, message }) => ({ name, allowed, message }))).toEqual([
      {
        name: 'adoption',
        allowed: true,
        message: '`policy.ops` (created by `bob`) was there before and would be taken as defined',
      },
    ])
  })
})
