import { describe, expect, test } from 'vitest'
import { readRates } from '../../src/cli/rates.ts'

describe('rates of the service', () => {
  test('each is named by what is counted', () => {
    const given = ['source=60', 'sub-organization=10', 'sends=10']
    expect(readRates(given)).toEqual({ source: 60, subOrganization: 10, sends: 10 })
    expect(readRates(undefined)).toEqual({})
  })

  test('those of a plan are the published ones, and what is named goes over them', () => {
    expect(readRates(undefined, 'free')).toEqual({ source: 1, subOrganization: 10, sends: 10 })
    expect(readRates(undefined, 'pro')).toMatchObject({ source: 3 })
    expect(readRates(['source=100'], 'enterprise')).toEqual({ source: 100, subOrganization: 10, sends: 10 })
    expect(() => readRates(undefined, 'constructor')).toThrow(expect.objectContaining({ code: 'cli/usage' }))
  })

  test.each(['sends', 'sends=0', 'sends=1.5', 'all=1', 'constructor=1'])(
    '%s is a mistake that says how it is written',
    (text) => {
      expect(() => readRates([text])).toThrow(
        expect.objectContaining({
          code: 'cli/usage',
          message: `expected --rate to be a rate and requests a second, got \`${text}\``,
        }),
      )
    },
  )
})
