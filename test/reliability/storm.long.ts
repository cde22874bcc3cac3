import { describe, expect, test } from 'vitest'
import { line } from './figures.ts'
import { weather } from './storm.ts'
import { hasToxiproxy } from './toxiproxy.ts'

const MOST_STORMS = 6

describe.skipIf(!hasToxiproxy)('storm (needs Toxiproxy)', () => {
  test('an apply of 50 changes with two stops, rotations and an incident end as they were to, whatever is killed and cut', {
    timeout: 400_000,
  }, async () => {
    const figures = await weather({ rounds: 10 })
    console.log(line(figures))
    expect(figures).toMatchObject({ rounds: 10, pending: 10, kills: 5, cuts: 5, state: 'done', lost: 0, dup: 0 })
    expect(figures).toMatchObject({ incidents: 1, stillTaken: 0 })
    expect(figures.rotations).toBeGreaterThan(0)
    expect(figures.fewestKeys).toBeGreaterThan(0)
  })

  test('bodies that workers make inside their Temporal activities become twins', { timeout: 400_000 }, async () => {
    // An answer that is lost by chance may be one to a read: then it shows nothing, and the next storm may.
    let dup = 0
    for (let storms = 1; storms <= MOST_STORMS && dup === 0; storms++) {
      const figures = await weather({ rounds: 40, naive: true })
      dup = figures.dup
      console.log(`naive: storm=${storms} rounds=${figures.rounds} dup=${dup}`)
    }
    expect(dup).toBeGreaterThan(0)
  })
})
