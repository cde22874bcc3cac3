/**
 * Names that look like others. Who proposes `trеasury` with a Cyrillic letter means to be approved as `treasury`: the two stand
 * beside each other wherever somebody approves or pays by a name.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { lookAlikesOf, namesIn } from '../../src/cli/views/look-alikes.ts'
import { printable } from '../../src/diagnostics/index.ts'
import { renderConfusables } from '../../src/look-alikes/generate.ts'
import { CONFUSABLES } from '../../src/look-alikes/generated/confusables.gen.ts'
import { difference, findLookAlikes } from '../../src/look-alikes/index.ts'
import { KINDS, kinds } from '../../src/resources/index.ts'
import { createPartyCheck } from '../../src/sending/look-alikes.ts'
import { type Directory, makeOrder } from '../../src/sending/order.ts'
import { readPaid } from '../../src/sending/paid.ts'
import { environmentOf, quorateShared as quorate, testFolder, writeFiles } from '../cli/harness.ts'
import { declare } from '../plan/organization.ts'
import { createTestUser, startTestService } from '../service/harness.ts'

const alike = (...names: readonly string[]) =>
  findLookAlikes(names.map((name) => ({ scope: 's', name, of: name }))).map(({ one, like }) => [one.name, like.name])

/** Pairs of the table of UTS #39: what a character looks like. */
const PAIRS = CONFUSABLES.trim()
  .split('\n')
  .flatMap((line) => {
    const [prototype = '', sources = ''] = line.split(':')
    const text = (codes: string) => codes.split(' ').map((code) => String.fromCodePoint(Number.parseInt(code, 16)))
    return text(sources).map((source) => [source, text(prototype).join('')] as const)
  })

describe('look-alikes: which names are', () => {
  test.each([
    ['a Cyrillic letter', 'ops', 'оps', '`о` (U+043E) in place of `o` (U+006F)'],
    ['a digit', 'payroll', 'payro11', '`1` (U+0031) in place of `l` (U+006C)'],
    ['two letters that look like one', 'mom', 'rnom', '`r` (U+0072) in place of `m` (U+006D)'],
    ['case', 'Treasury', 'treasury', 'only the case of letters differs'],
    ['a capital that looks like a small letter', 'Ian', 'lan', '`l` (U+006C) in place of `I` (U+0049)'],
    ['a blank', 'ops team', 'opsteam', 'only blanks differ'],
    ['two blanks', 'ops team', 'ops  team', 'only blanks differ'],
    ['another blank', 'ops team', 'ops\u00a0team', 'only blanks differ'],
    ['nothing to be seen', 'ops', 'op\u200bs', 'U+200B in place of `s` (U+0073)'],
    ['a direction', 'ops', 'ops\u202e', 'with U+202E at its end'],
    ['another Unicode form', 'é', 'e\u0301', '`e` (U+0065) in place of `é` (U+00E9)'],
    ['a ligature', 'fin', 'ﬁn', '`ﬁ` (U+FB01) in place of `f` (U+0066)'],
    ['all at once', 'Ops Desk 1', '\u2066ОРЅdеsk\u2069l', 'U+2066 in place of `O` (U+004F)'],
  ])('%s', (_, like, name, differs) => {
    expect(alike(like, name)).toEqual([[name, like]])
    expect(alike(name, like)).toEqual([[like, name]])
    expect(difference(name, like)).toBe(differs)
    expect(printable(difference(name, like))).toBe(difference(name, like))
  })

  test('each character of the table of UTS #39 inside a name looks like what stands for it there', () => {
    expect(PAIRS.length).toBeGreaterThan(6_000)
    for (const [source, prototype] of PAIRS) {
      if (source.normalize('NFD') !== source) continue
      expect(alike(`a${prototype}b`, `a${source}b`)).toEqual([[`a${source}b`, `a${prototype}b`]])
    }
  })

  test('names of other scopes, equal names, and what counts or is otherwise ordinary are none', () => {
    const scopes = ['a', 'b'].map((scope, index) => ({ scope, name: ['ops', 'оps'][index]!, of: 0 }))
    expect(findLookAlikes(scopes)).toEqual([])
    expect(alike('ops', 'ops')).toEqual([])
    const many = Array.from({ length: 2_000 }, (_, index) => `desk ${index + 2}`)
    expect(alike(...many, 'alice', 'alicia', 'bob', 'ops', 'ops-2', 'café', 'cafe', 'treasury', 'treasuries')).toEqual(
      [],
    )
  })

  test('whatever the names, each pair is one of different names, and each name of its scope is told of at most once', () => {
    const name = fc.array(fc.constantFrom('o', 'о', '0', 'O', 'l', '1', 'I', ' ', '\u200b', 'rn', 'm'), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(
        fc.array(
          name.map((parts) => parts.join('')),
          { maxLength: 12 },
        ),
        (names) => {
          const found = alike(...names)
          for (const [one, like] of found) {
            expect(one).not.toBe(like)
            expect(alike(like!, one!)).toEqual([[one, like]])
          }
          expect(found.length).toBeLessThan(Math.max(1, names.length))
        },
      ),
    )
  })

  test('the committed table is what its generator makes of the same data', () => {
    const hex = (text: string) => [...text].map((c) => c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0'))
    const lines = PAIRS.map(([source, prototype]) => `${hex(source)} ;\t${hex(prototype).join(' ')} ;\tMA\t# x`)
    const file = new URL('../../src/look-alikes/generated/confusables.gen.ts', import.meta.url)
    expect(renderConfusables(['# Version: 18.0.0', ...lines].join('\n'))).toBe(readFileSync(file, 'utf8'))
  })
})

describe('look-alikes: a proposal', () => {
  const chosen = KINDS.filter((kind) => ['map', 'folder'].includes(kinds[kind].form.shape) && !kinds[kind].parent)
    // The API gives it no name: the one in the definitions is ours alone.
    .filter((kind) => kind !== 'oauth2Credential')

  test.each(chosen)('the name that the creation of a %s gives is found in its intent', (kind) => {
    const fields = { name: 'nаme', url: 'https://x.test', users: [], subscriptions: [], tags: [], accounts: [] }
    const { type, parameters } = kinds[kind].create!
    const desired = declare(`${kind}.nаme`, fields)
    const made = parameters([{ desired, actual: undefined, fields: [], children: [] }])
    expect(namesIn(made, type)).toContainEqual({ kind, name: 'nаme' })
  })

  test('is shown with the accounts and addresses in it that look like those of the wallet, of policies, and each other', () => {
    const [OWN, TWIN] = ['0xa1b2c30000000000000000000000000000001d4e', '0xa1b2c3000000000000000000000000eeeeee1d4e']
    const wallet = { address: 'wallet.hot', kind: 'wallet', name: 'hot', id: crypto.randomUUID(), fields: {} } as const
    const account = {
      address: "walletAccount.hot[\"m/44'/60'/0'/0/0 ethereum\"]",
      kind: 'walletAccount',
      name: "m/44'/60'/0'/0/0 ethereum",
      parent: wallet.address,
      fields: { name: 'main' },
      known: { address: OWN },
    } as const
    const policy = {
      address: 'policy.p',
      kind: 'policy',
      name: 'p',
      fields: { condition: `eth.tx.to == '${TWIN}'` },
    } as const
    const alike = (type: string, intent: object) =>
      lookAlikesOf({ type, intent, votes: [] } as never, { resources: [wallet, account, policy] })
    const accounts = ['main', 'mаin', 'new', 'nеw'].map((name) => ({ name }))
    const create = { createWalletAccountsIntent: { walletId: wallet.id, accounts } }
    expect(alike('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', create)).toMatchObject([
      { kind: 'walletAccount', name: 'mаin', like: account.address },
      { kind: 'walletAccount', name: 'nеw', like: 'walletAccount.hot.new' },
    ])
    const send = (to: string) =>
      alike('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', { ethSendTransactionIntent: { from: OWN, to } })
    expect(send(OWN)).toEqual([expect.objectContaining({ kind: 'address', name: OWN, like: 'policy.p' })])
    const third = TWIN.replace('eeeeee', 'dddddd')
    expect(send(third).at(-1)).toEqual({
      kind: 'address',
      name: third,
      like: account.address,
      difference: `${third} begins and ends like ${OWN} of ${account.address}, and differs from its character 33 on`,
    })
    // In a text of several lines, and not in what a policy only looks for.
    const signed = { signRawPayloadIntent: { signWith: OWN, payload: `pay\n${third}` } }
    expect(alike('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD', signed).map(({ name }) => name)).toContain(third)
    expect(send('0xa1b2c3000000000000000000000000eeeeee1d4f').map(({ name }) => name)).toEqual([OWN])
  })

  test('is shown beside what lives under a name that looks like its own, and so is who asks for it', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const { root } = service
    const folder = testFolder()
    const env = environmentOf(service, folder, root.privateKey)
    const { client } = await createTestUser(service, 'mallory')
    await createTestUser(service, 'mаllory')
    await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'proposals',
      effect: 'EFFECT_ALLOW',
      consensus: 'approvers.count() >= 2',
      condition: "activity.resource == 'POLICY'",
      notes: '',
    })
    const activity = await client.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'proposa1s',
      effect: 'EFFECT_ALLOW',
      condition: 'true',
      notes: '',
    })
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const policy = 'policy proposa1s looks like policy.proposals: `1` (U+0031) in place of `l` (U+006C)'
    const user = 'user mallory looks like user.mаllory: `a` (U+0061) in place of `а` (U+0430)'

    const shown = await quorate(['approve', activity.id], { env })
    expect(shown.stdout).toContain(`  beware     ${policy}\n  beware     ${user}\n`)
    const listed = await quorate(['activities'], { env })
    expect(listed.stdout).toContain(`    ${policy}\n    ${user}\n`)
    const { activities } = JSON.parse((await quorate(['activities', '--json'], { env })).stdout)
    expect(activities[0].lookAlikes).toEqual([
      {
        kind: 'policy',
        name: 'proposa1s',
        like: 'policy.proposals',
        difference: '`1` (U+0031) in place of `l` (U+006C)',
      },
      { kind: 'user', name: 'mallory', like: 'user.mаllory', difference: '`a` (U+0061) in place of `а` (U+0430)' },
    ])

    const defs = writeFiles(join(folder, 'defs'), {
      'acme.yaml': `organization: acme\nid: \${env.ACME_ORGANIZATION_ID}\npolicies: { prоposals: { effect: deny, condition: "true" } }\n`,
    })
    const planned = await quorate(['plan', defs], { env })
    expect(planned.stdout).toContain('+ policy.prоposals')
    expect(planned.stdout).toContain('! policy.proposals (live, in no definition) looks like policy.prоposals: ')
    const unmanaged = await quorate(['unmanaged', defs], { env })
    expect(unmanaged.stdout).toMatch(/^policy\.proposals +[0-9a-f-]{36} {2}looks like policy\.prоposals$/m)
    expect(unmanaged.stdout).toMatch(/^user\.mаllory +[0-9a-f-]{36} {2}looks like user\.mallory$/m)
  })
})

describe('look-alikes: a payment', () => {
  const [TREASURY, OTHER] = ['0x00000000000000000000000000000000000000f0', '0x00000000000000000000000000000000000000b0']
  const wallet = (walletName: string, address: string) => ({
    wallet: { walletId: walletName, walletName, imported: false, exported: false },
    accounts: [{ address, name: '' }],
  })
  const directory = {
    addressBook: { treasury: OTHER, payroll: OTHER, payro11: OTHER, 'wallet.treasury': OTHER },
    assets: {},
    privateKeys: [],
    wallets: [wallet('treasury', TREASURY), wallet('trеasury', OTHER)],
  }

  const [EXCHANGE, TWIN] = ['0xA1b2c30000000000000000000000000000001D4E', '0xa1b2fff00000000000000000000000000fff1d4e']

  test('to an address that begins and ends like one that has a name is refused; by a name it is shown beside its twin', () => {
    const own = { address: TWIN.replace('a1b2', 'c0de'), of: 'wallet.hot' }
    const known = { ...directory, addressBook: { exchange: EXCHANGE.toLowerCase() }, ownAddresses: [own] }
    const make = (to: string, directory: typeof known) =>
      makeOrder({ reference: 'A', from: TREASURY, to, amount: '1eth', chain: 'eip155:1' } as never, {
        directory,
        organization: { id: '', name: '', baseUrl: '' },
        now: 0,
      })
    expect(() => make(TWIN, known)).toThrow(
      `${TWIN} begins and ends like ${EXCHANGE.toLowerCase()} of receiver exchange, and differs from its character 7 on`,
    )
    expect(() => make(TWIN.replace('a1b2fff', 'c0de777'), known)).toThrow(
      'of wallet.hot, and differs from its character 7',
    )
    // Written otherwise it is the same; one more or less character at an end is another look.
    expect(make(EXCHANGE.toLowerCase(), known).parameters).toMatchObject({ to: EXCHANGE.toLowerCase() })
    expect(make(TWIN.replace('1d4e', '1d4f'), known).to).toBe(TWIN.replace('1d4e', '1d4f'))
    const both = { ...known, addressBook: { ...known.addressBook, other: TWIN } }
    expect(make(TWIN, both).parameters).toMatchObject({ to: TWIN })
    const check = createPartyCheck(both)
    expect(check({ from: TREASURY, to: 'other' })).toEqual([
      `receiver other: ${TWIN} begins and ends like ${EXCHANGE.toLowerCase()} of receiver exchange, and differs from its character 7 on`,
    ])
    expect(check({ from: TREASURY, to: 'exchange' })).toHaveLength(1)
    // Two rows of one batch.
    expect(check({ from: TREASURY, to: '0x7777000000000000000000000000000000007777' })).toEqual([])
    expect(check({ from: TREASURY, to: '0x7777000000000000000000000000000000017777' })).toHaveLength(1)
  })

  test('to an address that begins and ends like one that was paid before is refused, whatever that is called now', async () => {
    const organization = { id: 'acme', name: 'acme', baseUrl: '' }
    const make = (to: string, reference: string, given: Directory = directory) =>
      makeOrder({ reference, from: TREASURY, to, amount: '1eth', chain: 'eip155:1' } as never, {
        directory: given,
        organization,
        now: 0,
      })
    const paidBefore = EXCHANGE.toLowerCase()
    const { sends: ledger } = createPlanStore(join(testFolder(), 'data', 'plans'))
    const read = async (to: string, { id = organization.id } = {}) => {
      const paid = await readPaid(ledger, { receivers: [to], organizationId: id, directory })
      return { ...directory, paid }
    }
    await ledger.enter(make(paidBefore, 'INV-1'))
    const renamed = { ...directory, addressBook: { gone: TWIN.replace('a1b2', 'c0de') } }
    await ledger.enter(make('gone', 'INV-2', renamed))
    const { sendId } = await ledger.enter(make(TWIN.replace('a1b2', 'beef'), 'INV-3'))
    await ledger.putProgress({ sendId, reference: 'INV-3', state: 'rejected' })

    const twin = await read(TWIN)
    expect(() => make(TWIN, 'INV-4', twin)).toThrow(
      `${TWIN} begins and ends like ${paidBefore} of the receiver of send INV-1, and differs from its character 7 on`,
    )
    const ofName = TWIN.replace('a1b2fff', 'c0de777')
    const gone = await read(ofName)
    expect(() => make(ofName, 'INV-4', gone)).toThrow('of the receiver of send INV-2, and differs')
    // What was paid is paid again; what was rejected is no receiver, and that of another organization none of this one.
    expect(make(paidBefore, 'INV-4', await read(paidBefore)).to).toBe(paidBefore)
    expect(
      make(TWIN.replace('a1b2fff', 'beef777'), 'INV-4', await read(TWIN.replace('a1b2fff', 'beef777'))),
    ).toBeDefined()
    expect(make(TWIN, 'INV-4', await read(TWIN, { id: 'other' })).to).toBe(TWIN)
    const named = { ...twin, addressBook: { exchange2: TWIN } }
    expect(make(TWIN, 'INV-4', named).to).toBe(TWIN)
    expect(createPartyCheck(named)({ from: TREASURY, to: 'exchange2' })).toHaveLength(1)
  })

  test('from an account that is named like another of its wallet is shown so', () => {
    const accounts = [
      { address: TREASURY, name: 'hot' },
      { address: OTHER, name: 'hоt' },
    ]
    const [first] = directory.wallets
    const check = createPartyCheck({ ...directory, addressBook: {}, wallets: [{ ...first!, accounts }] })
    expect(check({ from: 'treasury/hot', to: TREASURY })).toEqual([
      'account treasury/hot looks like treasury/hоt: `o` (U+006F) in place of `о` (U+043E)',
    ])
  })

  test('the finding: an entry of the address book named like a wallet does not win where the wallet is meant', () => {
    const request = { reference: 'A', from: 'treasury', to: 'wallet.treasury', amount: '1eth', chain: 'eip155:1' }
    const order = makeOrder(request as never, { directory, organization: { id: '', name: '', baseUrl: '' }, now: 0 })
    expect(order.parameters).toMatchObject({ to: TREASURY })
  })

  test('is shown with what its parties may be taken for', () => {
    const check = createPartyCheck(directory)
    const from = 'wallet treasury looks like wallet trеasury: `e` (U+0065) in place of `е` (U+0435)'
    expect(check({ from: 'treasury', to: 'payroll' })).toEqual([
      from,
      'receiver payroll looks like receiver payro11: `l` (U+006C) in place of `1` (U+0031)',
    ])
    expect(check({ from: TREASURY, to: 'treasury' })).toEqual([
      'receiver treasury is another address than wallet treasury, which is paid as wallet.treasury',
      'receiver treasury looks like wallet trеasury: `e` (U+0065) in place of `е` (U+0435)',
    ])
    expect(check({ from: TREASURY, to: 'wallet.treasury/hot' })).toEqual([from])
    expect(check({ from: TREASURY, to: OTHER })).toEqual([])
  })
})
