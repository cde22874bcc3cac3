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
