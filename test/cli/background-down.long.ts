/** What commands do in a data folder whose service was stopped, or died: what acts brings it back, what only looks says how it ended. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { noteBegin, noteDown } from '../../src/cli/background/down.ts'
import { commands } from '../../src/cli/commands/index.ts'
import { ensurePrivateFolder, writePrivate } from '../../src/local/index.ts'
import { orderOf } from '../activities/order.ts'
import { createOneProcess, quorate, testFolder, writeFiles } from './harness.ts'

const ID = '7c244a54-083f-4745-98d0-7111fa0c8852'
const KEY = '02abababababababababababababababababababababababababababababababab'
const SEND = 'send definitions/acme --from a --to b --amount 1ETH --chain eip155:1 --ref INV-42'
const REPLACE = 'INV-42 --max-fee 60gwei'

/** Lines that only look: they start nothing. */
const LOOK = [
  'init definitions/mine',
  'import definitions/mine',
  'plan definitions/acme',
  'unmanaged definitions/acme',
  `${SEND} --dry-run`,
  'send definitions/acme --batch batch.csv --dry-run',
  'sends --follow',
  `sends replace ${REPLACE} --dry-run`,
  `sends cancel ${REPLACE} --dry-run`,
  `incident key ${KEY}`,
  'incident user ci-bot',
  'who-can sign --wallet treasury',
  'who-can sign --diff 2026-01-01..now',
  'status',
  'status --follow',
  'status --watch --wait 1s',
  'activities --waiting',
  'activities',
  `evidence ${ID}`,
  'approvals --all',
  'review 7f3a-19c2',
  'watch list',
  'proxy check',
  'webhooks verify body.json --headers headers.txt',
  'whoami',
  'policy eval --live --request request.yaml',
  'policy explain --live --request request.yaml',
  'policy backtest definitions/acme --since 90d',
  'policy usage --since 180d',
]
/** Lines that submit something, or have something carried on. */
const ACT = [
  'up',
  'apply definitions/acme --yes',
  SEND,
  'send definitions/acme --batch batch.csv',
  `sends replace ${REPLACE}`,
  `sends cancel ${REPLACE}`,
  'rotate key --user ci-bot --name deploy --to-file ci-bot.key --yes',
  'rotate oauth2 CLIENT_ID --from-file secret.txt --redirect-uri https://app.example.com/signed-in --yes',
  'rotate auth-proxy --yes',
  `incident key ${KEY} --contain --yes`,
  'incident user ci-bot --contain --yes',
  'status --cancel',
  'approve 7f3a-19c2 --yes',
  'reject 7f3a-19c2 --yes',
  'push definitions/acme',
  'watch add definitions/acme',
  'watch pause --because INC-7',
  'watch resume',
  'watch run',
  'watch remove',
  'proxy check --yes',
  'webhooks listen',
  'worker',
  'login --email alice@example.com',
  'logout',
]
/** Commands that need no service, ask only who runs already, or are one. */
const NEITHER = [
  ...['down', 'reset', 'validate', 'fmt', 'show', 'sends', 'sends stop', 'sends reconcile', 'evidence verify'],
  ...['serve', 'proxy', 'messages', 'webhooks deliveries', 'snapshot save', 'snapshot restore', 'migrate'],
  ...['store copy', 'plan-store use', 'master-key wrap', 'master-key rotate', 'master-key status', 'clock'],
  ...[
    'fault add',
    'fault list',
    'fault clear',
    'codec-server',
    'key new',
    'key show',
    'doctor',
    'completion',
    'background',
  ],
  ...['policy test', 'policy eval', 'policy explain', 'policy compare', 'policy fmt', 'policy lint', 'policy lsp'],
]

const one = createOneProcess()
afterAll(() => one.close())

/** A folder where each line finds what it names, beside the data folder of a service that does not run. */
function scene() {
  const cwd = writeFiles(testFolder(), {
    'definitions/acme/acme.yaml': `organization: acme\nid: ${ID}\ntags: { one: {} }\n`,
    'batch.csv': 'from,to,amount,chain,ref\n',
    'request.yaml': 'by: alice\nactivity: SIGN_RAW_PAYLOAD\nwallet: treasury\n',
    'body.json': '{}',
    'headers.txt': 'X-Turnkey-Event-Id: 1\n',
  })
  writePrivate(join(cwd, 'secret.txt'), 'a secret')
  const dataDir = join(cwd, '.quorate')
  ensurePrivateFolder(join(dataDir, 'service'))
  writePrivate(join(dataDir, 'service/bootstrap.json'), JSON.stringify({ organizationId: ID }))
  return { cwd, dataDir, files: () => readdirSync(dataDir, { recursive: true }).toSorted() }
}

/** Notes of a process that came up here and is no more. */
function wasUp(dataDir: string): void {
  writePrivate(join(dataDir, 'background.json'), JSON.stringify({ pid: 2 ** 30 }))
}

test('every command is known to act, to look, or to do neither', () => {
  const named = (line: string) => commands.filter(({ name }) => `${line} `.startsWith(`${name} `)).at(-1)!.name
  const known = new Set([...LOOK.map(named), ...ACT.map(named), ...NEITHER])
  expect(commands.map(({ name }) => name).toSorted()).toEqual([...known].toSorted())
})

test('what only looks brings up nothing, and says that it was stopped, when, and how it comes up', async () => {
  const { cwd, dataDir, files } = scene()
  wasUp(dataDir)
  noteDown(dataDir, 2 ** 30)
  const before = files()
  const said: Record<string, unknown> = {}
  for (const line of LOOK) {
    const { exit, stdout, stderr } = await one.quorate(line.split(' '), { env: {}, cwd })
    said[line] = [
      exit,
      stdout,
      /error (.*), at \d{4}-.*Z\n/.exec(stderr)?.[1] ?? stderr,
      /`quorate up`/.exec(stderr)?.[0],
    ]
    // One that has begun something is to be named.
    expect([line, files()]).toEqual([line, before])
  }
  const ended = `cli/background-down: nothing runs for ${dataDir}: its background process was stopped by \`quorate down\``
  expect(said).toEqual(Object.fromEntries(LOOK.map((line) => [line, [1, '', ended, '`quorate up`']])))
})

test.each(ACT)('what acts may bring it back: %s', async (line) => {
  const { cwd, dataDir } = scene()
  wasUp(dataDir)
  // It would come up, but for this.
  const env = { QUORATE_TEMPORAL_RETENTION_DAYS: 'nonsense', QUORATE_CHAINS: 'nonsense' }
  const { exit, stderr } = await quorate(line.split(' '), { env, cwd })
  expect([exit, stderr]).toEqual([1, expect.stringContaining('QUORATE_TEMPORAL_RETENTION_DAYS')])
  const { ended } = JSON.parse(readFileSync(join(dataDir, 'background.json'), 'utf8'))
  expect(ended.how).toContain('did not come up (expected QUORATE_TEMPORAL_RETENTION_DAYS')
})

test('how it ended: killed; never here; and here by `serve`', async () => {
  const { cwd, dataDir } = scene()
  const look = async () => (await one.quorate(['whoami'], { env: {}, cwd })).stderr
  const never = await look()
  expect(never).toContain(`nothing runs for ${dataDir}\n`)
  expect(never).toMatch(/started +nothing: this command only looks\n +submitted +nothing/)
  wasUp(dataDir)
  writePrivate(join(dataDir, 'background.log'), '')
  const killed = await look()
  expect(killed).toContain('its background process died: it was killed, or this machine went down')
  expect(killed).toMatch(/last word +\d{4}-.*Z\n +log +\S+background\.log/)
  writePrivate(join(dataDir, 'service/lock.pid'), `${process.pid}\n`)
  expect(await look()).toMatch(new RegExp(`is served by process ${process.pid}\\n[^]*next +give --base-url`))
})

test('`down` notes what it ended, and not what came up meanwhile or had ended before', () => {
  const { dataDir } = scene()
  const read = () => JSON.parse(readFileSync(join(dataDir, 'background.json'), 'utf8'))
  noteDown(dataDir, undefined)
  noteBegin(dataDir)
  noteDown(dataDir, undefined)
  expect(read()).toEqual({ pid: process.pid })
  const ended = { pid: 2 ** 30, ended: { at: '2026-01-01T00:00:00.000Z', how: 'was ended by SIGTERM', isWanted: true } }
  writePrivate(join(dataDir, 'background.json'), JSON.stringify(ended))
  noteDown(dataDir, undefined)
  expect(read()).toEqual(ended)
  // It heeded the signal that `down` sent.
  noteDown(dataDir, 2 ** 30)
  expect(read().ended.how).toBe('was stopped by `quorate down`')
})

test('what only looks says within ten seconds that a background process hangs, and where it hangs', async () => {
  const { cwd, dataDir } = scene()
  const order = orderOf('INV-42')
  await createPlanStore(join(dataDir, 'plans')).sends.enter({
    ...order,
    organization: { ...order.organization, id: ID },
  })
  const source = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src', path))
  const script = `
import { listenForControl } from ${source('cli/background/control.ts')}
import { writePrivate } from ${source('local/index.ts')}
const dataDir = ${JSON.stringify(dataDir)}
writePrivate(dataDir + '/lock.pid', String(process.pid))
await listenForControl(dataDir, { answer: () => ({ state: 'starting', pid: process.pid }), stop() {} })
process.stdout.write('listens')`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const lines = ['status', 'sends', 'doctor', 'approvals', 'plan definitions/acme', 'watch list']
  // What is measured is no command's first load.
  for (const line of lines) await one.quorate([...line.split(' '), '--help'], { env: {}, cwd })
  await one.quorate(['whoami'], { env: {}, cwd: testFolder() })
  child.kill('SIGSTOP')
  for (const line of lines) {
    const beganAt = performance.now()
    const { stdout, stderr } = await one.quorate(line.split(' '), { env: {}, cwd })
    const tookMs = performance.now() - beganAt
    expect([line, stdout + stderr]).toEqual([line, expect.stringContaining('runs and does not answer')])
    expect([line, tookMs < 10_000]).toEqual([line, true])
    if (line === 'sends') expect(stderr).toContain(`(pid ${child.pid})`)
  }
})
