/** People who are read once for several states, held against reading them of each. */
import { expect, test } from 'vitest'
import { organizationIn, votersIn } from '../../src/analysis/everybody.ts'
import { votersOf } from '../../src/authority/index.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { idFor, key, live, policy } from '../plan/organization.ts'
import { person, quorum, TRIO } from './undo-cases.ts'

const NOW = Date.parse('2026-07-01T12:00:00Z')
const things: readonly Resource[] = [...TRIO, live('policy.one', policy('true', 'true')), live('tag.ops', {})]
const bob = things.findIndex(({ address }) => address === 'user.bob')
const of = (address: string) => things.findIndex((one) => one.address === address)
const mfa = {
  condition: 'true',
  requiredAuthenticationMethods: [[{ type: 'passkey' }]],
  order: 0,
}

/** Changes of one thing each that say who there is otherwise. */
const CHANGES: Readonly<Record<string, readonly Resource[]>> = {
  'an e-mail address': things.with(bob, live('user.bob', { email: 'other@acme.test', tags: [] })),
  'a tag of a user': things.with(bob, live('user.bob', { email: 'bob@acme.test', tags: [idFor('tag.ops')] })),
  'a key': things.with(of('apiKey.bob.k'), live('apiKey.bob.k', key('other'))),
  'a key that is gone': things.toSpliced(of('apiKey.bob.k'), 1),
  'a user more': [...things, ...person('erin')],
  'the root quorum': things.with(of('rootQuorum'), quorum(1, 'alice', 'bob', 'carol')),
  'a login by code': [...things, live('feature.EMAIL_AUTH')],
  'an MFA policy': [...things, live('mfaPolicy.bob.m', mfa)],
}

test.each(Object.entries(CHANGES))('%s is read of the state that has it', (_, changed) => {
  const before = organizationIn({ things })
  const after = organizationIn({ things: changed })
  expect(before).toEqual(organizationOf(things))
  expect(after).toEqual(organizationOf(changed))
  expect(after).not.toEqual(before)
  expect(votersIn(after, NOW)).toEqual(votersOf(after, NOW))
})

test('states with the same people share them, at one moment', () => {
  const [before, after] = [things, things.toSpliced(of('policy.one'), 1)].map((some) =>
    organizationIn({ things: some }),
  )
  expect(after).toBe(before)
  expect(votersIn(after!, NOW)).toBe(votersIn(before!, NOW))
  const late = organizationIn({
    things: [...things, { ...live('apiKey.bob.short', key('short')), known: { expiresAt: 1 } }],
  })
  expect(votersIn(late, NOW)).toEqual(votersOf(late, NOW))
  expect(votersIn(late, 0)).toEqual(votersOf(late, 0))
})
