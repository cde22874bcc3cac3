/** Sub-organizations as nested folders: what is loaded, that order means nothing, and whom a mistake in a template is about. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Desired } from '../../src/resources/index.ts'
import { KEYS, loadFiles, ORGANIZATION_ID } from './harness.ts'

const OUTER = `organization: acme\nid: ${ORGANIZATION_ID}\nvars: { word: outer }\n`
const TEMPLATE = `rootQuorum: { threshold: 1, users: [ann] }
users: { ann: { apiKeys: { k: { curve: P256, publicKey: "\${var.key}" } } } }
policies: { p: { effect: allow, condition: "wallet.id == '\${var.word} of \${var.organization}'" } }
`

async function load(
  files: Readonly<Record<string, string>>,
  vars: Readonly<Record<string, string>> = {},
): Promise<Desired> {
  const { desired, diagnostics } = await loadFiles(files, { env: {}, vars })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  return desired!
}

const policyOf = ({ subOrganizations = [] }: Desired) =>
  subOrganizations.map(({ organization, resources }) => [
    organization,
    resources.find(({ address }) => address === 'policy.p')?.fields['condition'],
  ])

describe('nested folders', () => {
  test('nested: what is inside is its own, and its parent sees what it is made with', async () => {
    const { resources, subOrganizations } = await load({
      'a.yaml': `${OUTER}tags: { ops: {} }\n`,
      'one/a.yaml': `organization: customer-1\ntags: { ops: {} }\n${TEMPLATE}`.replace('${var.key}', KEYS.p256),
    })
    expect(resources.map(({ address }) => address)).toEqual(['tag.ops', 'subOrganization.customer-1'])
    expect(subOrganizations!.map(({ organization }) => organization)).toEqual(['customer-1'])
    expect(subOrganizations![0]!.resources.map(({ address, fields }) => [address, fields['name'] ?? null])).toEqual([
      ['organization', 'customer-1'],
      ['rootQuorum', null],
      ['tag.ops', 'ops'],
      ['user.ann', 'ann'],
      ['apiKey.ann.k', null],
      ['policy.p', 'p'],
    ])
  })

  test('nested: one that is to go asks for its own end and for nothing else', async () => {
    const { resources, subOrganizations } = await load({
      'a.yaml': OUTER,
      'one/a.yaml': `organization: customer-1\ndelete: true\n${TEMPLATE}`,
      'all/a.yaml': `each: { customer-2: { delete: true, withoutExport: true } }\n${TEMPLATE}`,
    })
    expect(resources).toEqual([])
    expect(subOrganizations!.flatMap((one) => one.resources.map(({ span, ...rest }) => rest))).toEqual([
      {
        address: 'subOrganization.customer-1',
        kind: 'subOrganization',
        name: 'customer-1',
        fields: { name: 'customer-1' },
        tombstone: true,
      },
      {
        address: 'subOrganization.customer-2',
        kind: 'subOrganization',
        name: 'customer-2',
        fields: { name: 'customer-2', withoutExport: true },
        tombstone: true,
      },
    ])
  })

  test('values: those of `each` come before what is given, that before the folder, and the outer folder last', async () => {
    const each = `each: { a: { key: ${KEYS.p256}, word: own }, b: { key: ${KEYS.p256Double} } }\n`
    const files = { 'a.yaml': OUTER, 'all/a.yaml': TEMPLATE, 'all/b.yaml': each }
    const word = (b: string) => [
      ['a', "wallet.id == 'own of a'"],
      ['b', `wallet.id == '${b} of b'`],
    ]
    expect(policyOf(await load(files))).toEqual(word('outer'))
    expect(policyOf(await load({ ...files, 'all/c.yaml': 'vars: { word: folder }\n' }))).toEqual(word('folder'))
    const all = { ...files, 'all/c.yaml': 'vars: { word: folder }\n' }
    expect(policyOf(await load(all, { word: 'given' }))).toEqual(word('given'))
  })

  test('mistakes: one that is the same for several is said once, at its place in the template, and of whom', async () => {
    const each = `each:\n${[1, 2, 3].map((n) => `  customer-${n}: { key: ${KEYS.p256} }\n`).join('')}`
    const { diagnostics } = await loadFiles(
      { 'a.yaml': OUTER, 'all/a.yaml': TEMPLATE.replace('[ann]', '[bob]'), 'all/b.yaml': each },
      { env: {}, vars: {} },
    )
    const [only, ...others] = diagnostics
    expect(others).toEqual([])
    expect(only).toMatchObject({ code: 'definitions/unknown-name', message: 'no user `bob` is defined' })
    expect(only!.related.map(({ message, span }) => [message, span.source.text.slice(span.start, span.end)])).toEqual([
      ['it is so for `customer-1` and 2 more', 'customer-1'],
    ])
  })

  test('policies: a template by itself is looked at as its first sub-organization', async () => {
    const each = `variables: [NOT_SET]\neach: { a: { key: "\${env.NOT_SET}", word: one } }\n`
    const loaded = await loadFiles({ 'a.yaml': TEMPLATE, 'b.yaml': each }, { env: {}, vars: {}, policiesOnly: true })
    expect(loaded.expressions.map(({ fill }) => fill(() => '').text)).toEqual(["wallet.id == 'one of a'"])
  })

  test('names: values that no name wants may be unset, and one that a name wants may not', async () => {
    const text = `organization: acme
id: \${env.NOT_SET}
users: { bob: { email: "\${var.mail}" } }
policies: { p: { effect: allow, condition: "wallet.id == '\${var.wallet}'" } }
addressBook: { hosting: "\${var.hosting}", crew: "0x8617E340B3D01FA5F11F306F4090FD50E238070D" }
`
    const load = (vars: Readonly<Record<string, string>>) =>
      loadFiles({ 'a.yaml': text }, { env: {}, vars, namesOnly: true })
    expect((await load({})).diagnostics.map(({ message }) => message)).toEqual(['variable `hosting` has no value'])
    const { diagnostics, addressBook } = await load({ hosting: '0x52908400098527886E0F7030069857D2E4169EE7' })
    expect([diagnostics, Object.keys(addressBook)]).toEqual([[], ['hosting', 'crew']])
  })

  test('names of a template are those of no organization: a payee is another one in each', async () => {
    const text = (name: string) => `addressBook: { treasury: "\${var.${name}}" }\n`
    const [one, other] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222']
    const files = { 'a.yaml': `each: { eu: { addr: "${one}" }, us: { addr: "${other}" } }\n${text('addr')}` }
    const loaded = await loadFiles(files, { env: {}, vars: {}, namesOnly: true })
    expect(loaded.diagnostics.map(({ code }) => code)).toEqual(['definitions/wrong-folder', 'definitions/missing-var'])
    expect(loaded.addressBook['treasury']).not.toBe(one)
  })

  test('constants: a clause of a template that is settled by what is filled in is no mistake, one that is settled by itself is', async () => {
    const condition = "'${var.word}' == 'pays' && wallet.id == 'w' || 1 == 2"
    const { diagnostics } = await loadFiles(
      { 'a.yaml': `${OUTER}policies: { p: { effect: allow, condition: "${condition}" } }\n` },
      { env: {}, vars: {}, policiesOnly: true },
    )
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['policy/constant', '`1 == 2` is always false'],
    ])
  })

  test('order: folders, their files and the names in `each` in any order give the same digest', async () => {
    const names = ['a', 'b', 'c', 'd']
    const build = (folders: readonly string[], inEach: readonly string[], first: string) => {
      const each = `each:\n${inEach.map((name) => `  ${name}: { key: ${KEYS.p256} }\n`).join('')}`
      const single = (name: string) => `organization: x-${name}\n${TEMPLATE}`.replace('${var.key}', KEYS.p256)
      const nested = folders.map((name): [string, string] => [`${name}/a.yaml`, single(name)])
      const all: [string, string][] = [
        ['a.yaml', OUTER],
        [`all/${first}1.yaml`, TEMPLATE],
        ['all/b.yaml', each],
      ]
      return load(Object.fromEntries([...nested, ...all].toReversed()))
    }
    const { digest } = await build(names, names, 'a')
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(names, { minLength: names.length }),
        fc.shuffledSubarray(names, { minLength: names.length }),
        fc.constantFrom('a', 'z'),
        async (folders, inEach, first) => {
          expect((await build(folders, inEach, first)).digest).toBe(digest)
        },
      ),
      { numRuns: 20 },
    )
    expect((await build(names.slice(1), names, 'a')).digest).not.toBe(digest)
    expect((await build(names, names.slice(1), 'a')).digest).not.toBe(digest)
  })
})
