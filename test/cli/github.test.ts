/** What a job of GitHub Actions sees: annotations at their lines, and a first line at once. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { builtMain } from '../built.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import {
  ACME,
  countActivities,
  environmentOf,
  keyFile,
  quorateShared as quorate,
  testFolder,
  writeFiles,
} from './harness.ts'

const organizationId = '00000000-0000-4000-8000-000000000001'
const mistake = `organization: acme
id: ${organizationId}
policies:
  p: { effect: allow, condition: "activity.resorce == 'WALLET'" }
`
const annotations = (text: string) => text.split('\n').filter((line) => line.startsWith('::'))

describe('annotations', () => {
  test('a mistake stands at its line from the workspace, with what GitHub reserves escaped', async () => {
    const folder = testFolder()
    writeFiles(folder, { 'infra/50%,a:b/acme.yaml': mistake })
    const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder, QUORATE_BASE_URL: 'http://127.0.0.1:9' }
    const ran = await quorate(['validate', '50%,a:b'], { env, cwd: join(folder, 'infra') })
    expect(annotations(ran.stderr)).toEqual([
      '::error file=infra/50%25%2Ca%3Ab/acme.yaml,line=4,endLine=4,col=44,endColumn=51,' +
        'title=policy/unknown-field::an Activity has no field `resorce`%0Adid you mean `resource`?',
    ])
    expect(annotations(ran.stdout)).toEqual([])
    expect(ran.exit).toBe(1)
  })

  test('as JSON, data stays data and annotations go beside it; elsewhere there are none', async () => {
    const folder = writeFiles(testFolder(), { 'acme.yaml': mistake })
    const env = { GITHUB_ACTIONS: 'true', QUORATE_BASE_URL: 'http://127.0.0.1:9' }
    const json = await quorate(['validate', folder, '--json'], { env })
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false })
    expect(annotations(json.stderr)).toHaveLength(1)
    expect(annotations((await quorate(['validate', folder])).stderr)).toEqual([])
  })

  test('linting annotates; an error about no line is one without a file', async () => {
    const folder = writeFiles(testFolder(), {
      'acme.yaml': `organization: acme\nid: ${organizationId}\npolicies:\n  p: { effect: allow, condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'" }\n`,
    })
    const env = { GITHUB_ACTIONS: 'true' }
    const linted = await quorate(['policy', 'lint', folder], { env })
    expect(annotations(linted.stderr).some((line) => line.includes('pinned-activity-type::'))).toBe(true)
    // A mistake is one wherever it is met.
    const broken = writeFiles(testFolder(), { 'acme.yaml': mistake, 'cut.yaml': 'tags: [' })
    const place = { QUORATE_BASE_URL: 'http://127.0.0.1:9', QUORATE_ORGANIZATION_ID: organizationId }
    for (const args of [
      ['fmt', broken, '--check'],
      ['import', broken],
    ]) {
      const { stderr } = await quorate(args, { env: { ...env, ...place, QUORATE_API_KEY: '1'.repeat(64) } })
      expect(annotations(stderr).join('\n')).toContain(`::error file=${join(broken, 'cut.yaml')},line=1`)
    }
    const missing = await quorate(['validate', join(folder, 'no\nwhere')], { env })
    expect(annotations(missing.stderr)).toEqual([
      `::error title=cli/no-definitions::expected \`${folder}/no%0Awhere\` to be a folder of definitions%0Aname the folder, or make one with \`quorate init FOLDER\``,
    ])
  })
})

describe('the first line', () => {
  test('comes before the API has answered anything', async () => {
    let asked = 0
    const silent = createServer(() => {
      asked++
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const folder = testFolder()
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    writeFiles(folder, { 'defs/acme.yaml': `organization: acme\nid: ${organizationId}\n` })
    const child = spawn(process.execPath, [builtMain(), 'plan', 'defs'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        QUORATE_BASE_URL: baseUrl,
        QUORATE_ORGANIZATION_ID: organizationId,
        QUORATE_API_KEY_FILE: keyFile(folder, 'key', '1'.repeat(64)),
      },
    })
    onTestFinished(() => {
      child.kill('SIGKILL')
      silent.closeAllConnections()
      silent.close()
    })
    const [first] = (await child.stderr.setEncoding('utf8').iterator().next()).value.split('\n')
    expect({ first, asked }).toEqual({ first: `Planning defs against ${baseUrl} …`, asked: 0 })
  })
})

describe('plan --as', () => {
  test('a key that may only read says what will come of it for the one that applies; that plan is not its to apply', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const reader = await createTestUser(service, 'reader')
    const folder = testFolder()
    const env = environmentOf(service, folder, reader.client.privateKey)
    const defs = writeFiles(join(folder, 'defs'), {
      'acme.yaml': `${ACME}tags: { treasury: {} }\n`,
    })
    const own = await quorate(['plan', defs], { env })
    expect(own.stdout).toContain('as reader')
    expect(own.stdout).toContain('denied')
    const file = join(folder, 'plan.json')
    const asRoot = await quorate(['plan', defs, '--as', 'root', '--out', file], { env })
    expect(asRoot.stdout).toContain('as root')
    expect(asRoot.stdout).toContain('completes at once')

    const applied = await quorate(['apply', file], { env })
    expect(applied.stderr).toContain(
      "error cli/other-user: the plan was made for root, and the key is reader's\n  submitted  nothing",
    )
    expect(applied.exit).toBe(1)
    const nobody = await quorate(['plan', defs, '--as', 'roott'], { env })
    expect(nobody.stderr).toContain('expected --as to be a user with an API key, got `roott`')
    expect(nobody.stderr).toContain('did you mean `root`?')
    expect(await countActivities(service)).toBe(1)
  })

  test('of users with one name the id says which', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const [one, other] = [await createTestUser(service, 'twin'), await createTestUser(service, 'twin')]
    const folder = testFolder()
    const env = environmentOf(service, folder, service.root.privateKey)
    const defs = writeFiles(join(folder, 'defs'), { 'acme.yaml': `${ACME}tags: { treasury: {} }\n` })
    const both = [one.userId, other.userId].sort().join(', ')
    for (const asked of [
      ['plan', defs, '--as', 'twin'],
      ['who-can', '--user', 'twin'],
    ]) {
      const refused = await quorate(asked, { env })
      expect([refused.exit, refused.stderr]).toEqual([
        1,
        expect.stringContaining(`error cli/unknown-user: there are several users \`twin\`: ${both}\n`),
      ])
    }
    const planned = await quorate(['plan', defs, '--as', other.userId, '--json'], { env })
    expect(JSON.parse(planned.stdout)).toMatchObject({ actor: { userId: other.userId } })
    expect((await quorate(['who-can', 'sign', '--user', other.userId], { env })).exit).toBe(0)
  })
})
