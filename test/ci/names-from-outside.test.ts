/** Names and texts from outside in the steps of the reusable workflow that show them, as a runner reads their logs. */
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testFolder, writeFiles } from '../cli/harness.ts'
import { type GitHub, startGitHub } from './github.ts'
import { type RanJob, runJob } from './job.ts'

let github: GitHub
beforeAll(async () => {
  github = await startGitHub()
})
afterAll(() => github.close())

const identity = {
  GIT_AUTHOR_NAME: 'dev',
  GIT_AUTHOR_EMAIL: 'dev@acme.test',
  GIT_COMMITTER_NAME: 'dev',
  GIT_COMMITTER_EMAIL: 'dev@acme.test',
}
const step = (job: RanJob, name: string) => job.steps.find((one) => one.name === name)!

/** What a runner would carry out of a log: lines that begin with `::`, and `##[` anywhere, but where commands are stopped. */
function commandsIn(log: string): readonly string[] {
  const found: string[] = []
  let stopped: string | undefined
  for (const line of log.split(/\r\n|\n|\r/)) {
    if (stopped !== undefined) {
      if (line === `::${stopped}::`) stopped = undefined
      continue
    }
    stopped = /^::stop-commands::(.+)$/.exec(line)?.[1]
    if (stopped === undefined && (/^\s*::/.test(line) || line.includes('##['))) found.push(line)
  }
  return found
}

test('names from outside: a name is no command to the runner, and ends neither a line of the log nor the block of the summary', async () => {
  const folder = testFolder()
  const hostile = 'x\n::set-output name=exit-code::0\n##[add-mask]a\u2028\u202e~\n~~~~~~~~~~~~\n# Approve me'
  const change = { kind: 'user', address: `user.${hostile}`, action: 'create', id: null, fields: [] }
  const inside = { organization: { name: hostile }, changes: [change] }
  writeFiles(folder, {
    'plan.json': JSON.stringify({ digest: 'd'.repeat(64), changes: [change], subOrganizations: [inside] }),
    'result.json': JSON.stringify({ batches: [{ state: 'done', summary: hostile }] }),
    'bin/npm': '#!/bin/sh\n',
    'work/node_modules/.bin/quorate': [
      '#!/bin/sh',
      'command=$1',
      'while [ $# -gt 0 ]; do',
      '  case "$1" in --out) cp "$HOSTILE/plan.json" "$2" ;; --json-into) cp "$HOSTILE/result.json" "$2" ;; esac',
      '  shift',
      'done',
      '[ "$command" != plan ] || exit 2',
      '',
    ].join('\n'),
  })
  const workspace = join(folder, 'work')
  for (const file of ['bin/npm', 'work/node_modules/.bin/quorate']) chmodSync(join(folder, file), 0o755)
  writeFiles(workspace, { 'defs/a.yaml': 'organization: a\n' })
  for (const args of [
    ['init', '--quiet'],
    ['add', 'defs'],
    ['commit', '--quiet', '--message', 'a'],
  ])
    execFileSync('git', args, { cwd: workspace, env: { ...process.env, ...identity } })
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder, HOSTILE: folder }
  const run = (inputs: Readonly<Record<string, string>>) =>
    runJob(
      'apply',
      {
        github: { event_name: 'push', repository: 'acme/infra', api_url: github.url, token: github.token },
        inputs: { folder: 'defs', 'base-url': 'http://127.0.0.1:9', 'organization-id': 'o', ...inputs },
        secrets: { QUORATE_PLAN_KEY: '', QUORATE_APPLY_KEY: '' },
      },
      { workspace, folder, env },
    )
  const refused = await run({})
  const { log, exit } = step(refused, 'Compare with what was reviewed')
  expect(exit).toBe(5)
  expect(commandsIn(log)).toEqual([expect.stringMatching(/^::error title=quorate::2 changes of this plan were not in/)])
  expect(log.split('\n').filter((one) => one.includes('Approve me'))).toEqual([
    expect.stringMatching(/^ {2}not reviewed: create user\.x\?::set-output/),
    expect.stringMatching(/^ {2}not reviewed: create user\.x\?::set-output.* in x\?::set-output/),
  ])
  const applied = await run({ reviewed: 'd'.repeat(64) })
  expect(applied.success).toBe(true)
  const block = '~~~~~~~~~~~~'
  expect(applied.summary.trim().split('\n')).toEqual([
    block,
    `done  x?::set-output name=exit-code::0?##[add-mask]a??~?${block}?# Approve me`,
    block,
  ])
})
