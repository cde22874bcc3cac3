/** Definitions from a Git repository: real commits, real SSH signatures, a real server; and one that offers what it should not. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { WatchSource } from '../../activities/index.ts'
import { createCommitReader } from '../../src/operations/commit-source.ts'
import { testFolder } from '../cli/harness.ts'
import { startRepository } from './repository.ts'
import { hasSshServer, startSshServer } from './ssh-server.ts'

const given = { env: { ACME_ORGANIZATION_ID: '10000000-0000-4000-8000-000000000001', OTHER: 'x' }, vars: {} }
const yaml = (tag: string) => `organization: acme\nid: \${env.ACME_ORGANIZATION_ID}\ntags: { ${tag}: {} }\n`

async function setUp(environment: Readonly<Record<string, string>> = {}) {
  const folder = testFolder()
  const repository = await startRepository(folder)
  const alice = repository.signer('alice')
  const source = (more: Partial<Extract<WatchSource, { kind: 'git' }>> = {}) =>
    ({ kind: 'git', url: repository.url, branch: 'main', path: 'acme', signers: alice, ...more }) as const
  const dataDir = join(folder, 'data')
  const readCommit = createCommitReader(dataDir, { PATH: process.env['PATH'], ...environment })
  const read = (after?: string, more = {}) => readCommit(source(more), { given, after })
  return { folder, dataDir, repository, alice, read }
}

const text = (files: Readonly<Record<string, string>>, name: string) => Buffer.from(files[name]!, 'base64').toString()

describe('a commit', () => {
  test('that an allowed signer has signed is read, whole, with its lock, and without what is beside its folder', async () => {
    const { repository, read } = await setUp()
    const commit = repository.commit(
      {
        'acme/acme.yaml': yaml('a'),
        'acme/inner/x.yaml': 'organization: x\n',
        'acme/quorate.lock.yaml': '{}\n',
        'other.yaml': '',
      },
      { by: 'alice' },
    )
    const read1 = (await read())!
    expect(read1).toMatchObject({
      commit,
      by: 'alice',
      given: { env: { ACME_ORGANIZATION_ID: given.env.ACME_ORGANIZATION_ID } },
    })
    expect(read1.given.env).not.toHaveProperty('OTHER')
    expect(Object.keys(read1.definitions.files).sort()).toEqual(['acme.yaml', 'inner/x.yaml', 'quorate.lock.yaml'])
    expect(text(read1.definitions.files, 'acme.yaml')).toBe(yaml('a'))
    expect(await read(commit)).toBeUndefined()
    const next = repository.commit({ 'acme/acme.yaml': yaml('b') }, { by: 'alice' })
    expect(await read(commit)).toMatchObject({ commit: next })
  })

  test('that is not signed, signed by nobody who may, or for another purpose is refused', async () => {
    const { repository, alice, read } = await setUp()
    const [mallory] = [repository.signer('mallory')]
    const unsigned = repository.commit({ 'acme/acme.yaml': yaml('a') })
    await expect(read()).rejects.toMatchObject({
      code: 'apply/commit-refused',
      message: `commit ${unsigned} is not signed`,
    })
    repository.commit({ 'acme/acme.yaml': yaml('b') }, { by: 'mallory' })
    const refusal = { code: 'apply/commit-refused', message: expect.stringContaining('not signed by one of') }
    await expect(read()).rejects.toMatchObject(refusal)
    expect(await read(undefined, { signers: alice + mallory })).toMatchObject({ by: 'mallory' })
    const files =
      alice.replace('namespaces="git"', 'namespaces="file"') + mallory.replace('namespaces="git"', 'namespaces="file"')
    await expect(read(undefined, { signers: files })).rejects.toMatchObject(refusal)
    const expired = mallory.replace('namespaces="git"', 'namespaces="git",valid-before="20200101"')
    await expect(read(undefined, { signers: expired })).rejects.toMatchObject(refusal)
    await expect(read(undefined, { signers: '' })).rejects.toMatchObject(refusal)
  })

  test('that carries the signature of another commit is refused', async () => {
    const { repository, read } = await setUp()
    const good = repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
    const signed = repository.git('cat-file', 'commit', good)
    writeFileSync(join(repository.tree, 'acme/acme.yaml'), yaml('evil'))
    repository.git('add', '--all')
    const tree = repository.git('write-tree')
    writeFileSync(join(repository.tree, '../forged'), `${signed.replace(/^tree .*/, `tree ${tree}`)}\n`)
    const forged = repository.git('hash-object', '-t', 'commit', '-w', '../forged')
    repository.git('push', '--quiet', '--force', repository.bare, `${forged}:refs/heads/main`)
    await expect(read()).rejects.toMatchObject({ code: 'apply/commit-refused' })
  })

  test('from before the one that was taken, or beside it, is refused', async () => {
    const { repository, read } = await setUp()
    const first = repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
    const second = repository.commit({ 'acme/acme.yaml': yaml('b') }, { by: 'alice' })
    await read()
    repository.git('reset', '--quiet', '--hard', first)
    repository.git('push', '--quiet', '--force', repository.bare, 'HEAD:refs/heads/main')
    const refusal = { code: 'apply/commit-refused', message: expect.stringContaining(`does not follow ${second}`) }
    await expect(read(second)).rejects.toMatchObject(refusal)
    repository.commit({ 'acme/acme.yaml': yaml('c') }, { by: 'alice', force: true })
    await expect(read(second)).rejects.toMatchObject(refusal)
  })
})

describe('a repository', () => {
  test('that is not there, has no such branch or no such folder is away or says what is missing', async () => {
    const { repository, read } = await setUp()
    await expect(read()).rejects.toMatchObject({ code: 'apply/source-away' })
    repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
    await expect(read(undefined, { branch: 'other' })).rejects.toMatchObject({ code: 'apply/source-away' })
    await expect(read(undefined, { url: 'http://127.0.0.1:1/x.git' })).rejects.toMatchObject({
      code: 'apply/source-away',
    })
    await expect(read(undefined, { path: 'nowhere' })).rejects.toThrow()
  })

  test('gets the token of the worker, and a server that it leads to does not', async () => {
    const { repository, read } = await setUp({ QUORATE_GIT_TOKEN: 'secret-token' })
    repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
    await read()
    const basic = `Basic ${Buffer.from('x-access-token:secret-token').toString('base64')}`
    expect(new Set(repository.requests.map(({ authorization }) => authorization))).toEqual(new Set([basic]))
    const other = await startRepository(testFolder())
    other.commit({ 'acme/acme.yaml': yaml('a') })
    repository.answer = (request, response) => {
      response.writeHead(302, { location: other.url.replace('/acme.git', request.url!) }).end()
      return true
    }
    await expect(read()).rejects.toMatchObject({ code: 'apply/source-away' })
    expect(other.requests).toEqual([])
  })

  test('can name no other protocol, and neither hooks nor the settings of a user are run', async () => {
    const { folder, dataDir, repository, read } = await setUp({ HOME: '/nowhere' })
    const commit = repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
    await expect(read(undefined, { url: `ext::sh -c touch% ${folder}/owned` })).rejects.toThrow()
    await expect(read(undefined, { url: `file://${repository.bare}` })).rejects.toThrow()
    await read()
    // Somebody has put a hook and a setting into the copy, as far as a template or an earlier version could have.
    const [copy] = readdirSync(join(dataDir, 'git')).filter((name) =>
      existsSync(join(dataDir, 'git', name, 'refs/quorate')),
    )
    const hooks = join(dataDir, 'git', copy!, 'hooks')
    mkdirSync(hooks, { recursive: true })
    for (const hook of ['reference-transaction', 'post-checkout', 'pre-auto-gc'])
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${folder}/owned\n`, { mode: 0o755 })
    repository.commit({ 'acme/acme.yaml': yaml('b') }, { by: 'alice' })
    expect(await read(commit)).toMatchObject({ by: 'alice' })
    expect(existsSync(join(folder, 'owned'))).toBe(false)
  })

  test('a link in it is not followed', async () => {
    const { repository, read } = await setUp()
    repository.commit({ 'acme/acme.yaml': yaml('a') })
    symlinkSync('/etc/passwd', join(repository.tree, 'acme/users.yaml'))
    repository.commit({}, { by: 'alice' })
    const { definitions } = (await read())!
    expect(Object.keys(definitions.files)).toEqual(['acme.yaml'])
  })

  test('over SSH the worker’s own key and known hosts count, and nothing of the user’s', async () => {
    const folder = testFolder()
    const log = join(folder, 'ssh.log')
    // Stands where `ssh` is looked for, writes down how it was called, and runs what it was to run.
    writeFileSync(
      join(folder, 'ssh'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${log}\nfor last; do :; done\nexec sh -c "$last"\n`,
      { mode: 0o755 },
    )
    const { repository, read } = await setUp({
      PATH: `${folder}:${process.env['PATH']}`,
      QUORATE_GIT_SSH_KEY_FILE: "/keys/it's one",
      QUORATE_GIT_KNOWN_HOSTS_FILE: '/keys/known',
      QUORATE_GIT_TOKEN: 'secret-token',
    })
    const commit = repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
    expect(await read(undefined, { url: `ssh://git@git.acme.test${repository.bare}` })).toMatchObject({ commit })
    const said = readFileSync(log, 'utf8').split('\n')
    expect(said).toEqual(
      expect.arrayContaining([
        ...['-F', '/dev/null', 'BatchMode=yes', 'StrictHostKeyChecking=yes', 'IdentityAgent=none'],
        ...["IdentityFile=/keys/it's one", 'UserKnownHostsFile=/keys/known', 'git@git.acme.test'],
      ]),
    )
  })

  test.skipIf(!hasSshServer)(
    'from an SSH server it is read with a key that is let in, and from no server but the known one',
    async () => {
      const server = await startSshServer(testFolder())
      const keys = (key: string, hosts: string) => ({
        QUORATE_GIT_SSH_KEY_FILE: key,
        QUORATE_GIT_KNOWN_HOSTS_FILE: hosts,
      })
      const { repository, read } = await setUp(keys(server.key, server.knownHosts))
      const commit = repository.commit({ 'acme/acme.yaml': yaml('a') }, { by: 'alice' })
      const url = `${server.url}${repository.bare}`
      expect(await read(undefined, { url })).toMatchObject({ commit, by: 'alice' })

      const away = (why: string) => ({ code: 'apply/source-away', message: expect.stringContaining(why) })
      const stranger = await setUp(keys(server.otherKey, server.knownHosts))
      await expect(stranger.read(undefined, { url })).rejects.toMatchObject(away('Permission denied'))
      const misled = await setUp(keys(server.key, server.otherHosts))
      await expect(misled.read(undefined, { url })).rejects.toMatchObject(away('Host key verification failed'))
      const unknown = await setUp({ QUORATE_GIT_SSH_KEY_FILE: server.key })
      await expect(unknown.read(undefined, { url })).rejects.toMatchObject(away('Host key verification failed'))
    },
  )
})
