import { describe, expect, test } from 'vitest'
import { createTurns } from '../../../src/service/work/turns.ts'

const of = (organizationId: string, treeId = organizationId) => ({ organizationId, treeId })

/** Everything that waits, in the order of its turns. */
function drain(turns: ReturnType<typeof createTurns<string>>): string[] {
  const taken: string[] = []
  for (let item = turns.take(); item !== undefined; item = turns.take()) taken.push(item)
  return taken
}

describe('turns', () => {
  test('turns: an organization with many waiting does not put off another', () => {
    const turns = createTurns<string>()
    for (const item of ['a1', 'a2', 'a3', 'a4']) turns.add(of('a'), item)
    for (const item of ['b1', 'b2']) turns.add(of('b'), item)
    expect(turns.take()).toBe('a1')
    turns.add(of('c'), 'c1')
    expect(drain(turns)).toEqual(['b1', 'a2', 'c1', 'b2', 'a3', 'a4'])
    expect(turns.size()).toBe(0)
  })

  test('turns: sub-organizations share the turns of their parent', () => {
    const turns = createTurns<string>()
    for (const sub of ['s', 't', 'u']) for (const at of [1, 2]) turns.add(of(sub, 'parent'), `${sub}${at}`)
    for (const at of [1, 2, 3]) turns.add(of('other'), `o${at}`)
    expect(drain(turns)).toEqual(['s1', 'o1', 't1', 'o2', 'u1', 'o3', 's2', 't2', 'u2'])
  })

  test('turns: what waits is bounded, for one organization and for all', () => {
    const turns = createTurns<number>({ ofOrganization: 2, inAll: 3 })
    expect([1, 2, 3].map((item) => turns.add(of('a'), item))).toEqual([true, true, false])
    expect([4, 5].map((item) => turns.add(of('b'), item))).toEqual([true, false])
    expect(turns.take()).toBe(1)
    expect(turns.add(of('b'), 6)).toBe(true)
    expect([...turns.clear()].sort()).toEqual([2, 4, 6])
    expect([turns.size(), turns.take()]).toEqual([0, undefined])
  })
})
