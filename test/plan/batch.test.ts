import { expect, test } from 'vitest'
import { batch } from '../../src/plan/batch.ts'
import type { Node } from '../../src/plan/order.ts'

test('batch: how often a change is looked at does not grow with how many others there are', () => {
  const looksOf = (count: number) => {
    let looks = 0
    const nodes = Array.from({ length: count }, (_, index) => {
      const address = `tag.t${index}`
      const desired = { kind: 'tag', address, name: `t${index}`, fields: {} }
      return {
        difference: { kind: 'tag', action: 'create', address, input: { desired, fields: [] } },
        power: 'neutral',
        // Chains of ten.
        get hard() {
          looks++
          return new Set(index % 10 === 0 ? [] : [index - 1])
        },
        soft: new Set<number>(),
        urgent: false,
      }
    }) as unknown as readonly Node[]
    const { batches } = batch(nodes, [])
    expect(batches).toHaveLength(count)
    return looks / count
  }
  expect(looksOf(800)).toBe(looksOf(100))
})
