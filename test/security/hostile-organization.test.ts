/**
 * An organization whose members chose every name and text with care, read into definitions and planned again: whatever they
 * wrote is text in the files and stays what it was. Nothing is looked up, substituted, or written outside the folder.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { environmentOf, quorateShared as quorate, readAll, testFolder } from '../cli/harness.ts'
import { complete, newUser } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'

/** What every object has, what YAML, templates, shells and paths take for something else, and what looks like nothing. */
const NAMES = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'],
  ...['-rf', '--help', '../../outside', '/etc/passwd', 'C:\\x', '.', '..', 'quorate.lock.yaml'],
  ...[
    '*a',
    '&a',
    '!!js/function "x"',
    '<<',
    '- a',
    'a: b',
    '# a',
    '%YAML 1.1',
    '---',
    '{a: b}',
    '[a]',
    '| a',
    '"',
    "'",
  ],
  ...['null', '~', 'true', 'yes', '1e5', '0x1F', '.inf', '2020-01-01', '='],
  ...['${env.SECRET_OF_CI}', '${var.x}', '${user.root}', '$${x}', '`id`', '$(id)', "a' || true || 'a", 'a}', '"]}'],
]
const SECRET = 'a-value-of-the-environment'

type Sections = Readonly<Record<string, object>>

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  const { root } = service
  const tagIds: string[] = []
  // An organization has ten tags at most.
  for (const userTagName of NAMES.slice(0, 5)) {
    tagIds.push((await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })).userTagId)
  }
  const users = NAMES.map((userName, index) => newUser({ userName, userTags: tagIds.slice(0, index % 6) }))
  const { userIds } = await complete(root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users })
  const policies = NAMES.map((policyName, index) => ({
    policyName,
    effect: 'EFFECT_DENY',
    condition: `activity.kind == 'CREATE_WALLET' && wallet.label == ${JSON.stringify(policyName).includes('"]') ? "''" : `'${policyName.replaceAll(/['"\\]/g, '')}'`}`,
    consensus: `approvers.any(user, user.id == '${userIds[index]}')`,
    // Of another one: a thing whose own name cannot be written is left out with all that it says.
    notes: NAMES[(index + 7) % NAMES.length]!,
  }))
  await complete(root, 'ACTIVITY_TYPE_CREATE_POLICIES', { policies })
  for (const walletName of NAMES.slice(0, 12)) {
    await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts: [] })
  }
})
afterAll(() => service.close())

test('hostile organization: what is imported of it plans to no change, and stays in its folder', async () => {
  const folder = testFolder()
  const env = { ...environmentOf(service, folder, service.root.privateKey), SECRET_OF_CI: SECRET }
  const imported = await quorate(['import', 'definitions'], { cwd: folder, env })
  expect([imported.exit, imported.stderr]).toEqual([0, expect.any(String)])
  const planned = await quorate(['plan', 'definitions', '--detailed-exitcode', '--json-into', 'plan.json'], {
    cwd: folder,
    env,
  })
  expect([planned.exit, planned.stdout + planned.stderr]).toEqual([0, expect.stringContaining('No changes.')])
  const plan = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as { readonly changes: readonly unknown[] }
  expect(plan.changes).toEqual([])
  expect(readAll(folder).filter(({ text }) => text.includes(SECRET))).toEqual([])
  expect(readdirSync(folder).filter((name) => !['data', 'definitions', 'key.key', 'plan.json'].includes(name))).toEqual(
    [],
  )
  expect(existsSync(join(folder, '..', 'outside'))).toBe(false)
  // It says as much of each as there is: nothing was lost on the way into the files.
  const people = parse(readFileSync(join(folder, 'definitions', 'people.yaml'), 'utf8')) as Sections
  const policies = parse(readFileSync(join(folder, 'definitions', 'policies.yaml'), 'utf8')) as Sections
  const written = NAMES.filter((name) => !name.includes('${')).sort()
  expect(Object.keys(people['tags']!).sort()).toEqual(written.filter((name) => NAMES.slice(0, 5).includes(name)))
  expect(Object.keys(people['users']!).sort()).toEqual([...written, 'root'].sort())
  expect(Object.keys(policies['policies']!).sort()).toEqual(written)
  const notes = Object.values(policies['policies']!).map((policy: { readonly notes: string }) => policy.notes)
  expect(notes).toContain('$${env.SECRET_OF_CI}')
  // What cannot be written is said to be left out, by its name.
  for (const name of NAMES.filter((one) => one.includes('${')))
    expect(imported.stderr).toContain(`policy[${JSON.stringify(name)}]`)
})
