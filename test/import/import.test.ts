/** Import into a folder in memory: of organizations as the API would answer, and of some that live in a service. */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FolderReader, loadDefinitions } from '../../src/definitions/index.ts'
import { type Imported, importDefinitions } from '../../src/import/index.ts'
import { type Lock, makePlan } from '../../src/plan/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { startTestService } from '../service/harness.ts'
import { inhabit } from './inhabit.ts'
import { arbitraryOrganization, liveOrganization, type Shape } from './organization.ts'

const FOLDER = 'definitions'
/** How many organizations are generated, and how many of them are made in a service and read over its socket. */
const GENERATED = 500
const LIVING = 100
const now = '2026-01-01T00:00:00.000Z'
const baseUrl = 'http://127.0.0.1:1'

function inMemory(files: Readonly<Record<string, string>>): FolderReader {
  return {
    list: async () => Object.keys(files).map((name) => ({ name, kind: 'file' })),
    read: async (path) => {
      const text = files[path.slice(FOLDER.length + 1)]
      if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
      return new TextEncoder().encode(text)
    },
  }
}

/** Imports over what is there, and gives the folder as it is afterwards. */
async function run(
  actual: Actual,
  files: Readonly<Record<string, string>> = {},
  lock: Lock = {},
): Promise<{ files: Readonly<Record<string, string>>; imported: Imported }> {
  const reader = inMemory(files)
  const outside = { env: {}, vars: {} }
  const loaded =
    Object.keys(files).length > 0 ? await loadDefinitions(FOLDER, { ...outside, readFolder: reader }) : undefined
  if (loaded) expect(loaded.diagnostics).toEqual([])
  const imported = await importDefinitions({
    folder: FOLDER,
    reader,
    ...outside,
    ...(loaded?.desired ? { loaded: { ...loaded, desired: loaded.desired } } : {}),
    actual,
    lock,
    baseUrl,
    now,
  })
  const written = [...imported.files].map(([path, text]): [string, string] => [
    path.slice(join(FOLDER, '/').length),
    text,
  ])
  return { files: { ...files, ...Object.fromEntries(written) }, imported }
}

/** What a plan would change, after the folder and the lock were read again. */
async function changesOf(actual: Actual, files: Readonly<Record<string, string>>, lock: Lock) {
  const { desired, diagnostics } = await loadDefinitions(FOLDER, { env: {}, vars: {}, readFolder: inMemory(files) })
  expect(diagnostics).toEqual([])
  const { plan } = makePlan({ desired: desired!, actual, lock, creators: {}, baseUrl, allow: [], now })
  return plan.changes.map(({ address, action }) => `${action} ${address}`)
}

const acme: Shape = {
  tags: ['treasury', 'a tag: with # signs'],
  users: [
    { name: 'alice', email: 'alice@acme.test', tags: [0], keys: ['laptop', 'laptop'], passkeys: ['phone'] },
    { name: 'null', tags: [0, 1], keys: ['k'], passkeys: [] },
  ],
  policies: [
    {
      name: 'signs',
      effect: 'allow',
      consensus: "approvers.any(user, user.tags.contains('TAG0'))",
      condition: "wallet.id == 'WALLET0'",
    },
  ],
  wallets: [{ name: 'main', accounts: 2 }],
  threshold: 1,
}

const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
/** A reference begins in it. */
const isNoKey = (name: string) => name.includes('${')

describe('import', () => {
  test('an organization becomes tidy files, with names for ids', async () => {
    const { files, imported } = await run(liveOrganization(acme))
    expect(imported.diagnostics).toEqual([])
    expect(imported.leftOut).toEqual([])
    expect(files).toMatchSnapshot()
  })

  const expectEmptyPlan = async (actual: Actual) => {
    const { files, imported } = await run(actual)
    expect(imported.diagnostics).toEqual([])
    expect(imported.leftOut.map(({ address }) => address).filter((address) => !isNoKey(address))).toEqual([])
    expect(await changesOf(actual, files, imported.lock)).toEqual([])
  }

  test('the plan after it is empty, for generated organizations', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryOrganization, (shape) => expectEmptyPlan(liveOrganization(shape))),
      { numRuns: GENERATED - LIVING, endOnFailure: true },
    )
  })

  test('the plan after it is empty, for generated organizations that live in a service', async () => {
    const service = await startTestService()
    try {
      await fc.assert(
        fc.asyncProperty(arbitraryOrganization, async (shape) => expectEmptyPlan(await inhabit(service, shape))),
        { numRuns: LIVING, endOnFailure: true },
      )
    } finally {
      await service.close()
    }
  })

  test('definitions follow from one organization to any other, the plan is empty each time, and importing again writes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryOrganization, arbitraryOrganization, async (before, after) => {
        // What has a name already and gets one that no definition can have stops an import.
        fc.pre(![after.tags, ...[after.users, after.policies, after.wallets].map(namesOf)].flat().some(isNoKey))
        const first = await run(liveOrganization(before))
        const actual = liveOrganization(after)
        const { files, imported } = await run(actual, first.files, first.imported.lock)
        expect(imported.diagnostics).toEqual([])
        expect(await changesOf(actual, files, imported.lock)).toEqual([])
        const again = await run(actual, files, imported.lock)
        expect([...again.imported.files]).toEqual([])
      }),
      { numRuns: 50, endOnFailure: true },
    )
  })

  test('two live things of one name are told with both ids, and nothing is written', async () => {
    const { imported } = await run(liveOrganization({ ...acme, tags: ['twin', 'twin'] }))
    expect(imported.files.size).toBe(0)
    const [fault] = imported.diagnostics
    expect(fault!.code).toBe('import/shared-name')
    expect(fault!.message).toMatch(/^two live things are the tag `twin`: `[0-9a-f-]{36}` and `[0-9a-f-]{36}`$/)
  })

  test('what no definition can say is left out, listed, and its id stays in texts', async () => {
    const policies = [
      ...acme.policies,
      { name: 'broken', effect: 'allow' as const, condition: 'this is (no expression' },
    ]
    const actual = liveOrganization({ ...acme, policies, tags: ['treasury', 'bad\u0007name'] })
    const { files, imported } = await run(actual)
    // A user with a tag whose name cannot be written cannot be written either.
    expect(imported.leftOut.map(({ address }) => address).sort()).toEqual([
      'apiKey.null.k',
      'policy.broken',
      'tag["bad\\u0007name"]',
      'user.null',
    ])
    expect(await changesOf(actual, files, imported.lock)).toEqual([])
  })

  test('comments and formatting by hand stay, and only what differs is written', async () => {
    const first = await run(liveOrganization(acme))
    const byHand = {
      ...first.files,
      'people.yaml': first.files['people.yaml']!.replace('users:', '# Everybody.\nusers:   # in order of age').replace(
        '    email: alice@acme.test',
        '    # her own\n    email:   "alice@acme.test"   # checked',
      ),
    }
    const quiet = await run(liveOrganization(acme), byHand, first.imported.lock)
    expect([...quiet.imported.files]).toEqual([])

    const moved = liveOrganization({
      ...acme,
      users: [
        { ...acme.users[0]!, email: 'alice@example.test' },
        acme.users[1]!,
        { name: 'carol', tags: [], keys: ['k'], passkeys: [] },
      ],
    })
    const { files, imported } = await run(moved, byHand, first.imported.lock)
    expect([...imported.files.keys()]).toEqual([join(FOLDER, 'people.yaml')])
    const old = byHand['people.yaml'].split('\n')
    const gone = old.filter((line) => !files['people.yaml']!.split('\n').includes(line))
    expect(gone).toEqual(['    email:   "alice@acme.test"   # checked'])
    expect(files['people.yaml']).toContain('    # her own\n    email: alice@example.test   # checked\n')
    expect(files['people.yaml']).toContain('  carol:\n')
  })

  test('the comments of what is gone go with it; those of its neighbours and of the file stay', async () => {
    const gone = { name: 'gone', effect: 'allow' as const, condition: "activity.kind == 'CREATE_WALLET'" }
    const first = await run(liveOrganization({ ...acme, policies: [...acme.policies, gone] }))
    const text = first.files['policies.yaml']!
    const byHand = {
      ...first.files,
      'policies.yaml': text
        .replace(/^policies:/m, '# All of them.\npolicies:')
        .replace(/^ {2}(?=\S)/gm, '  # about the next\n  ')
        .replace(
          /^ {2}# about the next\n(?= {2}gone:)/m,
          '  # quorate-lint-disable broad-allow: until May\n  # of gone\n',
        )
        .replace(/^ {2}gone:\n(?: {4}.*\n)+/m, '$&    # within gone\n'),
    }
    expect(byHand['policies.yaml']).toContain('# within gone')
    const { files } = await run(liveOrganization(acme), byHand, first.imported.lock)
    const left = files['policies.yaml']!
    expect(left).not.toMatch(/gone|until May/)
    expect(left).toContain('# All of them.\npolicies:')
    expect(left.match(/# about the next/g)).toHaveLength(acme.policies.length)
  })

  test('a rename in the organization renames the key and every use of it', async () => {
    const first = await run(liveOrganization(acme))
    const renamed = liveOrganization({ ...acme, tags: ['reserves', acme.tags[1]!] })
    const { files, imported } = await run(renamed, first.files, first.imported.lock)
    expect(Object.values(files).join('')).not.toContain('treasury')
    expect(files['policies.yaml']).toContain('${tag.reserves}')
    expect(await changesOf(renamed, files, imported.lock)).toEqual([])
  })

  test.each<{ name: string; given: Shape; expected: string; why: string; at: string }>([
    {
      name: 'a name in which a reference begins',
      given: { ...acme, tags: ['of ${them}', acme.tags[1]!] },
      expected: '`tag["of ${them}"]`',
      why: 'expected a name of 1 to 255 printable characters, got a `${`',
      at: 'treasury: {}',
    },
    {
      name: 'an expression that is none',
      given: { ...acme, policies: [{ ...acme.policies[0]!, condition: 'this is (no expression' }] },
      expected: '`policy.signs`',
      why: 'expected an operator or the end of the expression, got `is`',
      at: 'signs:',
    },
  ])('$name, of what definitions know, stops it at the definition, and nothing is written', async (row) => {
    const first = await run(liveOrganization(acme))
    const actual = liveOrganization(row.given)
    const { imported } = await run(actual, first.files, first.imported.lock)
    expect(imported.files.size).toBe(0)
    expect(imported.diagnostics).toHaveLength(1)
    const [{ code, message, help, span }] = imported.diagnostics as readonly [(typeof imported.diagnostics)[number]]
    expect(code).toBe('import/unwritable')
    const [before, after] = message.split(/ \(`[0-9a-f-]{36}`\), which this defines, cannot be written as it lives: /)
    expect([before, after]).toEqual([row.expected, row.why])
    expect(span.source.text.slice(span.start)).toMatch(new RegExp(`^${row.at}`))
    expect(span.source.text).toBe(first.files[span.source.path.slice(join(FOLDER, '/').length)])
    expect(help).toContain('nothing was written')
  })
})
