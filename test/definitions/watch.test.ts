/** `watch:` of definitions: how often, what is done about each kind, and who is told. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadDefinitions } from '../../src/definitions/index.ts'
import { testFolder, writeFiles } from '../cli/harness.ts'

async function load(watch: string) {
  const folder = writeFiles(join(testFolder(), 'defs'), {
    'acme.yaml': `organization: acme\nid: 10000000-0000-4000-8000-000000000001\n${watch}`,
  })
  const { watch: settings, diagnostics } = await loadDefinitions(folder, { env: {}, vars: {} })
  return { settings, faults: diagnostics.map(({ code, message }) => `${code}: ${message}`) }
}

test('watch: times, modes and sinks are read, and what is left out has its default', async () => {
  const { settings, faults } = await load(`watch:
  every: 5m
  kinds: { policies: repair, tags: ignore }
  notify:
    oncall: { slack: QUORATE_NOTIFY_ONCALL, about: [drift, stuck], quiet: { from: 22:00, to: '07:00', zone: Europe/Berlin } }
    siem: { webhook: QUORATE_NOTIFY_SIEM }
    alice: { email: alice@acme.example, user: alice, about: [waiting, lapsed] }
`)
  expect(faults).toEqual([])
  expect(settings).toEqual({
    everyMs: 300_000,
    sweepMs: 3_600_000,
    modes: { policy: 'repair', tag: 'ignore' },
    notify: [
      {
        ...{ name: 'oncall', kind: 'slack', to: 'QUORATE_NOTIFY_ONCALL', about: ['drift', 'stuck'] },
        quiet: { from: '22:00', to: '07:00', zone: 'Europe/Berlin' },
      },
      {
        ...{ name: 'siem', kind: 'webhook', to: 'QUORATE_NOTIFY_SIEM' },
        about: ['drift', 'waiting', 'lapsed', 'rejected', 'failed', 'stuck'],
      },
      { name: 'alice', kind: 'email', to: 'alice@acme.example', user: 'alice', about: ['waiting', 'lapsed'] },
    ],
  })
})

test.each([
  { text: 'every: often', fault: 'expected a time such as `30s`, `5m` or `1h`' },
  { text: 'kinds: { tags: heal }', fault: 'expected one of `ignore`, `report`, `propose`, `repair`' },
  { text: 'notify: { a: { slack: https://hooks.slack.com/services/x } }', fault: 'begins with `QUORATE_NOTIFY_`' },
  { text: 'notify: { a: { webhook: QUORATE_API_KEY } }', fault: 'begins with `QUORATE_NOTIFY_`' },
  { text: 'notify: { a: { about: [drift] } }', fault: 'expected one of `slack`, `webhook` and `email` in `a`, got 0' },
  { text: 'notify: { a: { slack: QUORATE_NOTIFY_A, email: a@b.example } }', fault: 'in `a`, got 2' },
  { text: 'notify: { a: { slack: QUORATE_NOTIFY_A, about: [gossip] } }', fault: 'expected one of `drift`' },
  {
    text: 'notify: { a: { slack: QUORATE_NOTIFY_A, quiet: { from: "22:00", to: "07:00", zone: Mars/Base } } }',
    fault: 'expected a time zone such as `Europe/Berlin`, got `Mars/Base`',
  },
  {
    text: 'notify: { a: { slack: QUORATE_NOTIFY_A, quiet: { from: "25:00", to: "07:00" } } }',
    fault: 'expected a time of day such as `22:00`',
  },
])('watch: $text is refused', async ({ text, fault }) => {
  const { faults } = await load(`watch:\n  ${text}\n`)
  expect(faults).toEqual([expect.stringContaining(fault)])
})
