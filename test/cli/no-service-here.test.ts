/** What is asked in a folder without a service: none is begun, whichever command of the table asks, but by those that are for it. */
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { createOneProcess, testFolder, writeFiles } from './harness.ts'

/** Commands that begin a service, or run until they are stopped without asking one. */
const NOT_TRIED = ['up', 'serve', 'background', 'proxy', 'codec-server', 'policy lsp']
/** Commands that ask no organization, or look first at a file or a name that their help has and this folder has not. */
const ASK_NONE = [
  ...['down', 'reset', 'validate', 'fmt', 'doctor', 'completion', 'evidence verify', 'messages', 'clock', 'show'],
  ...['snapshot save', 'snapshot restore', 'migrate', 'store copy', 'plan-store use', 'sends stop'],
  ...['master-key wrap', 'master-key rotate', 'master-key status'],
  ...['fault add', 'fault list', 'fault clear', 'webhooks deliveries', 'webhooks verify', 'sends reconcile'],
  ...['policy test', 'policy eval', 'policy explain', 'policy compare', 'policy fmt', 'policy lint', 'rotate oauth2'],
  ...['key new', 'key show'],
]
/** Examples that begin with a file or with the current folder, with the folder of definitions that is here. */
const TYPED: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  apply: () => ['apply', 'definitions/acme', '--yes'],
  send: ([name, , ...words]) => [name!, 'definitions/acme', ...words],
}
const ID = '7c244a54-083f-4745-98d0-7111fa0c8852'

const one = createOneProcess()
afterAll(() => one.close())

/** A folder where every example finds what it names; `.quorate` of a service may stand above it. */
function scene() {
  const above = testFolder()
  const cwd = writeFiles(join(above, 'work'), {
    'definitions/acme/acme.yaml': 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\ntags: { one: {} }\n',
  })
  const run = (...args: readonly string[]) => one.quorate(args, { env: {}, cwd })
  const begin = (values: object, organizationId = ID) => {
    const files = { 'service/bootstrap.json': { organizationId }, 'values.json': { env: values, vars: {} } }
    for (const [name, value] of Object.entries(files)) {
      writeFiles(join(above, '.quorate'), { [name]: JSON.stringify(value) })
      chmodSync(join(above, '.quorate', name), 0o600)
    }
  }
  return { above, cwd, run, begin }
}

const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].slice(1).map(([, quoted, plain]) => quoted ?? plain!)
const tried = commands.filter(({ name }) => !NOT_TRIED.includes(name))

test('every command that asks an organization says that no service is here, and none begins one', async () => {
  const { cwd, run } = scene()
  const said: Record<string, unknown> = {}
  for (const { name, example } of tried) {
    const words = wordsOf(example)
    const { exit, stdout, stderr } = await run(...(TYPED[name]?.(words) ?? words))
    if (!ASK_NONE.includes(name)) said[name] = [exit, /error (\S+):/.exec(stderr)?.[1], stdout]
    // One that has begun something is to be named.
    expect([name, existsSync(join(cwd, '.quorate/service'))]).toEqual([name, false])
  }
  const asking = tried.filter(({ name }) => !ASK_NONE.includes(name))
  expect(said).toEqual(Object.fromEntries(asking.map(({ name }) => [name, [1, 'cli/no-service-here', '']])))
  expect(asking.length).toBeGreaterThan(35)
})

test.each([
  ['approvals', '--all'],
  ['sends', '--open'],
  ['status', '--follow'],
  ['sends', '--follow'],
])('`%s %s` names the data folder above that has a service', async (...words) => {
  const { run, begin } = scene()
  expect((await run(...words)).stderr).toContain('`quorate up` begins a new one')
  begin({})
  expect((await run(...words)).stderr).toMatch(/next +give --data-dir \.\.\/\.quorate, or run this in /)
})

test('definitions that take their organization from a variable that is not set: `up` is named, or the data folder that sets it', async () => {
  const { run, begin } = scene()
  for (const words of [
    ['apply', 'definitions/acme', '--yes'],
    ['plan', 'definitions/acme'],
  ]) {
    const { exit, stderr } = await run(...words)
    expect(exit).toBe(1)
    expect(stderr).toMatch(/not set +ACME_ORGANIZATION_ID/)
    expect(stderr).toMatch(/next +`quorate up definitions\/acme` begins one/)
  }
  // A service above that knows nothing of the variable was not meant.
  begin({ OTHER: ID })
  expect((await run('plan', 'definitions/acme')).stderr).toMatch(/next +`quorate up definitions\/acme` begins one/)
  begin({ ACME_ORGANIZATION_ID: ID })
  expect((await run('plan', 'definitions/acme')).stderr).toMatch(/next +give --data-dir \.\.\/\.quorate/)
})

test('`up` begins no second service for definitions of one in a folder above them', async () => {
  const { above, run, begin } = scene()
  begin({ ACME_ORGANIZATION_ID: ID })
  const elsewhere = testFolder()
  const up = () => one.quorate(['up', join(above, 'work/definitions/acme')], { env: {}, cwd: elsewhere })
  for (const { exit, stderr } of [await run('up', 'definitions/acme'), await up()]) {
    expect([exit, stderr]).toEqual([1, expect.stringContaining('error cli/no-service-here')])
    expect(stderr).toContain(`a service is in  ${join(above, '.quorate')}`)
  }
  expect(readdirSync(elsewhere)).toEqual([])
})
