import { expect, test } from 'vitest'
import { createStyle } from '../../src/cli/io.ts'
import { renderWatch } from '../../src/cli/views/watch.ts'
import { AFTER_REJECTION } from '../../src/plan/index.ts'

const HELD = { lookedAt: '', sweeps: 1, drift: [], waiting: [], repairs: [], proposal: 'ab12' }

test.each([
  { code: 'apply/heal-loop', next: undefined, does: 'go on with `quorate watch resume`', command: 'sha256:ab12`' },
  { code: 'cli/rejected', next: AFTER_REJECTION, does: AFTER_REJECTION, command: 'sha256:ab12 --ask-again`' },
])('watch list: a repair that is held for $code says what ends that', ({ code, next, does, command }) => {
  const held = { code, why: 'it was so', since: '2026-11-27T20:56:28.020Z', ...(next === undefined ? {} : { next }) }
  const watched = { watch: { organization: 'acme' }, state: { ...HELD, held }, isLost: false }
  const text = renderWatch(watched as unknown as Parameters<typeof renderWatch>[0], createStyle(false), 0)
  expect(text).toContain(`it was so (${code}); ${does}\n`)
  expect(text).toContain(`proposed: \`quorate apply ${command} puts it back\n`)
})

test('watch list: a row says why it is not as defined, a failing look what is to be done, and what waits how one votes', () => {
  const since = '2026-11-27T20:56:28.020Z'
  const row = { address: 'tag.a', kind: 'tag', mode: 'report', since }
  const drift = [
    { ...row, action: 'create', cause: 'live changed' },
    { ...row, action: 'create', cause: 'declared only' },
    { ...row, action: 'delete', cause: 'live only' },
  ]
  const waits = { id: 'i', type: 'ACTIVITY_TYPE_CREATE_USER_TAG', fingerprint: `sha256:${'ab'.repeat(32)}`, since }
  const waiting = [{ ...waits, approvedBy: [], lapsed: ['alice'] }]
  const error = { code: 'client/unreachable', message: 'the API does not answer', next: 'start it', since }
  const watched = { watch: { organization: 'acme' }, state: { ...HELD, drift, waiting, error }, isLost: false }
  const text = renderWatch(
    watched as unknown as Parameters<typeof renderWatch>[0],
    createStyle(false),
    Date.parse(since),
  )
  expect(text).toContain(`+ tag.a  somebody deleted it, since ${since} (report)\n`)
  expect(text).toContain(`+ tag.a  its definition is new, since ${since} (report)\n`)
  expect(text).toContain(`- tag.a  not in the definitions, since ${since} (report)\n`)
  expect(text).toContain(`looks fail since ${since}: the API does not answer (client/unreachable); start it\n`)
  expect(text).toContain('approved by nobody; please vote again: alice\n')
  expect(text).toContain('see each with `quorate review CODE`, and vote with `quorate approve CODE`\n')
})
