import { expect, test } from 'vitest'
import { findPostgres } from '../postgres.ts'
import { line } from './figures.ts'
import { killOnPostgres } from './postgres-kills.ts'

test.skipIf(findPostgres() === undefined)(
  'PostgreSQL kills: three services and their database are killed while 6 clients submit; nothing is lost, doubled or sent twice',
  async () => {
    const figures = await killOnPostgres({ kills: 3 })
    console.log(line(figures))
    expect(figures).toMatchObject({ kills: 2, crashes: 1, lost: 0, twice: 0, half: 0, sentWrong: 0, untold: 0 })
    expect(figures.pending).toBeGreaterThan(0)
    expect(figures.resent).toBeGreaterThan(0)
    expect(figures.sends).toBeGreaterThan(5)
  },
  180_000,
)
