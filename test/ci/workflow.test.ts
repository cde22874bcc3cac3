/**
 * The reusable workflow, its own steps in a shell: a pull request is planned, merged, applied and approved, with the real
 * service, the real CLI and real git. GitHub alone is a stand-in.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { writeLock } from '../../src/definitions/index.ts'
import { findTemporal } from '../../src/worker/index.ts'
import { builtMain } from '../built.ts'
import { testFolder, writeFiles } from '../cli/harness.ts'
import { type GitHub, startGitHub } from './github.ts'
import { type Contexts, type RanJob, runJob, workflow, workflowText } from './job.ts'
import { definitionsFolder, type Pipeline, startPipeline } from './pipeline.ts'

// Each job runs the CLI several times and brings up Temporal of its own.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 900_000 })

let pipeline: Pipeline
let github: GitHub
beforeAll(async () => {
  // What a runner downloads in seconds may have to be built here: not within a step.
  await findTemporal({ announce: (text) => process.stderr.write(`${text}\n`), environment: process.env })
  pipeline = await startPipeline()
  github = await startGitHub()
})
afterAll(async () => {
  await github.close()
  await pipeline.service.close()
})

const identity = {
  GIT_AUTHOR_NAME: 'dev',
  GIT_AUTHOR_EMAIL: 'dev@acme.test',
  GIT_COMMITTER_NAME: 'dev',
  GIT_COMMITTER_EMAIL: 'dev@acme.test',
}

/** A repository of definitions with a remote, and the machine that its jobs run on. */
async function createRepository() {
  const folder = testFolder()
  const [origin, clone] = [join(folder, 'origin.git'), join(folder, 'clone')]
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, {
      cwd: existsSync(clone) ? clone : folder,
      encoding: 'utf8',
      env: { ...process.env, ...identity },
    }).trim()
  git('init', '--quiet', '--bare', '--initial-branch=main', origin)
  git('clone', '--quiet', origin, clone)
  // The package as a repository of definitions has it: named in package.json, pinned by its lock.
  const stub = join(folder, 'quorate')
  const main = builtMain()
  writeFiles(stub, {
    'package.json': JSON.stringify({ name: 'quorate', version: '0.1.0', bin: { quorate: 'quorate.sh' } }),
    'quorate.sh': `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`,
  })
  chmodSync(join(stub, 'quorate.sh'), 0o755)
  const files = Object.fromEntries(
    ['organization.yaml', 'ci.yaml'].map((name) => [
      `defs/${name}`,
      readFileSync(join(definitionsFolder, name), 'utf8').replace(
        '${env.PIPELINE_ORGANIZATION_ID}',
        pipeline.service.organizationId,
      ),
    ]),
  )
  const dependency = { quorate: 'file:../quorate' }
  writeFiles(clone, {
    ...files,
    'package.json': JSON.stringify({ name: 'infra', private: true, dependencies: dependency }),
    'package-lock.json': JSON.stringify({
      name: 'infra',
      lockfileVersion: 3,
      packages: {
        '': { name: 'infra', dependencies: dependency },
        '../quorate': { version: '0.1.0', bin: { quorate: 'quorate.sh' } },
        'node_modules/quorate': { resolved: '../quorate', link: true },
      },
    }),
    '.gitignore': 'node_modules\n',
  })
  await writeLock(join(clone, 'defs'), pipeline.lock, { check: () => {}, signature: pipeline.lockSignature })
  const commit = (message: string) => {
    git('add', '.')
    git('commit', '--quiet', '--message', message)
  }
  commit('what lives')
  git('push', '--quiet', 'origin', 'main')

  const contexts = (
    more: Readonly<Record<string, unknown>>,
    inputs: Readonly<Record<string, string>> = {},
  ): Contexts => ({
    github: { repository: 'acme/infra', api_url: github.url, token: github.token, ref_name: 'main', ...more },
    inputs: {
      folder: 'defs',
      'base-url': pipeline.service.url,
      'organization-id': pipeline.service.organizationId,
      vars: Object.entries(pipeline.vars)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      ...inputs,
    },
    secrets: { QUORATE_PLAN_KEY: pipeline.ciPlan.privateKey, QUORATE_APPLY_KEY: pipeline.ciApply.privateKey },
  })
  const machine = {
    workspace: clone,
    folder,
    env: { PATH: process.env['PATH']!, HOME: process.env['HOME']! },
  }
  return {
    clone,
    git,
    commit,
    write: (name: string, text: string) => writeFileSync(join(clone, 'defs', name), text),
    planPullRequest: (number: number, more: Partial<Contexts> = {}) =>
      runJob(
        'plan',
        { ...contexts({ event_name: 'pull_request', event: { pull_request: { number } } }), ...more },
        machine,
      ),
    apply: (event: string, inputs: Readonly<Record<string, string>> = {}) =>
      runJob('apply', contexts({ event_name: event }, inputs), machine),
    /** Merges the branch as the pull request of this number. */
    merge(branch: string, number: number) {
      git('checkout', '--quiet', 'main')
      git('merge', '--quiet', '--no-ff', '--message', `Merge pull request #${number}`, branch)
      git('push', '--quiet', 'origin', 'main')
      github.merged.set(git('rev-parse', 'HEAD'), number)
    },
  }
}

const step = (job: RanJob, name: string) => job.steps.find((one) => one.name === name)!
const activitiesNow = async () =>
  (await pipeline.service.root.query('list_activities', { paginationOptions: { limit: '100' } })).activities

// A runner of GitHub has them all.
const missing = ['bash', 'git', 'jq', 'curl', 'sha256sum'].filter(
  (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0,
)

describe.skipIf(missing.length > 0)(
  `the workflow${missing.length > 0 ? `: ${missing.join(', ')} is missing here` : ''}`,
  () => {
    test('a pull request is planned, planned again, merged, waits for a reviewer, and is finished by a later run', async () => {
      const repository = await createRepository()
      const before = (await activitiesNow()).length

      // A first push: the plan as a comment, said for the user that will apply it.
      repository.git('checkout', '--quiet', '-b', 'treasury')
      repository.write('treasury.yaml', 'tags: { treasury: {} }\n')
      repository.commit('a treasury')
      const first = await repository.planPullRequest(7)
      expect(first.steps.map(({ name, outcome }) => `${name}: ${outcome}`)).toEqual([
        'Install: success',
        'Lint: success',
        'Plan: success',
        'Comment: success',
        'Verdict: skipped',
      ])
      const [comment, ...others] = github.comments.get(7)!
      expect(others).toEqual([])
      expect(comment!.body.split('\n')[0]).toMatch(
        /^<!-- quorate [0-9a-f]{16} plan=[0-9a-f]{64} changes=[0-9a-f]{32} -->$/,
      )
      expect(comment!.body).toContain('### pipeline: 1 change in 1 activity')
      expect(comment!.body).toContain('as ci-apply')
      expect(comment!.body).toMatch(/waits for any 1 of alice, bob/)
      expect(first.summary).toContain('### pipeline: 1 change in 1 activity')
      expect(JSON.parse(first.artifacts['plan.json']!)).toMatchObject({ format: 'quorate.plan/1' })

      // A second push: the same comment says what is now so.
      repository.write('treasury.yaml', 'tags: { treasury: {}, desk: {} }\n')
      repository.commit('a desk')
      expect((await repository.planPullRequest(7)).success).toBe(true)
      expect(github.comments.get(7)!.map(({ id }) => id)).toEqual([comment!.id])
      expect(github.comments.get(7)![0]!.body).toContain('### pipeline: 2 changes in 2 activities')
      expect((await activitiesNow()).length).toBe(before)

      // Merged: what was reviewed is proposed, and nothing more is done without a person.
      repository.merge('treasury', 7)
      const waiting = await repository.apply('push')
      expect(waiting.outputs).toEqual({ 'exit-code': '3' })
      expect(waiting.success).toBe(true)
      expect(step(waiting, 'Compare with what was reviewed').log).toContain(
        'Pull request #7 has shown every change of this plan.',
      )
      expect(step(waiting, 'Keep the lock file').outcome).toBe('skipped')
      expect(step(waiting, 'Apply').log).toContain('::notice title=quorate::waiting for approval')
      expect(waiting.summary).toContain('waiting  create tag treasury')
      expect(waiting.summary).toMatch(/[0-9a-f]{4}-[0-9a-f]{4} {2}create tag treasury, waits for any 1 of alice, bob/)
      const events = waiting.artifacts['events.ndjson']!.trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(events[0]).toMatchObject({ event: 'version', version: 'quorate.events/1' })
      expect(events.at(-1)).toMatchObject({ event: 'end', state: 'waiting', exit: 3 })
      expect(JSON.parse(waiting.artifacts['result.json']!)).toMatchObject({ state: 'waiting' })
      expect((await activitiesNow()).length).toBe(before + 2)

      // One of the two is approved; a run on the clock finds both, makes neither again, and waits for the other.
      const [one, two] = (await activitiesNow()).filter(({ status }) => status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
      await pipeline.bob.approve(one!.fingerprint)
      expect((await repository.apply('schedule')).outputs).toEqual({ 'exit-code': '3' })
      await pipeline.alice.approve(two!.fingerprint)
      const last = await repository.apply('schedule')
      expect(last.outputs).toEqual({ 'exit-code': '0' })
      expect((await activitiesNow()).filter(({ type }) => type.includes('USER_TAG')).length).toBe(3)

      // The lock stands in the branch, and the run after it has nothing to say.
      repository.git('fetch', '--quiet')
      expect(repository.git('show', 'origin/main:defs/quorate.lock.yaml')).toMatch(/tag\.treasury: /)
      expect(repository.git('log', '-1', '--format=%an: %s', 'origin/main')).toBe(
        'github-actions[bot]: quorate: lock file of defs',
      )
      const quiet = await repository.apply('schedule')
      expect(step(quiet, 'Compare with what was reviewed').log).toBe('Nothing to do.\n')
      expect(step(quiet, 'Keep the lock file').log).toBe('The lock file is as it was.\n')
      expect(quiet.success).toBe(true)

      // A pull request that changes nothing live makes no noise.
      repository.git('checkout', '--quiet', '-b', 'words')
      repository.write('treasury.yaml', '# The reserves.\ntags: { treasury: {}, desk: {} }\n')
      repository.commit('words')
      expect((await repository.planPullRequest(8)).success).toBe(true)
      expect(github.comments.get(8)).toBeUndefined()
      for (const secret of [pipeline.ciPlan.privateKey, pipeline.ciApply.privateKey, github.token]) {
        expect(JSON.stringify([first, waiting, last, quiet])).not.toContain(secret)
      }
    })

    test('what no pull request has shown is not applied, and says how it can be', async () => {
      const repository = await createRepository()
      const before = (await activitiesNow()).length
      repository.write('drift.yaml', 'tags: { unseen: {} }\n')
      repository.commit('pushed past everybody')
      repository.git('push', '--quiet', 'origin', 'main')
      const refused = await repository.apply('push')
      expect(refused.success).toBe(false)
      expect(refused.outputs).toEqual({ 'exit-code': '5' })
      const { log } = step(refused, 'Compare with what was reviewed')
      expect(log).toContain('  not reviewed: create tag.unseen\n')
      expect(log).toMatch(/::error title=quorate::1 changes of this plan were not in what any pull request showed/)
      expect(step(refused, 'Apply').outcome).toBe('skipped')
      expect((await activitiesNow()).length).toBe(before)

      // The plan's own comment, but written by somebody else; or not as the first line, as a text of the organization would.
      await repository.planPullRequest(9)
      const [shown] = github.comments.get(9)!
      github.merged.set(repository.git('rev-parse', 'HEAD'), 9)
      for (const forged of [
        { ...shown!, user: { login: 'mallory' } },
        { ...shown!, body: `<!-- quorate 0 -->\n${shown!.body}` },
      ]) {
        github.comments.set(9, [forged])
        expect((await repository.apply('push')).outputs).toEqual({ 'exit-code': '5' })
      }

      // By hand, for the very plan that was looked at.
      const [, digest] = /`reviewed: ([0-9a-f]{12})`/.exec(log)!
      const byHand = await repository.apply('workflow_dispatch', { reviewed: digest! })
      expect(byHand.outputs).toEqual({ 'exit-code': '3' })
      const [waiting] = (await activitiesNow()).filter(({ status }) => status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
      await pipeline.bob.reject(waiting!.fingerprint)
    })

    test('mistakes annotate their lines and nothing is said in the pull request; a guard is said there and fails it', async () => {
      const repository = await createRepository()
      repository.git('checkout', '--quiet', '-b', 'wrong')
      repository.write('wrong.yaml', 'policies:\n  p: { effect: allow, condition: activity.resorce == 1 }\n')
      repository.commit('wrong')
      const wrong = await repository.planPullRequest(20)
      expect(wrong.success).toBe(false)
      const { log } = wrong.steps.find(({ outcome }) => outcome === 'failure')!
      expect(log).toMatch(
        /^::error file=defs\/wrong\.yaml,line=2,endLine=2,col=\d+,endColumn=\d+,title=policy\/unknown-field::/m,
      )
      expect(github.comments.get(20)).toBeUndefined()

      repository.git('checkout', '--quiet', '-b', 'guarded', 'main')
      const organization = readFileSync(join(repository.clone, 'defs/organization.yaml'), 'utf8')
      repository.write('organization.yaml', organization.replace('threshold: 2', 'threshold: 1'))
      repository.commit('one of the root quorum is enough')
      const guarded = await repository.planPullRequest(21)
      expect(guarded.steps.map(({ name, outcome }) => `${name}: ${outcome}`).slice(2)).toEqual([
        'Plan: success',
        'Comment: success',
        'Verdict: failure',
      ])
      expect(github.comments.get(21)![0]!.body).toContain('**Refused**')
    })

    test('a change inside a sub-organization is a change that must have been shown, told from the same one elsewhere', () => {
      const change = {
        kind: 'tag',
        address: 'tag.ops',
        action: 'create',
        cause: 'definition',
        fields: [],
        at: 'a.yaml:1:1',
      }
      const inside = (name: string) => ({ organization: { name }, changes: [change] })
      const plan = { organization: { name: 'fleet' }, changes: [change], subOrganizations: [inside('a'), inside('b')] }
      const each = (value: object) =>
        execFileSync('jq', ['-cS', workflow.env['EACH_CHANGE']!], { input: JSON.stringify(value), encoding: 'utf8' })
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      const { kind, address, action, fields } = change
      const shown = { kind, address, action, fields, id: null }
      expect(each(plan)).toEqual([
        { ...shown, within: null },
        { ...shown, within: 'a' },
        { ...shown, within: 'b' },
      ])
      expect(each({ changes: [] })).toEqual([])
    })

    test('a pull request from a fork has no key: it is validated, and nothing is asked', async () => {
      const repository = await createRepository()
      const fork = await repository.planPullRequest(30, { secrets: {} })
      expect(fork.success).toBe(true)
      expect(step(fork, 'Plan').log).toMatch(/::notice title=quorate::this pull request has no access to the key/)
      expect(step(fork, 'Comment').outcome).toBe('skipped')
    })
  },
)

describe('the workflow as it is written', () => {
  test('its jobs may do the least, and the two never run for the same event', async () => {
    expect(workflow.permissions).toEqual({})
    expect(workflow.defaults).toEqual({ run: { shell: 'bash' } })
    const permissions = Object.entries(workflow.jobs).map(([name, job]) => [name, job.permissions])
    expect(Object.fromEntries(permissions)).toEqual({
      plan: { contents: 'read', 'pull-requests': 'write' },
      apply: { contents: 'write', 'pull-requests': 'read' },
    })
    const none = { github: { event_name: 'push' }, inputs: {}, secrets: {} }
    expect((await runJob('plan', none, { workspace: '/', folder: testFolder(), env: {} })).skipped).toBe(true)
  })

  test('the caller that the page shows gives what it asks for, and the rights that its jobs want', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/ci.md'), 'utf8')
    const caller = parse(/```yaml\n([\s\S]*?)```/.exec(page)![1]!)
    const { inputs, secrets } = workflow.on.workflow_call
    const { quorate } = caller.jobs
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(quorate.with)))
    const required = Object.entries(inputs).filter(([, row]) => row.required)
    expect(Object.keys(quorate.with)).toEqual(expect.arrayContaining(required.map(([name]) => name)))
    expect(Object.keys(quorate.secrets)).toEqual(Object.keys(secrets))
    // A called job may have no more than its caller.
    expect(quorate.permissions).toEqual({ contents: 'write', 'pull-requests': 'write' })
    expect(caller.permissions).toEqual({})
  })

  test('every action is pinned by the hash of a commit, and secrets reach no step but those that need them', () => {
    const uses = [...workflowText.matchAll(/uses: (\S+)/g)].map(([, action]) => action!)
    expect(uses.length).toBeGreaterThan(3)
    for (const action of uses) expect(action).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/)
    const holders = Object.values(workflow.jobs).flatMap(({ steps, env }) => [
      ...(JSON.stringify(env).includes('secrets.') ? ['a job'] : []),
      ...steps.filter((one) => JSON.stringify(one.env ?? {}).includes('secrets.')).map(({ name }) => name),
    ])
    expect(holders).toEqual(['Plan', 'Plan', 'Apply'])
  })
})
