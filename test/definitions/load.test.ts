import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { LOCK_FILE, loadDefinitions, makeSchema, renderSchema } from '../../src/definitions/index.ts'
import { hasErrors, renderDiagnostics } from '../../src/diagnostics/index.ts'
import { canonicalJson } from '../../src/encoding/index.ts'
import { KINDS, kinds } from '../../src/resources/index.ts'
import { KEYS, loadFiles, ORGANIZATION_ID, OUTSIDE, toFault } from './harness.ts'

const HEAD = 'organization: acme\nid: ${env.ORG}\n'
const acme = join(import.meta.dirname, '../../definitions/acme')
const acmeOutside = { env: { ACME_ORGANIZATION_ID: ORGANIZATION_ID }, vars: OUTSIDE.vars }

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})
function newFolder(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-definitions-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

describe('the folder', () => {
  test('limits of deletions are read per kind, from any file, and are part of what is desired', async () => {
    const head = `organization: acme\nid: ${ORGANIZATION_ID}\n`
    const limits = 'limits: { policies: { deletes: 10% }, accounts: { deletes: 0% } }\n'
    const { desired, diagnostics } = await loadFiles({ 'a.yaml': head, 'b.yaml': limits })
    expect(diagnostics).toEqual([])
    expect(desired!.deleteLimits).toEqual({ policy: 10, walletAccount: 0 })
    const without = await loadFiles({ 'a.yaml': head })
    expect(without.desired!.digest).not.toBe(desired!.digest)
  })

  test('folder: the example organization loads without a word', async () => {
    const { desired, diagnostics } = await loadDefinitions(acme, acmeOutside)
    expect(renderDiagnostics(diagnostics)).toBe('')
    const count = (kind: string) => desired!.resources.filter((one) => one.kind === kind).length
    expect(KINDS.map((kind) => [kind, count(kind)]).filter(([, found]) => found !== 0)).toEqual([
      ['rootQuorum', 1],
      ['feature', 1],
      ['tag', 3],
      ['user', 3],
      ['apiKey', 3],
      ['policy', 6],
      ['wallet', 2],
      ['walletAccount', 4],
    ])
  })

  test('folder: every file of the example names the schema that is beside the code', async () => {
    const { sources } = await loadDefinitions(acme, acmeOutside)
    expect(sources.length).toBe(4)
    for (const { path, text } of sources) {
      const schema = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)![1]!
      expect(JSON.parse(readFileSync(join(path, '..', schema), 'utf8'))).toEqual(makeSchema())
    }
  })

  test('schema: the published schema is what its script makes', () => {
    const published = readFileSync(join(import.meta.dirname, '../../src/definitions/quorate.schema.json'), 'utf8')
    expect(published).toBe(renderSchema())
  })

  test('schema: the published schema is one', () => {
    expect(new Ajv2020({ allowUnionTypes: true, strictRequired: false }).validateSchema(makeSchema())).toBe(true)
  })

  test('folder: the lock, hidden files, other files and folders without definitions are passed over', async () => {
    const { diagnostics, sources } = await loadFiles({
      'a.yaml': HEAD,
      [LOCK_FILE]: 'not: [a definition',
      '.hidden.yaml': 'neither: [is this',
      'README.md': '# nor this',
      'docs/page.md': 'nor this',
    })
    expect(diagnostics).toEqual([])
    expect(sources.map(({ path }) => path)).toEqual(['acme/a.yaml'])
  })

  const unreadable: { name: string; files: Parameters<typeof loadFiles>[0]; expected: unknown }[] = [
    {
      name: 'a file that may not be read',
      files: { 'a.yaml': HEAD, 'b.yaml': Object.assign(new Error('no'), { code: 'EACCES' }) },
      expected: {
        at: 'b.yaml:1:1',
        code: 'definitions/unreadable',
        message: '`acme/b.yaml` cannot be read: permission denied',
      },
    },
    {
      name: 'a file on a broken disk',
      files: { 'a.yaml': HEAD, 'b.yaml': Object.assign(new Error('no'), { code: 'EIO' }) },
      expected: {
        at: 'b.yaml:1:1',
        code: 'definitions/unreadable',
        message: '`acme/b.yaml` cannot be read: the disk reports an error',
      },
    },
    {
      name: 'a file that is not UTF-8',
      files: { 'a.yaml': HEAD, 'b.yaml': Uint8Array.of(0x74, 0xff, 0xfe) },
      expected: { at: 'b.yaml:1:1', code: 'definitions/not-text', message: '`acme/b.yaml` is not UTF-8 text' },
    },
    {
      name: 'a folder without definitions',
      files: { 'README.md': 'hello', 'docker/compose.yaml': 'services: {}' },
      expected: {
        at: 'acme:1:1',
        code: 'definitions/empty-folder',
        message: '`acme` holds no .yaml file',
        help: 'name the folder that holds `organization:`, or make a first file with `quorate init`',
      },
    },
  ]
  for (const { name, files, expected } of unreadable) {
    test(`folder: ${name} makes no smaller organization`, async () => {
      const { desired, diagnostics } = await loadFiles(files)
      expect(desired).toBeUndefined()
      expect(diagnostics.map(toFault)).toEqual([{ ...(expected as object), marked: '' }])
    })
  }

  test('folder: one that does not exist, and a link that leads nowhere, are said to be so', async () => {
    const { diagnostics } = await loadDefinitions('/nowhere/at/all', OUTSIDE)
    expect(diagnostics.map(({ message }) => message)).toEqual(['`/nowhere/at/all` cannot be read: it does not exist'])
    const folder = newFolder({ 'a.yaml': HEAD })
    symlinkSync(join(folder, 'gone'), join(folder, 'b.yaml'))
    const linked = await loadDefinitions(folder, OUTSIDE)
    expect(linked.desired).toBeUndefined()
    expect(linked.diagnostics.map(({ message }) => message)).toEqual([
      `\`${folder}/b.yaml\` cannot be read: it does not exist`,
    ])
  })
})

describe('what is shown', () => {
  test('secrets: a pasted private key appears in no rendering and in no source', async () => {
    const secret = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
    for (const key of ['privateKey', 'private_key', 'apiPrivateKey', 'mnemonic', 'secret']) {
      const { desired, diagnostics, sources } = await loadFiles({
        'a.yaml': `${HEAD}users:\n  alice: { ${key}: ${secret}, emial: x }\n`,
      })
      expect(desired).toBeUndefined()
      expect(diagnostics.map(({ code }) => code)).toEqual(['definitions/secret', 'definitions/unknown-key'])
      expect(renderDiagnostics(diagnostics) + JSON.stringify(sources)).not.toContain(secret)
    }
  })

  test('secrets: the value of an environment variable is in no diagnostic', async () => {
    const { diagnostics } = await loadFiles(
      {
        'a.yaml': `${HEAD}variables: [KEY]\nusers: { alice: { apiKeys: { k: { curve: P256, publicKey: "\${env.KEY}" } } } }\n`,
      },
      { env: { ORG: ORGANIZATION_ID, KEY: 'hush-hush' }, vars: {} },
    )
    expect(diagnostics.map(({ code }) => code)).toEqual(['resources/bad-public-key'])
    expect(renderDiagnostics(diagnostics)).not.toContain('hush')
  })

  test('aliases: one that multiplies itself is stopped', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `  l${i}: &l${i} [${Array(10)
          .fill(i === 0 ? 'x' : `*l${i - 1}`)
          .join(', ')}]`,
    )
    const { desired, diagnostics } = await loadFiles({ 'a.yaml': `${HEAD}manage:\n${levels.join('\n')}\n` })
    expect(desired).toBeUndefined()
    expect(diagnostics.map(({ code }) => code)).toContain('definitions/too-many-aliases')
  })
})

/** Pieces of an organization, each a section of its own, that may stand in any file and in any order. */
const PIECES: readonly (readonly [string, string])[] = [
  ['tags', 'treasury: {}'],
  ['tags', 'ops: {}'],
  ['tags', '"Ops team": { renamedFrom: old }'],
  [
    'users',
    `alice: { tags: [ops, treasury], apiKeys: { a: { curve: P256, publicKey: ${KEYS.p256} }, b: { curve: ED25519, publicKey: ${KEYS.ed25519} } } }`,
  ],
  ['users', 'bob: { email: bob@acme.test }'],
  ['users', 'gone: { delete: true }'],
  ['policies', 'p: { effect: allow, consensus: "approvers.any(u, u.tags.contains(\'${tag.ops}\'))" }'],
  ['policies', 'q: { effect: deny, condition: "wallet.id == \'${wallet.hot}\'" }'],
  ['wallets', "hot: { accounts: [{ path: \"m/44'/60'/0'/0/0\", curve: secp256k1, format: ethereum }] }"],
  ['features', 'AUTH_PROXY: true'],
  ['manage', 'tags: all'],
  ['manage', 'policies: all'],
]
const SINGLES = [
  'organization: acme',
  'id: ${env.ORG}',
  'rootQuorum: { users: [alice, bob], threshold: 2 }',
  'name: Acme',
]

/** Deals pieces out to files. */
function deal(
  pieces: readonly (readonly [string, string])[],
  singles: readonly string[],
  files: readonly number[],
): Record<string, string> {
  const texts = new Map<number, { singles: string[]; sections: Map<string, string[]> }>()
  const file = (n: number) => {
    if (!texts.has(n)) texts.set(n, { singles: [], sections: new Map() })
    return texts.get(n)!
  }
  singles.forEach((single, i) => {
    file(files[i % files.length]!).singles.push(single)
  })
  pieces.forEach(([section, text], i) => {
    const { sections } = file(files[(i * 7) % files.length]!)
    sections.set(section, [...(sections.get(section) ?? []), text])
  })
  return Object.fromEntries(
    [...texts].map(([n, { singles, sections }]) => {
      const blocks = [...sections].map(
        ([section, lines]) => `${section}:\n${lines.map((line) => `  ${line}\n`).join('')}`,
      )
      return [`${n}.yaml`, `${singles.map((line) => `${line}\n`).join('')}${blocks.join('')}`]
    }),
  )
}

describe('order', () => {
  test('order: files, sections and keys in any order give the same state and the same digest', async () => {
    const bare = async (files: Record<string, string>) => {
      const { desired, diagnostics } = await loadFiles(files)
      expect(hasErrors(diagnostics)).toBe(false)
      const resources = desired!.resources.map(({ span, fieldSpans, ...rest }) => rest)
      return canonicalJson({ ...desired!, resources, manageAll: [...desired!.manageAll] })
    }
    const reference = await bare(deal(PIECES, SINGLES, [0]))
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...PIECES], { minLength: PIECES.length }),
        fc.shuffledSubarray([...SINGLES], { minLength: SINGLES.length }),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 9 }),
        async (pieces, singles, files) => {
          expect(await bare(deal(pieces, singles, files))).toBe(reference)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('order: the digest changes with what is asked for and with nothing else', async () => {
    const digest = async (text: string) => (await loadFiles({ 'a.yaml': text })).desired!.digest
    const plain = await digest(`${HEAD}tags: { a: {}, b: {} }\n`)
    expect(await digest(`# a remark\n${HEAD}tags:\n  b:\n  a: {}\n`)).toBe(plain)
    expect(await digest(`${HEAD}tags: { a: {}, c: {} }\n`)).not.toBe(plain)
    expect(await digest(`${HEAD}tags: { a: {}, b: {} }\nmanage: { tags: all }\n`)).not.toBe(plain)
    expect(await digest(`organization: other\nid: \${env.ORG}\ntags: { a: {}, b: {} }\n`)).not.toBe(plain)
  })

  test('rows: every field that a definition may write has a schema and a meaning', () => {
    for (const kind of KINDS) {
      for (const [field, row] of Object.entries(kinds[kind].fields)) {
        expect(row.meaning, `${kind}.${field}`).toMatch(/\.$/)
        if (row.required) expect(row.schema, `${kind}.${field}`).toBeDefined()
      }
    }
  })
})
