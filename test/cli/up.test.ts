/** The main job as a newcomer does it: `quorate up definitions/acme`, twice, then `down`. Everything is the real thing. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { quorate, type Ran, readAll, serve, testFolder, writeFiles } from './harness.ts'

vi.setConfig({ hookTimeout: 600_000 })

const acme = join(import.meta.dirname, '../../definitions/acme')
const folder = mkdtempSync(join(tmpdir(), 'quorate-up-'))
const env = { QUORATE_DATA_DIR: join(folder, 'data') }

let first: Ran
beforeAll(async () => {
  first = await quorate(['up', acme, '--data-dir', env.QUORATE_DATA_DIR])
})
afterAll(async () => {
  await quorate(['down'], { env })
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

describe('up', () => {
  test('plans, applies, approves as the second approver, and ends with an empty plan', () => {
    expect(first.exit).toBe(0)
    // As `approve` shows it: the things before and after, and what power that gives.
    expect(first.stderr).toMatch(
      /What bob sees, and approves:\n[\s\S]* it changes\n +\+ policy\.engineers-add-policies\n[\s\S]* Power\n/,
    )
    expect(first.stderr).toMatch(/waiting +create feature SOLANA_RENT_PREFUND_ENABLED/)
    expect(first.stderr).toContain('What to try next:')
    // What it says to type finds the same folder.
    expect(first.stderr).toContain(`    npx quorate down --data-dir ${env.QUORATE_DATA_DIR}\n`)
    expect(first.stdout.trimEnd().split('\n').at(-1)).toBe('No changes.')
  })

  test('a second run says that there is nothing to do', async () => {
    const again = await quorate(['up', acme], { env })
    expect(again.exit).toBe(0)
    expect(again.stderr).toContain('There is nothing to do')
    expect(again.stdout.trimEnd().split('\n').at(-1)).toBe('No changes.')
  })

  test('each intent is one activity at the service, and none waits', async () => {
    const { stdout } = await quorate(['activities', '--limit', '100', '--json'], { env })
    const activities = JSON.parse(stdout).activities as { type: string; status: string; parameters: unknown }[]
    const intents = activities.map(({ type, parameters }) => JSON.stringify([type, parameters]))
    expect(activities.length).toBeGreaterThan(8)
    expect(new Set(intents).size).toBe(intents.length)
    expect(activities.filter(({ status }) => status !== 'ACTIVITY_STATUS_COMPLETED')).toEqual([])
  })

  test('status and doctor find everything in order', async () => {
    const status = await quorate(['status', '--json'], { env })
    expect(JSON.parse(status.stdout).apply.state).toBe('done')
    const doctor = await quorate(['doctor', '--json'], { env })
    expect(doctor.exit).toBe(0)
    expect(doctor.stdout).toMatch(/sponsored sends are paid by 0x[0-9a-fA-F]{40} on eip155/)
    expect(JSON.parse(doctor.stdout).findings.map(({ state }: { state: string }) => state)).not.toContain('bad')
  })

  test('the first key has the name that the definitions give it, by which it is rotated', async () => {
    const rotate = (name: string) => ['rotate', 'key', '--user', 'alice', '--name', name, '--to-file', 'new.key']
    const known = await quorate(rotate('laptop'), { env })
    expect([known.exit, known.stderr]).toEqual([
      4,
      expect.stringContaining('`laptop` is the key that this command works'),
    ])
    const next = async (name: string) => (await quorate(rotate(name), { env })).stderr.split('\n').at(-2)
    expect([await next('laptob'), await next('phone')]).toEqual([
      '  next       did you mean `laptop`?',
      '  next       the names are: laptop',
    ])
  })

  test('demo keys are their owner’s alone, and no private key is anywhere else', async () => {
    const keys = join(folder, 'data/keys')
    for (const name of readdirSync(keys)) expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600)
    const secrets = [
      ...readdirSync(keys).map((name) => join(keys, name)),
      join(folder, 'data/service/bootstrap.json'),
    ].map((path) => {
      const { privateKey, apiPrivateKey } = JSON.parse(readFileSync(path, 'utf8'))
      return String(privateKey ?? apiPrivateKey)
    })
    expect(secrets).toHaveLength(3)
    const elsewhere = readAll(join(folder, 'data')).filter(({ path }) => !/\/keys\/|bootstrap\.json$/.test(path))
    // The database of the Temporal server is among them: it holds every history.
    expect(elsewhere.some(({ path }) => path.endsWith('temporal/state.db'))).toBe(true)
    for (const secret of secrets) {
      const forms = [
        secret,
        Buffer.from(secret, 'hex').toString('latin1'),
        Buffer.from(secret, 'hex').toString('base64url'),
      ]
      const found = elsewhere.filter(({ text }) => forms.some((form) => text.includes(form))).map(({ path }) => path)
      expect(found).toEqual([])
      expect(first.stdout + first.stderr).not.toContain(secret)
    }
  })

  test('a service on the same folder is refused and names the process that has it', async () => {
    const refused = await quorate(['serve'], { env })
    const { pid } = JSON.parse((await quorate(['up', '--json'], { env })).stdout)
    expect(refused.stderr).toContain(String(pid))
    expect(refused.exit).toBe(1)
  })

  test('a person who looks how the apply stands is told, whatever key the background process works with', async () => {
    const bob = { ...env, QUORATE_API_KEY_FILE: join(folder, 'data/keys/bob.json') }
    const look = await quorate(['status'], { env: bob })
    expect([look.exit, look.stdout], look.stderr).toEqual([0, expect.stringContaining('11 done')])
    // To begin one is another matter: it would be signed with the other key.
    const rotate = await quorate(
      ['rotate', 'key', '--user', 'carol', '--name', 'laptop', '--to-command', 'cat', '--yes'],
      {
        env: bob,
      },
    )
    expect([rotate.exit, rotate.stderr]).toEqual([1, expect.stringContaining('error cli/background-other')])
  })

  test('down stops what runs, and the next up finds everything as it was', async () => {
    const down = await quorate(['down', '--json'], { env })
    expect(JSON.parse(down.stdout).stopped).toBe(true)
    expect(JSON.parse((await quorate(['down', '--json'], { env })).stdout).stopped).toBe(false)
    // Nor does a look start it.
    const look = await quorate(['status'], { env })
    expect(look.stderr).toContain(`error cli/background-down: nothing runs for ${env.QUORATE_DATA_DIR}`)
    expect(look.exit).toBe(1)
    expect(JSON.parse((await quorate(['down', '--json'], { env })).stdout).stopped).toBe(false)
    expect(look.stderr).toContain('its background process was stopped by `quorate down`, at 2')
    const plan = () => quorate(['plan', acme, '--detailed-exitcode'], { env })
    expect((await plan()).stderr).toContain('error cli/background-down')
    expect(JSON.parse((await quorate(['down', '--json'], { env })).stdout).stopped).toBe(false)
    // What acts brings it back.
    expect((await quorate(['apply', acme, '--yes'], { env })).exit).toBe(0)
    const again = await plan()
    expect(again.stdout).toContain('No changes.')
    expect(again.exit).toBe(0)
    expect((await quorate(['status'], { env })).exit).toBe(0)
  })

  test('a snapshot of it is served elsewhere, and base URL, organization and key are enough to import it', async () => {
    const file = join(folder, 'acme.snapshot')
    expect((await quorate(['snapshot', 'save', file], { env })).exit).toBe(0)
    const other = join(folder, 'elsewhere')
    expect((await quorate(['snapshot', 'restore', file, '--folder', other])).exit).toBe(0)
    const { baseUrl, organizationId } = await serve(other)
    const three = {
      QUORATE_BASE_URL: baseUrl,
      QUORATE_ORGANIZATION_ID: organizationId,
      QUORATE_API_KEY_FILE: join(other, 'bootstrap.json'),
    }
    const cwd = testFolder()
    expect((await quorate(['import', 'mine'], { env: three, cwd })).exit).toBe(0)
    expect(readFileSync(join(cwd, 'mine/policies.yaml'), 'utf8')).toContain('${wallet.treasury}')
    const plan = await quorate(['plan', 'mine', '--detailed-exitcode'], { env: three, cwd })
    expect(plan.stdout).toContain('No changes.')
    expect(plan.exit).toBe(0)
    expect(readdirSync(cwd)).toEqual(['mine'])
  })

  test('a day later its votes have lapsed: it votes again on the same activity, and one more approval completes it', async () => {
    const defs = join(folder, 'acme')
    cpSync(acme, defs, { recursive: true })
    const policies = join(defs, 'policies.yaml')
    const text = readFileSync(policies, 'utf8')
    writeFileSync(policies, text.replace('eth.tx.value < 1000000000000000000', 'eth.tx.value < 5'))
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(3)
    const waiting = async () =>
      JSON.parse((await quorate(['activities', '--waiting', '--all', '--json'], { env })).stdout).activities
    const [{ id }] = await waiting()
    expect((await quorate(['clock', '+25h'], { env })).exit).toBe(0)
    expect((await quorate(['up'], { env })).stderr).toContain("The service's time is 1d1h ahead")
    const bob = ['--key-file', join(folder, 'data/keys/bob.json')]
    const again = await quorate(['apply', defs, '--yes'], { env })
    expect(again.exit).toBe(3)
    expect(await waiting()).toMatchObject([{ id }])
    // How long it waits is told by the service's clock, as `activities` tells it.
    expect(again.stdout).toMatch(/approved by alice; requested 1 day ago/)
    expect((await quorate(['status'], { env })).stdout).toMatch(/approved by alice; requested 1 day ago/)
    expect((await quorate(['approve', id, '--yes', ...bob], { env })).exit).toBe(0)
    const end = await quorate(['status', '--follow'], { env })
    expect(end.stdout).toContain('1 done')
    expect(end.exit).toBe(0)
    const after = await quorate(['plan', defs, '--detailed-exitcode'], { env })
    expect(after.stdout).toContain('No changes.')
    const { activities } = JSON.parse((await quorate(['activities', '--limit', '100', '--json'], { env })).stdout)
    expect(activities.filter(({ type }: { type: string }) => type === 'ACTIVITY_TYPE_UPDATE_POLICY_V2')).toHaveLength(1)
  })
})

test('up approves as members of the root quorum first, and never as somebody whose vote does not count', async () => {
  const cwd = testFolder()
  // Which Temporal server works is another test's matter: one of its own for each costs more than what is shown here.
  const env = await testTemporalEnvironment()
  const ran = async (name: string, carolKey: string) => {
    const user = (one: string, publicKey = `\${var.${one}PublicKey}`) =>
      `  ${one}: { apiKeys: { laptop: { curve: P256, publicKey: "${publicKey}" } } }\n`
    const text = `organization: ${name}\nid: \${env.ID}\nrootQuorum: { threshold: 2, users: [alice, carol] }\ntags: { treasury: {} }\nusers:\n`
    writeFiles(join(cwd, name), { 'all.yaml': text + user('aaron') + user('alice') + user('carol', carolKey) })
    const at = ['--data-dir', join(cwd, `${name}-data`)]
    const came = await quorate(['up', name, ...at], { cwd, env })
    writeFiles(join(cwd, name), {
      'more.yaml': 'policies: { no-exports: { effect: deny, condition: "activity.action == \'EXPORT\'" } }\n',
    })
    const again = await quorate(['up', name, ...at], { cwd, env })
    await quorate(['down', ...at], { cwd, env })
    return { came, again }
  }
  const [both, alone] = await Promise.all([
    ran('both', '${var.carolPublicKey}'),
    ran('alone', generateP256KeyPair().publicKey),
  ])
  expect([both.came.exit, both.again.exit]).toEqual([0, 0])
  expect(both.again.stderr).toMatch(/What carol sees, and approves:[\s\S]*approve CODE --key-file \S+\/carol\.json/)
  expect(alone.came.exit).toBe(3)
  expect(alone.came.stderr).not.toContain('sees, and approves')
})
