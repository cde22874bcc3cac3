/** What is said of definitions that are not as the commit has them, and where Git does not tell whether they are. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createStyle } from '../../src/cli/io.ts'
import { renderActivity } from '../../src/cli/views/activity.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { editedText, renderPlanMarkdown } from '../../src/plan/index.ts'
import { environmentOf, quorateShared as quorate, testFolder, writeFiles } from '../cli/harness.ts'
import { declare } from '../plan/organization.ts'
import { planOf } from '../plan/planning.ts'

const commit = 'fedcba9876543210'.repeat(3).slice(0, 40)
const CASES = [
  { uncommitted: true, said: 'with uncommitted changes' },
  { uncommitted: 'not known', said: 'whether with uncommitted changes is not known' },
] as const

test.each(CASES)('$said: of a plan in a pull request, and of what an approver reviews', ({ uncommitted, said }) => {
  expect(editedText(uncommitted)).toContain(said)
  const plan = planOf({ desired: [declare('tag.one', {})] })
  expect(renderPlanMarkdown({ ...plan, commit, uncommitted })).toContain(`\`fedcba987654\`${editedText(uncommitted)}`)
  expect(renderPlanMarkdown({ ...plan, commit })).not.toContain('uncommitted')
  const planned = { digest: 'abcdef', createdAt: 'then', commit, uncommitted }
  const review = { isWhole: true, changes: [], explained: { kind: 'planned', plan: planned, batch: 0 } }
  const seen = { ...VIEW, review } as unknown as Parameters<typeof renderActivity>[0]
  expect(renderActivity(seen, createStyle(false), 0)).toContain(
    `commit fedcba987654${editedText(uncommitted)}, activity 1`,
  )
})

const VIEW = {
  id: 'idid',
  fingerprint: 'sha256:abcdef',
  code: 'abcd-ef01',
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  createdAt: '2026-11-01T00:00:00.000Z',
  approvedBy: [],
  rejectedBy: [],
  lapsedApprovals: [],
  parameters: {},
}

test('push says it as plan does: of a clean folder nothing, of an edited one that, and where Git is away that it is not known', async () => {
  const folder = testFolder()
  const organizationId = '7c244a54-083f-4745-98d0-7111fa0c8852'
  const text = `organization: acme\nid: ${organizationId}\ntags: { treasury: {} }\n`
  const defs = writeFiles(join(folder, 'defs'), { 'acme.yaml': text })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], { cwd: defs, encoding: 'utf8' })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  const service = { url: 'http://127.0.0.1:9', organizationId }
  const env = environmentOf(service, folder, generateP256KeyPair().privateKey)
  const push = async (more: Readonly<Record<string, string>> = {}, options: readonly string[] = []) => {
    const pushed = await quorate(['push', defs, ...options], { env: { ...env, ...more } })
    expect(pushed.exit, pushed.stderr).toBe(0)
    return pushed.stdout
  }
  const head = git('rev-parse', 'HEAD').trim()
  expect(await push()).toContain(`commit     ${head}\n`)
  writeFiles(defs, { 'acme.yaml': `${text}# edited\n` })
  expect(await push()).toContain(`commit     ${head} with uncommitted changes\n`)
  expect(JSON.parse(await push({}, ['--json']))).toMatchObject({ commit: head, uncommitted: true })
  const away = { PATH: folder }
  expect(await push(away)).toContain(`commit     ${head}; whether with uncommitted changes is not known\n`)
  expect(JSON.parse(await push(away, ['--json']))).toMatchObject({ uncommitted: 'not known' })
})
