/** The embedded Temporal of a data folder: what becomes of a former one, and what is said when it dies or does not start; the process that has it. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { setAsideFormerTemporal } from '../../src/cli/background/former-temporal.ts'
import { orderOf } from '../activities/order.ts'
import { quorate } from './harness.ts'
import { startCommand } from './started.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-embedded-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

/** Made by `temporal server start-dev` 1.5.1, with four runs open and two ended. */
const former = gunzipSync(readFileSync(join(import.meta.dirname, 'former/temporal.db.gz')))
const organization = '00000000-0000-4000-8000-000000000001'
const OPEN = [
  `apply/${organization}`,
  `send/${organization}/9f86d081884c7d65`,
  `send-batch/${organization}/batch-1`,
  'stranger',
]

function dataFolder(name: string): string {
  const dataDir = join(folder, name)
  mkdirSync(dataDir, { mode: 0o700 })
  return dataDir
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('a former embedded Temporal', () => {
  test('its state is set aside whole, and who had runs open in it is told which, and what now', () => {
    const dataDir = dataFolder('former')
    writeFileSync(join(dataDir, 'temporal.db'), former)
    writeFileSync(join(dataDir, 'temporal.db.log'), 'its log')
    const said: string[] = []
    setAsideFormerTemporal(dataDir, (text) => said.push(text))
    expect(said[0]).toContain(`was set aside as ${join(dataDir, 'former-temporal.db')}`)
    expect(said[1]).toContain('4 runs were open in it')
    expect(said.slice(2, 6).map((line) => line.replace(/^temporal: +/, ''))).toEqual(OPEN)
    expect(said.slice(6).join('\n')).toMatch(/plan and apply again.*\n.*the same `quorate send` again/)
    expect(readdirSync(dataDir).sort()).toEqual([
      'former-temporal.db',
      'former-temporal.db.log',
      'former-temporal.db.open-runs.txt',
    ])
    expect(readFileSync(join(dataDir, 'former-temporal.db')).equals(former)).toBe(true)
    expect(readFileSync(join(dataDir, 'former-temporal.db.open-runs.txt'), 'utf8').trim().split('\n')).toEqual(OPEN)

    setAsideFormerTemporal(dataDir, (text) => said.push(text))
    expect(said).toHaveLength(8)
  })

  test('one that cannot be read is set aside too, and a second one beside the first', () => {
    const dataDir = dataFolder('broken')
    const said: string[] = []
    for (const text of ['no database', 'nor this']) {
      writeFileSync(join(dataDir, 'temporal.db'), text)
      setAsideFormerTemporal(dataDir, (line) => said.push(line))
    }
    expect(readdirSync(dataDir).sort()).toEqual(['former-temporal-2.db', 'former-temporal.db'])
    expect(said.filter((line) => line.includes('could not be read (file is not a database)'))).toHaveLength(2)
  })

  test('`up` on its data folder says so and works', async () => {
    const dataDir = dataFolder('upgraded')
    writeFileSync(join(dataDir, 'temporal.db'), former)
    const up = await quorate(['up'], { env: { QUORATE_DATA_DIR: dataDir } })
    expect(up.exit).toBe(0)
    for (const id of OPEN) expect(up.stderr).toContain(id)
    expect(existsSync(join(dataDir, 'former-temporal.db'))).toBe(true)
  })
})

describe('an embedded Temporal that dies', () => {
  // What the test above has left running is what this one kills.
  test('ends what works with it, doctor says what happened, and the next `up` starts it again on its state', async () => {
    const env = { QUORATE_DATA_DIR: join(folder, 'upgraded') }
    const { pid } = JSON.parse((await quorate(['up', '--json'], { env })).stdout)
    const temporal = JSON.parse(readFileSync(join(folder, 'upgraded/temporal.json'), 'utf8')).pid
    process.kill(temporal, 'SIGKILL')
    while (isAlive(pid)) await delay(50)

    const look = await quorate(['activities', '--waiting'], { env })
    expect([look.exit, look.stderr]).toEqual([1, expect.stringContaining('error cli/background-down')])
    expect(look.stderr).toMatch(/ended, because the embedded Temporal server died \(it ended with SIGKILL\), at \S+\n/)
    const doctor = await quorate(['doctor'], { env })
    expect(doctor.exit).toBe(1)
    expect(doctor.stdout).toMatch(/✗ Temporal +the embedded server died at \S+: it ended with SIGKILL\n.*`quorate up`/)
    expect(readFileSync(join(folder, 'upgraded/background.log'), 'utf8')).toContain('the embedded Temporal server died')

    const again = await quorate(['up'], { env })
    expect(again.exit).toBe(0)
    expect(again.stderr).toMatch(/the embedded server died at .* \(it ended with SIGKILL\); starting it again/)
    const well = await quorate(['doctor', '--json'], { env })
    expect(JSON.parse(well.stdout).findings[1]).toMatchObject({ check: 'Temporal', state: 'good' })

    // An apply as the first command after it, also before the background process has noticed.
    const { organizationId } = JSON.parse(readFileSync(join(folder, 'upgraded/service/bootstrap.json'), 'utf8'))
    const definitions = join(folder, 'upgraded-definitions')
    mkdirSync(definitions)
    writeFileSync(join(definitions, 'a.yaml'), `organization: a\nid: ${organizationId}\ntags: { treasury: {} }\n`)
    process.kill(JSON.parse(readFileSync(join(folder, 'upgraded/temporal.json'), 'utf8')).pid, 'SIGKILL')
    const applied = await quorate(['apply', definitions, '--yes'], { env })
    await quorate(['down'], { env })
    expect([applied.exit, applied.stdout]).toEqual([0, expect.stringContaining('1 done')])
    // Of the former one, too.
    const reset = await quorate(['reset', '--yes', '--json'], { env })
    expect(JSON.parse(reset.stdout).kept).toEqual([])
  })

  test('one that outlived its background process is stopped before another one starts', async () => {
    const env = { QUORATE_DATA_DIR: join(folder, 'outlived') }
    const { pid } = JSON.parse((await quorate(['up', '--json'], { env })).stdout)
    const note = () => JSON.parse(readFileSync(join(folder, 'outlived/temporal.json'), 'utf8')).pid as number
    const first = note()
    process.kill(pid, 'SIGKILL')
    while (isAlive(pid)) await delay(50)
    expect(isAlive(first)).toBe(true)
    // Who looks is told, and starts nothing.
    for (const looking of [['doctor'], ['sends'], ['activities', '--waiting'], ['doctor']]) {
      const { exit, stdout, stderr } = await quorate(looking, { env })
      if (looking[0] === 'activities') expect(stderr).toContain('its background process died: it was killed')
      if (looking[0] !== 'doctor') continue
      expect([exit, stdout]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(`✗ background +the background process was killed, .*pid ${first}, runs alone\\n.*\`quorate up\``),
        ),
      ])
    }
    expect((await quorate(['up'], { env })).exit).toBe(0)
    const well = JSON.parse((await quorate(['doctor', '--json'], { env })).stdout)
    expect(well.findings[2]).toMatchObject({ check: 'background', state: 'good' })
    expect(isAlive(first)).toBe(false)
  })

  // What the test above has left running is what this one kills.
  test('`down` stops one that outlived its background process, and after it nothing is amiss', async () => {
    const env = { QUORATE_DATA_DIR: join(folder, 'outlived') }
    const { pid } = JSON.parse((await quorate(['up', '--json'], { env })).stdout)
    const temporalPid = JSON.parse(readFileSync(join(folder, 'outlived/temporal.json'), 'utf8')).pid as number
    process.kill(pid, 'SIGKILL')
    while (isAlive(pid)) await delay(50)
    const down = await quorate(['down', '--json'], { env })
    expect([down.exit, JSON.parse(down.stdout)]).toEqual([0, { stopped: true, temporalPid }])
    expect(isAlive(temporalPid)).toBe(false)
    expect(JSON.parse((await quorate(['down', '--json'], { env })).stdout)).toEqual({ stopped: false })
    const { exit, stdout } = await quorate(['doctor'], { env })
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/nothing runs for .*: its background process was stopped by `quorate down`, at /),
    ])
    expect(stdout).toContain('the root key of the embedded service is used once that runs')
  })

  test('its state is whole; and `down` says what it waits for where one does not answer, and leaves nothing of it', async () => {
    const env = { QUORATE_DATA_DIR: join(folder, 'outlived') }
    const up = await quorate(['up', '--json'], { env })
    expect(up.exit).toBe(0)
    const { pid } = JSON.parse(up.stdout)
    const temporalPid = JSON.parse(readFileSync(join(folder, 'outlived/temporal.json'), 'utf8')).pid as number
    process.kill(temporalPid, 'SIGSTOP')
    const { exit, stderr } = await quorate(['down'], { env })
    expect([exit, stderr]).toEqual([0, expect.stringContaining(`Process ${pid} is still closing what it has started`)])
    expect([pid, temporalPid].filter(isAlive)).toEqual([])
    expect((await quorate(['doctor'], { env })).exit).toBe(0)
  })
})

describe('commands that begin at once on a fresh data folder', () => {
  test('one of them starts what all of them use, and `down` leaves nothing of it', async () => {
    const dataDir = join(folder, 'at-once')
    const env = { QUORATE_DATA_DIR: dataDir }
    const ups = Promise.all([1, 2, 3].map(() => quorate(['up', '--json'], { env })))
    // Who asks begins no service: before one is there, that is what is said.
    while (!existsSync(join(dataDir, 'service/bootstrap.json'))) await delay(20)
    const others = await Promise.all(['whoami', 'activities'].map((name) => quorate([name, '--json'], { env })))
    const pids = (await ups).map(({ stdout }) => JSON.parse(stdout).pid as number)
    expect(others.map(({ exit, stderr }) => (exit === 0 ? exit : stderr))).toEqual([0, 0])
    expect(new Set(pids).size).toBe(1)
    const temporalPid = JSON.parse(readFileSync(join(dataDir, 'temporal.json'), 'utf8')).pid as number
    expect(readFileSync(join(dataDir, 'background.log'), 'utf8').match(/"msg":"serving"/g)).toHaveLength(1)
    expect((await quorate(['down'], { env })).exit).toBe(0)
    expect([pids[0]!, temporalPid].filter(isAlive)).toEqual([])
  })
})

describe('a background process that does not answer', () => {
  test('`status` and `doctor` say that it runs and is silent, and `down` ends it', async () => {
    const env = { QUORATE_DATA_DIR: join(folder, 'silent') }
    const { pid } = JSON.parse((await quorate(['up', '--json'], { env })).stdout)
    const { organizationId } = JSON.parse(readFileSync(join(env.QUORATE_DATA_DIR, 'service/bootstrap.json'), 'utf8'))
    const order = orderOf('INV-42')
    const open = { ...order, organization: { ...order.organization, id: organizationId } }
    await createPlanStore(join(env.QUORATE_DATA_DIR, 'plans')).sends.enter(open)
    const awayOf = async () => JSON.parse((await quorate(['sends', '--json'], { env })).stdout).away
    expect(await awayOf()).toEqual([])
    process.kill(pid, 'SIGSTOP')
    const [status, doctor] = await Promise.all([quorate(['status'], { env }), quorate(['doctor'], { env })])
    expect(await awayOf()).toEqual([
      {
        part: 'background',
        found: expect.stringMatching(/runs and does not answer \(pid \d+\)$/),
        next: expect.any(String),
      },
    ])
    expect([status.exit, status.stderr]).toEqual([1, expect.stringContaining('error cli/background-silent')])
    expect(status.stderr).toMatch(new RegExp(`pid +${pid}`))
    expect([doctor.exit, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(/✗ background +the background process of .* runs and does not answer\n.*`quorate down`/),
    ])
    const down = startCommand(['down', '--json'], { env, home: folder })
    await down.says(new RegExp(`Process ${pid} does not answer`))
    process.kill(pid, 'SIGCONT')
    const { exit, stdout } = await down.ended
    expect([exit, JSON.parse(stdout)]).toEqual([0, { stopped: true, pid }])
    expect(isAlive(pid)).toBe(false)
    expect(await awayOf()).toMatchObject([
      { part: 'background', found: expect.stringContaining('stopped by `quorate down`'), since: expect.any(String) },
    ])
  })
})

describe('an embedded Temporal that does not start', () => {
  test('`up` says what it said and where its log is, and nothing stays behind', async () => {
    const dataDir = join(folder, 'fails')
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(
      join(bin, 'temporal-server'),
      '#!/bin/sh\necho "sql schema version compatibility check failed"\nexit 1\n',
    )
    chmodSync(join(bin, 'temporal-server'), 0o755)
    const env = { QUORATE_DATA_DIR: dataDir, PATH: [bin, process.env['PATH']].join(delimiter) }
    const up = await quorate(['up'], { env })
    expect(up.exit).toBe(1)
    expect(up.stderr).toContain('error worker/temporal-failed: the embedded Temporal server did not come up')
    expect(up.stderr).toContain('sql schema version compatibility check failed')
    expect(up.stderr).toContain(join(dataDir, 'temporal/server.log'))
    expect(JSON.parse((await quorate(['down', '--json'], { env })).stdout)).toEqual({ stopped: false })
    const reset = await quorate(['reset', '--yes', '--json'], { env })
    expect([reset.exit, JSON.parse(reset.stdout).kept]).toEqual([0, []])
  })
})
