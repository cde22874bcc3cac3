/** A worker without a working tree reconciles what a pipeline pushes, or people commit: CLI, Temporal, worker, service and Git are real. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { WatchState } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { startRepository } from '../operations/repository.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { keyFile, quorateShared as quorate, writeFiles } from './harness.ts'
import { type Scene, scene } from './scene.ts'

const definitions = (tags: string) => `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
watch: { kinds: { tags: repair } }
tags: { ${tags} }
`

interface Shown {
  readonly watch: { readonly source?: unknown }
  readonly state?: WatchState
}

async function shown({ env }: Pick<Scene, 'env'>): Promise<Shown | undefined> {
  return (JSON.parse((await quorate(['watch', 'list', '--json'], { env })).stdout).watches as Shown[])[0]
}

async function until(place: Scene, wanted: (state: WatchState) => boolean): Promise<WatchState> {
  for (let left = 60; ; left--) {
    const state = (await shown(place))?.state
    if (state && wanted(state)) return state
    if (left === 0) throw new Error(`never as wanted: ${JSON.stringify(state)}`)
    await quorate(['watch', 'run'], place)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

describe('watch: from Git', () => {
  test('signed commits are reconciled as they come; one that nobody who may has signed is held and told', async () => {
    const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
    const repository = await startRepository(place.folder)
    const signers = join(writeFiles(place.folder, { allowed: repository.signer('alice') }), 'allowed')
    repository.commit({ 'acme/acme.yaml': definitions('treasury: {}') })
    const add = ['watch', 'add', 'acme', '--git', repository.url, '--branch', 'main', '--allowed-signers', signers]
    expect((await quorate(add, place)).stderr).toContain('error apply/commit-refused')

    const first = repository.commit({ 'acme/acme.yaml': definitions('treasury: {}') }, { by: 'alice' })
    const added = await quorate(add, place)
    expect([added.exit, added.stderr]).toEqual([0, expect.not.stringContaining('error')])
    const good = await until(place, ({ goodAt, drift }) => goodAt !== undefined && drift.length === 0)
    expect(good.taken).toMatchObject({ commit: first, by: 'alice' })

    const unsigned = repository.commit({ 'acme/acme.yaml': definitions('evil: {}') })
    const { refused, drift } = await until(place, (state) => state.refused !== undefined)
    expect([refused!.code, refused!.why, drift]).toEqual([
      'apply/commit-refused',
      expect.stringContaining(unsigned),
      [],
    ])
    expect((await quorate(['watch', 'list'], place)).stdout).toMatch(/acme: held[\s\S]*new definitions are held since/)

    repository.commit({ 'acme/acme.yaml': definitions('treasury: {}, engineering: {}') }, { by: 'alice' })
    await until(
      place,
      (state) => state.refused === undefined && state.taken?.commit !== first && state.drift.length === 0,
    )
    const { userTags } = await place.service.root.query('list_user_tags')
    expect(userTags.map(({ tagName }) => tagName).sort()).toEqual(['engineering', 'treasury'])
  })
})

describe('push', () => {
  test('what a pipeline pushes with its own key is what the worker reconciles, and the folder may be gone', async () => {
    const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
    const ci = generateP256KeyPair()
    const pipeline = {
      env: {
        ...place.env,
        QUORATE_API_KEY_FILE: keyFile(place.folder, 'ci', ci.privateKey),
      },
    }
    const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': definitions('treasury: {}') })

    const none = await quorate(['watch', 'add', '--from', 'push', '--signer', ci.publicKey], place)
    expect(none.stderr).toContain('error apply/nothing-pushed')
    const pushed = await quorate(['push', defs, '--json'], pipeline)
    expect(pushed.exit).toBe(0)
    const { definitions: digest, pushedAt } = JSON.parse(pushed.stdout)
    expect(JSON.parse(pushed.stdout)).toMatchObject({
      organization: 'acme',
      signedBy: ci.publicKey,
      files: ['acme.yaml'],
    })
    rmSync(defs, { recursive: true })

    const wrong = await quorate(['watch', 'add', '--from', 'push', '--signer', generateP256KeyPair().publicKey], place)
    expect(wrong.stderr).toContain('error apply/nothing-pushed')
    const added = await quorate(['watch', 'add', '--from', 'push', '--signer', ci.publicKey], place)
    expect([added.exit, added.stderr]).toEqual([0, expect.not.stringContaining('error')])
    await until(place, ({ goodAt }) => goodAt !== undefined)
    const tagNames = async () =>
      (await place.service.root.query('list_user_tags')).userTags.map(({ tagName }) => tagName).sort()
    expect(await tagNames()).toEqual(['treasury'])
    const first = await until(place, ({ drift }) => drift.length === 0)
    expect(first).toMatchObject({ definitions: digest, taken: { at: pushedAt, by: ci.publicKey } })

    writeFiles(defs, { 'acme.yaml': definitions('treasury: {}, engineering: {}') })
    expect((await quorate(['push', defs], pipeline)).exit).toBe(0)
    rmSync(defs, { recursive: true })
    await until(place, (state) => state.definitions !== digest && state.drift.length === 0)
    expect(await tagNames()).toEqual(['engineering', 'treasury'])
    expect((await quorate(['watch', 'list'], place)).stdout).toContain(`with ${ci.publicKey}`)
  })

  test('a folder with errors, of another organization, or signed on another curve is not pushed', async () => {
    const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
    const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': definitions('treasury: []') })
    const faulty = await quorate(['push', defs], place)
    expect([faulty.exit, faulty.stderr]).toEqual([1, expect.stringContaining('acme.yaml:4:')])
    writeFiles(defs, { 'acme.yaml': 'organization: acme\nid: 10000000-0000-4000-8000-000000000001\ntags: {}\n' })
    expect((await quorate(['push', defs], place)).stderr).toContain('error cli/other-organization')
    writeFiles(defs, { 'acme.yaml': definitions('treasury: {}') })
    const env = { ...place.env, QUORATE_API_KEY_FILE: keyFile(place.folder, 'koblitz', `${'11'.repeat(32)}:secp256k1`) }
    expect((await quorate(['push', defs], { env })).stderr).toContain(
      'expected the key that signs a push to be on P-256',
    )
  })

  test.each([
    { args: ['--from', 'pull'], says: 'expected --from to be `push`' },
    { args: ['--from', 'push'], says: 'expected --signer' },
    { args: ['--from', 'push', '--signer', '02ab'], says: 'expected --signer to be a compressed P-256 public key' },
    {
      args: ['--git', 'git@host:x.git', '--branch', 'main', '--allowed-signers', 'package.json'],
      says: 'expected --git to be a URL',
    },
    {
      args: ['--git', 'file:///tmp/x', '--branch', 'main', '--allowed-signers', 'package.json'],
      says: 'expected --git to be a URL',
    },
    {
      args: ['--git', 'https://user:secret@host/x', '--branch', 'main', '--allowed-signers', 'package.json'],
      says: 'no user and no password',
    },
    {
      args: ['--git', 'https://host/x', '--branch', '--upload-pack=x', '--allowed-signers', 'package.json'],
      says: 'expected --branch',
    },
    {
      args: ['--git', 'https://host/x', '--branch', 'a..b', '--allowed-signers', 'package.json'],
      says: 'expected --branch',
    },
    {
      args: ['../x', '--git', 'https://host/x', '--branch', 'main', '--allowed-signers', 'package.json'],
      says: 'one in the repository',
    },
    { args: ['--git', 'https://host/x'], says: 'expected --branch and --allowed-signers' },
  ])('watch add $args is refused', async ({ args, says }) => {
    const { exit, stderr } = await quorate(['watch', 'add', ...args], {
      env: { QUORATE_BASE_URL: 'http://127.0.0.1:1', QUORATE_ORGANIZATION_ID: '10000000-0000-4000-8000-000000000001' },
    })
    expect([exit, stderr]).toEqual([1, expect.stringContaining(says)])
  })
})
