/** Plans as they are shown, saved, shown again and carried out, as separate processes against a real service. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readPlan } from '../../src/plan/index.ts'
import { builtMain } from '../built.ts'
import { startBusyService } from '../client/busy-service.ts'
import { complete } from '../service/handlers/steps.ts'
import { allowAlone, createTestUser, startTestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'

// Each test runs the CLI several times, and each run is a process that starts from nothing.
const definitions = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {} }
policies: { no-exports: { effect: deny, condition: activity.action == 'EXPORT' } }
`

async function scene(more: Readonly<Record<string, string>> = {}) {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey, more)
  const defs = writeFiles(join(folder, 'defs'), { 'acme.yaml': definitions })
  return { service, folder, env, defs }
}

describe('plan', () => {
  test('the first line says what a reader needs; as JSON and in files it is the plan document, which is read again', async () => {
    const { service, folder, env, defs } = await scene()
    const [out, into, markdown] = ['out.json', 'into.json', 'plan.md'].map((name) => join(folder, name))
    const shown = await quorate(['plan', defs, '--out', out!, '--json-into', into!, '--markdown', markdown!], { env })
    expect(shown.stdout.split('\n')[0]).toBe('acme: 2 changes in 2 activities')
    expect(shown.exit).toBe(0)
    const saved = readPlan(readFileSync(out!, 'utf8'))
    expect(saved.requests).toEqual({ reads: expect.any(Number), submits: 2 })
    expect(readPlan(readFileSync(into!, 'utf8'))).toEqual(saved)
    expect(readFileSync(markdown!, 'utf8')).toContain('### acme: 2 changes in 2 activities')

    const json = await quorate(['plan', defs, '--json'], { env })
    expect(readPlan(json.stdout).digest).toBe(saved.digest)
    const dash = await quorate(['plan', defs, '--markdown', '-'], { env })
    expect(dash.stdout.split('\n')[0]).toBe('### acme: 2 changes in 2 activities')
    expect(await countActivities(service)).toBe(0)
  })

  test('the requests that a plan says it took are those that came to the API, at the rate that was given', async () => {
    const { service, env, defs } = await scene()
    const busy = await startBusyService(service.url)
    onTestFinished(() => busy.close())
    const beside = { ...env, QUORATE_BASE_URL: busy.url, QUORATE_REQUESTS_PER_SECOND: '60' }
    const { requests, batches } = readPlan((await quorate(['plan', defs, '--json'], { env: beside })).stdout)
    expect(requests).toEqual({ reads: busy.seen.length, submits: batches.length, perSecond: 60 })
    expect(busy.seen.every(({ path }) => path.startsWith('/public/v1/query/'))).toBe(true)
  })

  test('drift is told from a change of the definitions in all three forms, by what the lock remembers', async () => {
    const { service, folder, env, defs } = await scene()
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'no-exports',
      effect: 'EFFECT_DENY',
      condition: "activity.action == 'EXPORT'",
      notes: '',
    })
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'treasury', userIds: [] })
    await quorate(['import', defs], { env })
    const { policyId } = (made.result as { createPolicyResult: { policyId: string } }).createPolicyResult
    const lock = readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')
    expect(lock).toMatch(new RegExp(`policy.no-exports: ${policyId} sha256:[0-9a-f]{24}( -)?\n`))

    const edited = await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', {
      policyId,
      policyCondition: "activity.action == 'SIGN'",
    })
    const markdown = join(folder, 'plan.md')
    const drifted = await quorate(['plan', defs, '--markdown', markdown], { env })
    expect(drifted.stdout).toMatch(/~ policy\.no-exports .*drift: somebody changed it$/m)
    expect(drifted.stdout).toMatch(/^ {4}by root \(key .+\) at 20\S+Z, activity [0-9a-f-]{36}$/m)
    expect(readFileSync(markdown, 'utf8')).toMatch(/~ policy\.no-exports .*drift: somebody changed it$/m)
    const json = await quorate(['plan', defs, '--json'], { env })
    expect(readPlan(json.stdout).changes.map(({ address, cause }) => [address, cause])).toEqual([
      ['policy.no-exports', 'live changed'],
    ])
    const root = { userName: 'root', publicKey: service.root.publicKey }
    expect(readPlan(json.stdout).changes[0]!.author).toMatchObject({ activityId: edited.id, ...root, approvedBy: [] })

    const { userTags } = await service.root.query('list_user_tags')
    const tagIds = userTags.map(({ tagId }) => tagId)
    const deleted = await service.root.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: tagIds })
    const gone = readPlan((await quorate(['plan', defs, '--json'], { env })).stdout).changes
    expect(gone.map(({ address, author }) => [address, author?.activityId])).toEqual([
      ['tag.treasury', deleted.id],
      ['policy.no-exports', edited.id],
    ])

    const policies = readFileSync(join(defs, 'acme.yaml'), 'utf8')
    writeFiles(defs, { 'acme.yaml': policies.replace('effect: deny', 'effect: allow') })
    const both = await quorate(['plan', defs], { env })
    expect(both.stdout).toMatch(/~ policy\.no-exports .*drift: somebody changed it, and its definition changed too$/m)
    expect(both.stdout).toMatch(/condition .* {2}drift$/m)
    expect(both.stdout).toMatch(/effect .* {2}definition$/m)
  })

  test('a plan is its owner’s alone, also where a file that all may read was there, and no half of it is left', async () => {
    const { folder, env, defs } = await scene()
    const out = join(writeFiles(folder, { 'plan.json': 'old' }), 'plan.json')
    chmodSync(out, 0o644)
    const ran = await quorate(['plan', defs, '--out', out, '--markdown', `${out}.md`], { env })
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain(
      `The plan is in ${out}: show it with \`quorate show ${out}\`, carry it out with \`quorate apply ${out}\`.`,
    )
    expect(ran.stderr).toContain(`The plan is in ${out}.md as Markdown.`)
    rmSync(`${out}.md`)
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(readPlan(readFileSync(out, 'utf8')).changes).toHaveLength(2)
    expect(readdirSync(folder).filter((name) => name.includes('plan'))).toEqual(['plan.json'])
  })

  test('a file that cannot be written is an error that names it', async () => {
    const { folder, env, defs } = await scene()
    writeFiles(folder, { file: '' })
    for (const [option, path, says, next] of [
      [
        '--out',
        join(folder, 'nowhere/plan.json'),
        `its folder \`${join(folder, 'nowhere')}\` is not there`,
        'make the folder',
      ],
      ['--markdown', folder, 'it is a folder, and a file is needed', 'name a file in that folder'],
      ['--json-into', join(folder, 'file/plan.json'), 'a part of the path is no folder', 'choose another file'],
      // Who may write everywhere is let in by its mode; anybody else is not.
      ...(process.getuid?.() === 0 && existsSync('/proc/self')
        ? ([['--out', '/proc/x.json', 'no file can be made in `/proc`', 'name another folder']] as const)
        : []),
    ] as const) {
      const ran = await quorate(['plan', defs, option, path], { env })
      expect([ran.exit, ran.stdout]).toEqual([1, ''])
      expect(ran.stderr).toContain(`error cli/unwritable: \`${path}\` cannot be written: ${says}`)
      expect(ran.stderr).toContain(next)
      expect(ran.stderr).not.toMatch(/\.tmp|errno|ENOENT/)
    }
  })
})

describe('show', () => {
  test('any saved plan is shown, and marked when the organization has moved; only apply refuses', async () => {
    const { service, folder, env, defs } = await scene()
    const file = join(folder, 'plan.json')
    await quorate(['plan', defs, '--out', file], { env })
    const fresh = await quorate(['show', file], { env })
    expect(fresh.stdout).toContain('+ policy.no-exports')
    expect(fresh.stderr).toContain('is as it was')
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'treasury', userIds: [] })
    const stale = await quorate(['show', file], { env })
    expect(stale.stdout).toBe(fresh.stdout)
    expect(stale.stderr).toContain(
      'Stale: the organization has moved since this plan was made:\n  `tag.treasury` is live now',
    )
    expect(stale.exit).toBe(0)
    const json = await quorate(['show', file, '--json'], { env })
    expect(JSON.parse(json.stdout)).toMatchObject({ stale: true, moved: ['`tag.treasury` is live now'] })
  })

  test('without an API the plan is shown all the same, and nothing is started', async () => {
    const { folder, env, defs } = await scene()
    const file = join(folder, 'plan.json')
    await quorate(['plan', defs, '--out', file], { env })
    const ran = await quorate(['show', file], { env: { QUORATE_DATA_DIR: join(folder, 'other') } })
    expect(ran.stdout).toContain('+ tag.treasury')
    expect(ran.stderr).toContain('Not compared with the live organization: no API is configured')
    expect(ran.exit).toBe(0)
    expect(existsSync(join(folder, 'other'))).toBe(false)
  })

  test('what is no plan is refused', async () => {
    const { folder, env } = await scene()
    const missing = await quorate(['show', join(folder, 'none.json')], { env })
    expect(missing.stderr).toContain('error cli/unreadable')
    const other = writeFiles(folder, { 'x.json': '{}' })
    expect((await quorate(['show', join(other, 'x.json')], { env })).stderr).toContain('error plan/foreign-format')
  })
})

describe('plan: a rename that is not said', () => {
  test('the plan says at which line what is to be written, and that text makes it a rename', async () => {
    const { service, env, defs } = await scene()
    const bob = await createTestUser(service, 'bob')
    const user = (name: string, more = '') =>
      `users:\n  # as in the directory\n  ${name}:\n    email: bob@acme.test\n${more}    apiKeys: { bob-key: { curve: P256, publicKey: ${bob.client.publicKey} } }\n`
    await service.root.submit('ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId: bob.userId, userEmail: 'bob@acme.test' })
    const organization = 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\n'
    const write = (text: string) => writeFiles(defs, { 'acme.yaml': organization + text })
    write(user('bob'))
    const locked = await quorate(['apply', defs, '--yes'], { env })
    expect(locked.exit, locked.stdout + locked.stderr).toBe(0)

    write(user('robert'))
    const planned = await quorate(['plan', defs], { env })
    expect([planned.exit, planned.stdout]).toEqual([4, expect.stringContaining('+ user.robert')])
    expect(planned.stderr).toMatch(/acme\.yaml:5:3.*\n?.*plan\/perhaps-renamed/)
    const [, text] = /write `([^`]+)` into its definition here/.exec(planned.stderr)!
    const asData = JSON.parse((await quorate(['plan', defs, '--json'], { env })).stdout)
    expect(asData.perhapsRenamed).toEqual([
      { made: 'user.robert', former: 'user.bob', same: expect.any(String), write: text, isMarked: false },
    ])
    write(user('robert', `    ${text}\n`))
    const renamed = await quorate(['plan', defs], { env })
    expect([renamed.exit, renamed.stdout]).toEqual([0, expect.stringMatching(/^ *~ user\.robert/m)])
    expect(renamed.stdout + renamed.stderr).not.toMatch(/\+ user|perhaps-renamed/)
  })
})

describe('apply: what nothing but the lock is changed for', () => {
  test('what is handed back is named; a rename that was carried out meanwhile is told by plan and written by apply', async () => {
    const { service, env, defs } = await scene()
    const created = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'one', userIds: [] })
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'two', userIds: [] })
    const write = (text: string) =>
      writeFiles(defs, { 'acme.yaml': `organization: acme\nid: \${env.ACME_ORGANIZATION_ID}\n${text}` })
    const apply = () => quorate(['apply', defs, '--yes'], { env })
    const lock = () => readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')
    write('tags: { one: {}, two: {} }\n')
    expect(await apply()).toMatchObject({ exit: 0, stderr: expect.not.stringMatching(/Handed back|The lock has/) })

    write('tags: { one: {} }\nforget: [tag.two]\n')
    const back = await apply()
    expect([back.exit, back.stderr]).toEqual([
      0,
      expect.stringContaining('Handed back, live and managed no longer: tag.two.'),
    ])
    expect(lock()).not.toContain('tag.two')

    // As it is where somebody approved the rename after `apply` had left.
    write('tags: { first: { renamedFrom: one } }\n')
    const open = await quorate(['plan', defs], { env })
    expect(open.stderr).not.toContain('The lock has')
    const { userTagId } = created
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_TAG', {
      userTagId,
      newUserTagName: 'first',
      addUserIds: [],
      removeUserIds: [],
    })
    const planned = await quorate(['plan', defs], { env })
    expect(planned.stdout).toContain('No changes.')
    expect(planned.stderr).toContain('The lock has tag.one for what is tag.first now: `quorate apply ')
    const before = await countActivities(service)
    const written = await apply()
    expect([written.exit, written.stderr]).toEqual([
      0,
      expect.stringContaining('The lock has tag.first now for what it had as tag.one.'),
    ])
    expect(lock()).toMatch(/tag\.first: /)
    expect(lock()).not.toContain('tag.one')
    expect(await countActivities(service)).toBe(before)
    expect((await quorate(['plan', defs], { env })).stderr).not.toContain('The lock has')
  })
})

describe('apply: a saved plan that only hands back', () => {
  test('says that the lock was not written, and what is managed as before, where its folder is not there', async () => {
    const { service, env, defs, folder } = await scene()
    for (const userTagName of ['one', 'two'])
      await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })
    const write = (text: string) =>
      writeFiles(defs, { 'acme.yaml': `organization: acme\nid: \${env.ACME_ORGANIZATION_ID}\n${text}` })
    write('tags: { one: {}, two: {} }\n')
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
    write('tags: { one: {} }\nforget: [tag.two]\n')
    const file = join(folder, 'saved.json')
    expect((await quorate(['plan', defs, '--out', file], { env })).exit).toBe(0)

    const away = join(folder, 'away')
    renameSync(defs, away)
    const elsewhere = await quorate(['apply', file], { env })
    expect([elsewhere.exit, elsewhere.stderr]).toEqual([
      0,
      expect.stringMatching(
        /The lock in .*defs was not written: that folder is not here\. Not handed back, and managed as before: tag\.two\. Where the definitions are, `quorate apply FOLDER` writes it\.\n/,
      ),
    ])
    expect(readFileSync(join(away, 'quorate.lock.yaml'), 'utf8')).toContain('tag.two')

    renameSync(away, defs)
    write('tags: { one: {}, three: {} }\nforget: [tag.two]\n')
    expect((await quorate(['apply', file], { env })).stderr).toMatch(
      /was not written: the definitions there are not those of this plan\. Not handed back, and managed as before: tag\.two\. `quorate plan .*defs` says/,
    )
    write('tags: { one: {} }\nforget: [tag.two]\n')
    expect((await quorate(['apply', file], { env })).stderr).toContain(
      'Handed back, live and managed no longer: tag.two.',
    )
  })
})

describe('unmanaged', () => {
  test('what is live and in no definition is listed with its id', async () => {
    const { service, env, defs } = await scene()
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'stray', userIds: [] })
    const ran = await quorate(['unmanaged', defs], { env })
    expect(ran.stdout).toMatch(/^tag\.stray +[0-9a-f-]{36}$/m)
    expect(ran.exit).toBe(0)
    const json = await quorate(['unmanaged', defs, '--json'], { env })
    expect(JSON.parse(json.stdout).unmanaged).toContainEqual(expect.objectContaining({ address: 'tag.stray' }))
  })
})

describe('apply', () => {
  test('events end with what went wrong and the exit code, whatever it was', async () => {
    const { folder, env, defs } = await scene()
    const eventsOf = async (args: readonly string[]) => {
      const ran = await quorate(['apply', ...args, '--events', '--json'], { env, cwd: folder })
      const events = ran.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(events.at(-1)).toMatchObject({ event: 'end', state: 'failed', exit: ran.exit })
      return { names: events.map(({ event }) => event), error: events.at(-2).error }
    }
    const asked = await eventsOf([defs])
    expect(asked.names).toEqual(['version', 'plan', 'error', 'end'])
    expect(asked.error).toMatchObject({ code: 'cli/not-confirmed', next: expect.stringContaining('--yes') })

    const file = join(folder, 'plan.json')
    await quorate(['plan', defs, '--out', file], { env })
    writeFileSync(file, readFileSync(file, 'utf8').replace('treasury', 'treasurx'))
    expect((await eventsOf([file])).error).toMatchObject({ code: 'plan/edited' })

    writeFiles(defs, { 'wrong.yaml': 'tags: [' })
    expect((await eventsOf([defs])).names).toEqual(['version', 'end'])
  })

  test('a saved plan takes no option of planning, and one that a guard refuses stays refused', async () => {
    const { service, folder, env, defs } = await scene()
    const bob = await createTestUser(service, 'bob')
    await allowAlone(service, bob, 'true')
    await bob.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'planted', userIds: [] })
    writeFiles(defs, {
      'more.yaml':
        'tags: { planted: {} }\npolicies: { p: { effect: deny, condition: "false", notes: "${var.name}" } }\n',
    })
    const given = ['--var', 'name=payroll']
    const before = await countActivities(service)
    const run = (...args: string[]) => quorate(args, { env, cwd: folder })
    const planned = await run('plan', 'defs', ...given, '--out', 'plan.json')
    expect([planned.exit, planned.stderr]).toEqual([4, expect.not.stringContaining('carry it out')])
    expect(planned.stderr).toMatch(
      /^The plan is in plan\.json: show it with `quorate show plan\.json`\.\nIt is refused as it is \(guard adoption\): .* plan again with --allow adoption, and apply that\.$/m,
    )
    const options = [['--allow', 'adoption'], ['--allow-delete'], ['--target', 'tag.planted']]
    for (const option of [...options, options.flat()]) {
      const ran = await run('apply', 'plan.json', '--yes', ...option)
      expect([ran.exit, ran.stderr]).toEqual([1, expect.stringContaining('error cli/usage: a saved plan is applied')])
      for (const flag of option.filter((one) => one.startsWith('--'))) expect(ran.stderr).toContain(`${flag} `)
    }
    const other = await run('apply', 'plan.json', '--var', 'name=other')
    expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining('--var changes none of them')])
    const refused = await run('apply', 'plan.json', ...given)
    expect([refused.exit, refused.stderr]).toEqual([4, expect.stringContaining('a saved plan stays refused')])
    expect(refused.stderr).toContain('plan again with --allow adoption')
    rmSync(defs, { recursive: true })
    const alone = await run('apply', 'plan.json', ...given)
    expect([alone.exit, alone.stderr]).toEqual([1, expect.stringContaining('no definitions to compare')])
    expect(await countActivities(service)).toBe(before)
  })

  test('events are one JSON object a line, the version first; a saved plan writes the lock beside its definitions', async () => {
    const { service, folder, env, defs } = await scene(await testTemporalEnvironment())
    const worker = spawn(process.execPath, [builtMain(), 'worker', '--json'], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(async () => {
      const exit = once(worker, 'exit')
      worker.kill('SIGTERM')
      await exit
    })
    await once(worker.stdout!, 'data')
    const file = join(folder, 'plan.json')
    await quorate(['plan', 'defs', '--out', file], { env, cwd: folder })
    expect(readPlan(readFileSync(file, 'utf8')).folder).toBe('defs')

    const ran = await quorate(['apply', file, '--events'], { env, cwd: folder })
    const events = ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]).toMatchObject({ event: 'version', version: 'quorate.events/1' })
    expect(events[1]).toMatchObject({ event: 'plan', changes: 2 })
    const done = events.filter(({ event, state }) => event === 'activity' && state === 'completed')
    expect(done.map(({ index }) => index).sort()).toEqual([0, 1])
    expect(events.at(-1)).toMatchObject({ event: 'end', state: 'done', exit: 0 })
    const { userTags } = await service.root.query('list_user_tags')
    expect(readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')).toContain(
      `tag.treasury: ${userTags[0]!.tagId} sha256:`,
    )
  })
})

test('plan: an id and a name in a policy that nothing has are warned of, and what lives or is defined is not', async () => {
  const { service, folder, env } = await scene()
  const { walletId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'cold', accounts: [] })
  const nothing = '5b0a2f2e-0e0f-4f5e-9f0e-2b7d0d7a1c11'
  const condition = (text: string) =>
    `{ effect: allow, consensus: "approvers.any(u, u.id == '${service.rootUserId}')", condition: "${text}" }`
  const defs = writeFiles(join(folder, 'ids'), {
    'acme.yaml': `organization: acme
id: ${service.organizationId}
tags: { ops: {} }
wallets: { treasury: { accounts: [] } }
policies:
  known: ${condition(`wallet.id in ['${walletId}', '\${wallet.treasury}'] || wallet.label in ['cold', 'treasury']`)}
  wrong-id: ${condition(`wallet.id == '${nothing}'`)}
  wrong-name: ${condition("wallet.label == 'tresury'")}
  wrong-tag: { effect: allow, consensus: "approvers.any(u, u.tags.contains('${nothing}'))", condition: "true" }
`,
  })
  const { exit, stderr } = await quorate(['plan', defs], { env })
  expect(exit).toBe(0)
  expect(stderr.match(/warning definitions\/unknown-id: .*$/gm)).toEqual([
    `warning definitions/unknown-id: no wallet has the id \`${nothing}\``,
    'warning definitions/unknown-id: no wallet has the name `tresury`',
    `warning definitions/unknown-id: no tag has the id \`${nothing}\``,
  ])
  expect(stderr).toContain('did you mean `treasury`?')
})
