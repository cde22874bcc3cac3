import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished, test } from 'vitest'
import { createStyle } from '../../src/cli/io.ts'
import { renderWhoCan, type WhoCanView } from '../../src/cli/views/who-can.ts'
import { renderWhoCanCsv, renderWhoCanMarkdown } from '../../src/cli/views/who-can-table.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { fromTimestamp } from '../../src/protocol/index.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { countActivities, environmentOf, quorateShared, testFolder, writeFiles } from './harness.ts'

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/analysis/who-can.schema.json'), 'utf8'))
const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(schema)
function readReport(text: string) {
  const report = JSON.parse(text)
  expect(validate(report), JSON.stringify(validate.errors)).toBe(true)
  return report
}

test('who-can: powers of the live organization with a key that may only read; nothing is submitted', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { root } = service
  const reading = generateP256KeyPair()
  const user = (userName: string, publicKey: string) => ({
    userName,
    apiKeys: [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  })
  const users = [user('audra', reading.publicKey), user('bob', generateP256KeyPair().publicKey)]
  await root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users })
  const accounts = [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ]
  for (const walletName of ['cold', 'hot']) await root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts })
  const { users: all } = await root.query('list_users', {})
  const bob = all.find(({ userName }) => userName === 'bob')!.userId
  await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'small payments',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${bob}')`,
    condition: "activity.kind == 'SIGN_TRANSACTION' && wallet.label == 'hot' && eth.tx.value < 1500000000000000000",
    notes: '',
  })
  const before = await countActivities(service)
  const env = environmentOf(service, testFolder(), reading.privateKey)

  const asked = await quorateShared(['who-can', 'sign', 'quorum', '--json'], { env })
  expect(asked.exit, asked.stderr + asked.stdout).toBe(0)
  const { rows, stateDigest } = readReport(asked.stdout)
  const rootLine = { policies: [], ways: [expect.objectContaining({ sets: [['root']] })] }
  expect(rows).toContainEqual({
    power: 'sign',
    activities: [
      'ACTIVITY_TYPE_SIGN_TRANSACTION (TRANSACTION_TYPE_ETHEREUM)',
      'ACTIVITY_TYPE_SIGN_TRANSACTION_V2 (TRANSACTION_TYPE_ETHEREUM)',
    ],
    over: ['wallet.hot'],
    lines: [
      rootLine,
      {
        condition: 'eth.tx.value < 1500000000000000000',
        policies: ['small payments'],
        ways: [{ sets: [['bob']], any: { count: 1, of: ['bob'] } }],
      },
    ],
  })
  expect(rows.at(-1)).toEqual({
    power: 'quorum',
    activities: ['ACTIVITY_TYPE_UPDATE_ROOT_QUORUM'],
    over: [],
    lines: [rootLine],
  })

  const cold = await quorateShared(['who-can', 'sign', '--wallet', 'cold'], { env })
  expect(cold.stdout).toContain('sign  wallet.cold\n')
  expect(cold.stdout).not.toContain('bob')
  expect(cold.stdout).toContain(stateDigest)

  const hot = ['who-can', 'sign', '--wallet', 'hot']
  // Long lists of types go on in lines of their own.
  expect(
    (await quorateShared(['who-can', 'wallets'], { env })).stdout
      .split('\n')
      .filter((one) => /^ {2}[A-Z_]/.test(one))
      .every((one) => one.length <= 104),
  ).toBe(true)
  const inEther = 'under condition: eth.tx.value < 1500000000000000000 (1.5 ETH)\n'
  expect((await quorateShared(hot, { env })).stdout).toContain(inEther)
  const page = await quorateShared([...hot, '--markdown'], { env })
  expect(page.stdout).toContain('| `eth.tx.value < 1500000000000000000` (1.5 ETH) |')

  const mine = await quorateShared(['who-can', 'sign', 'quorum', '--user', 'bob', '--csv'], { env })
  expect(mine.stdout.split('\r\n')).toEqual([
    'power,over,activities,people,condition,unless,policies,steps,at,state,unknown,policyIds',
    expect.stringMatching(
      /^sign,wallet\.hot,"ACTIVITY_TYPE_SIGN_TRANSACTION \(TRANSACTION_TYPE_ETHEREUM\); [^"]*",bob,eth\.tx\.value < 1500000000000000000,,small payments,,20[^,]*,sha256:[0-9a-f]+,,[0-9a-f-]{36}$/,
    ),
    '',
  ])
  const over = await quorateShared(['who-can', 'quorum', '--csv'], { env })
  expect(over.stdout).toMatch(/^quorum,,ACTIVITY_TYPE_UPDATE_ROOT_QUORUM,(?:"[^"]+"|[^,]+),,,the root quorum,,20/m)
  // What somebody has no part in others may have.
  const without = ['who-can', 'quorum', '--user', 'bob', '--indirect']
  expect((await quorateShared(without, { env })).stdout).toContain(
    '\nonly what bob takes part in: others may have these powers without bob\nbob can do nothing of what is asked about, alone or with others\n\nbob gets no more power of this kind by moves\n',
  )
  const withoutPage = await quorateShared([...without, '--markdown'], { env })
  expect(withoutPage.stdout).toContain('bob can do nothing of what is asked about, alone or with others.')
  expect(withoutPage.stdout).toContain('bob gets no more power of this kind by moves.')
  expect(readReport((await quorateShared([...without, '--json'], { env })).stdout)).toMatchObject({
    user: 'bob',
    rows: [],
  })
  const stranger = await quorateShared(['who-can', '--user', 'mallory'], { env })
  expect(stranger.stderr).toContain('error cli/unknown-user: there is no user `mallory`')

  const wrong = await quorateShared(['who-can', 'fly'], { env })
  expect([wrong.exit, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('error cli/unknown-power: there is no power `fly`'),
  ])
  // A power by the words of a plan, and a request that is a part of one.
  const inWords = await quorateShared(['who-can', 'change policies', '--csv'], { env })
  const byName = await quorateShared(['who-can', 'policies', '--csv'], { env })
  const undated = (csv: string) => csv.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')
  expect(byName.stdout).toMatch(/^policies,/m)
  expect([inWords.exit, undated(inWords.stdout)]).toEqual([byName.exit, undated(byName.stdout)])
  const part = await quorateShared(['who-can', 'sign transaction (solana)'], { env })
  expect([part.exit, part.stderr]).toEqual([1, expect.stringContaining('that is a part of `sign`: name this')])
  const lost = await quorateShared(['who-can', '--wallet', 'lost'], { env })
  expect(lost.stderr).toContain('error cli/unknown-wallet: there is no wallet `lost`')
  const key = await quorateShared(['who-can', '--key', 'cold'], { env })
  expect(key.stderr).toMatch(/error cli\/unknown-wallet: there is no private key `cold`\n {2}known +none\n/)
  for (const [one, other] of [
    ['--json', '--csv'],
    ['--csv', '--markdown'],
    ['--json', '--markdown'],
  ] as const) {
    const forms = await quorateShared(['who-can', 'sign', one, other], { env })
    expect([forms.exit, forms.stderr]).toEqual([
      1,
      expect.stringContaining(`expected \`${one}\` or \`${other}\`, got both`),
    ])
  }
  const both = await quorateShared(['who-can', '--key', 'cold', '--wallet', 'cold'], { env })
  expect(both.stderr).toContain('error cli/usage: expected `--wallet` or `--key`, got both')
  expect(await countActivities(service)).toBe(before)
})

test('who-can --why: the policies that are named, who made and last changed them, and who approved that', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { root } = service
  const [bob, eve] = [await createTestUser(service, 'bob'), await createTestUser(service, 'eve')]
  await root.submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [{ privateKeyName: 'signer', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] }],
  })
  await root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'hot', accounts: [] })
  const by = (id: string) => `approvers.any(user, user.id == '${id}')`
  const rule = { effect: 'EFFECT_ALLOW', condition: "activity.kind == 'EXPORT_PRIVATE_KEY'", notes: '' } as const
  const made = await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    ...{ policyName: 'exports', consensus: by(bob.userId) },
    ...rule,
  })
  await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    ...rule,
    ...{ policyName: 'other', consensus: 'true', condition: "activity.kind == 'CREATE_WALLET'" },
  })
  await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    ...{ policyName: 'no burning', effect: 'EFFECT_DENY', notes: '' },
    condition: "eth.tx.to == '0x0000000000000000000000000000000000000000' && eth.tx.value > 2000000000000000000",
  })
  const userIds = [service.rootUserId, bob.userId]
  await root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const policyId = made.result.createPolicyResult!.policyId
  const asked = await root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyConsensus: by(eve.userId) })
  await bob.client.submit('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: asked.fingerprint })
  const env = environmentOf(service, testFolder(), eve.privateKey)

  const words = ['who-can', 'export', '--key', 'signer', '--why']
  const { why, rows } = readReport((await quorateShared([...words, '--json'], { env })).stdout)
  expect(rows.map(({ over }: { over: string[] }) => over)).toEqual([['privateKey.signer']])
  expect(why).toMatchObject([
    { address: 'rootQuorum', fields: { threshold: 2 }, author: { type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' } },
    {
      address: 'policy.exports',
      id: policyId,
      fields: { effect: 'allow', consensus: "approvers.any(user, user.id == '${user.eve}')" },
      createdBy: 'root',
      author: { activityId: asked.id, userName: 'root', approvedBy: [{ userName: 'bob' }] },
    },
  ])
  const shown = await quorateShared(words, { env })
  expect(shown.stdout).toContain('  users      user.root, user.bob\n')
  expect(shown.stdout).toMatch(
    /policy\.exports {2}[0-9a-f-]{36}\n {2}effect +allow\n.*\n.*\n {2}made by root; last changed by root \(key root\) at .*, activity .*, approved by bob\n$/,
  )
  const page = await quorateShared([...words, '--markdown'], { env })
  expect(page.stdout).toContain('### export over `privateKey.signer`')
  expect(page.stdout).toMatch(/\| eve, or bob and root \| `exports`, the root quorum \|/)
  expect(page.stdout).toMatch(
    /\| `policy\.exports` `[0-9a-f-]{36}` \| effect: `allow`; .* \| made by root; last changed by root/,
  )

  // A DENY that depends on the request is named, and its amounts are told in coins.
  const sign = ['who-can', 'sign', '--wallet', 'hot']
  const denial = 'eth.tx.value > 2000000000000000000'
  expect((await quorateShared(sign, { env })).stdout).toMatch(
    /bob and root {2}as the root quorum\n {4}unless no burning denies: .*eth\.tx\.value > 2000000000000000000.* \(2 ETH\)\n/,
  )
  expect((await quorateShared([...sign, '--markdown'], { env })).stdout).toMatch(
    new RegExp(`\\| the root quorum \\| .* \\| no burning denies \`.*${denial}.*\` \\(2 ETH\\) \\|`),
  )
  const { rows: signing } = readReport((await quorateShared([...sign, '--json'], { env })).stdout)
  expect(signing.flatMap(({ lines }: { lines: object[] }) => lines)).toContainEqual(
    expect.objectContaining({ unless: [expect.stringContaining(denial)], deniedBy: ['no burning'] }),
  )
})

test('who-can: an answer that is not known says so, names the policies, and exits with 6', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { root } = service
  const user = (userName: string) => ({
    userName,
    apiKeys: [
      { apiKeyName: 'k', publicKey: generateP256KeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' as const },
    ],
    ...{ authenticators: [], oauthProviders: [], userTags: [] },
  })
  const users = Array.from({ length: 24 }, (_, at) => user(`user ${at}`))
  const made = await root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users })
  const ids = made.result.createUsersResult!.userIds
  const pairs = ids.slice(0, 12).map((id, at) => [id, ids[12 + at]!] as const)
  const consensus = pairs.map(([a, b]) => `approvers.any(user, user.id == '${a}' || user.id == '${b}')`).join(' && ')
  await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    ...{ policyName: 'one of each pair', effect: 'EFFECT_ALLOW', consensus },
    ...{ condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'", notes: '' },
  })
  const env = environmentOf(service, testFolder(), root.privateKey)
  const asked = await quorateShared(['who-can', 'wallets', '--json'], { env })
  expect(asked.exit, asked.stderr).toBe(6)
  const row = readReport(asked.stdout).rows.find(({ activities }: { activities: string[] }) =>
    activities.includes('ACTIVITY_TYPE_CREATE_WALLET'),
  )
  expect(row.lines).toEqual([{ policies: ['one of each pair'], ways: 'unknown' }])
  const shown = await quorateShared(['who-can', 'wallets'], { env })
  expect(shown.stdout).toContain('unknown: there are too many sets of people to try them all  by one of each pair')
  const csv = await quorateShared(['who-can', 'wallets', '--csv'], { env })
  expect([csv.exit, csv.stdout]).toEqual([
    6,
    expect.stringMatching(
      /,unknown,,,"one of each pair; the root quorum",.*,there are too many sets of people to try them all,[0-9a-f-]{36}\r\n/,
    ),
  ])
  expect((await quorateShared(['who-can', 'quorum'], { env })).exit).toBe(0)
})

test('who-can --csv: what is not known of the answer has rows of its own, and ways that are perhaps possible say so', () => {
  const at = '2026-11-28T00:00:00.000Z'
  const step = { activity: 'ACTIVITY_TYPE_UPDATE_USER_TAG', people: ['bob'], policies: ['tags'] }
  const path = { people: ['bob'], isConditional: true, steps: [step] }
  const report = {
    organization: { id: 'o', name: 'acme' },
    ...{ at, stateDigest: 'sha256:1', rows: [] },
    unread: ['wallet'],
    unknown: ['records begin later'],
    indirect: {
      rows: [{ power: 'sign', over: ['wallet.hot'], activities: ['ACTIVITY_TYPE_EXPORT_WALLET'], paths: [path] }],
      roots: [{ ...path, people: [], isConditional: false }],
      limits: ['more than 4 moves'],
    },
  }
  const cells = 'ACTIVITY_TYPE_UPDATE_USER_TAG: bob'
  expect(
    renderWhoCanCsv(report as unknown as WhoCanView, new Map([['tags', 'id-of-tags']]))
      .split('\r\n')
      .slice(1),
  ).toEqual([
    `as good as the root quorum,,,anybody,,,tags,${cells},${at},sha256:1,,id-of-tags`,
    `sign,wallet.hot,ACTIVITY_TYPE_EXPORT_WALLET,bob,,,tags,${cells},${at},sha256:1,perhaps: conditions are taken to be met,id-of-tags`,
    `,,,,,,,,${at},sha256:1,not read: wallet,`,
    `,,,,,,,,${at},sha256:1,more may be possible: records begin later,`,
    `,,,,,,,,${at},sha256:1,more may be possible: more than 4 moves,`,
    '',
  ])
})

test('who-can --csv: each wallet, line and step is told, with its conditions and what denies', () => {
  const lines = [
    { ways: 'unknown', policies: ['p'], condition: 'a == 1' },
    { ways: 'unknown', policies: ['q'], unless: ['b == 2', 'c == 3'] },
  ]
  const steps = [
    { activity: 'MOVE', people: ['bob'], policies: ['r'], condition: 'd == 4', unless: ['e == 5'] },
    { activity: 'USE', people: ['bob', 'carol'], policies: ['s'], condition: 'f == 6', unless: ['g == 7'] },
  ]
  const said = { power: 'sign', over: ['wallet.hot', 'wallet.cold'], activities: ['ONE', 'TWO'] }
  const report = {
    ...{ organization: { id: 'o', name: 'acme' }, at: 'today', stateDigest: 'sha256:1', unread: [] },
    rows: [{ ...said, lines }],
    indirect: {
      rows: [{ ...said, paths: [{ people: ['bob', 'carol'], isConditional: false, steps }] }],
      roots: [],
      limits: [],
    },
  }
  const [columns, ...rows] = renderWhoCanCsv(report as unknown as WhoCanView)
    .split('\r\n')
    .map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')))
  const told = rows.slice(0, -1).map((cells) => columns!.flatMap((name, at) => (cells[at] ? [[name, cells[at]]] : [])))
  const common = { power: 'sign', activities: 'ONE; TWO', at: 'today', state: 'sha256:1' }
  const unknown = 'there are too many sets of people to try them all'
  const expected = [
    { people: 'unknown', condition: 'a == 1', policies: 'p', unknown },
    { people: 'unknown', unless: 'b == 2; c == 3', policies: 'q; the root quorum', unknown },
  ]
  const moved = {
    people: 'bob and carol',
    ...{ condition: 'd == 4; f == 6', unless: 'e == 5; g == 7', policies: 'r; s' },
    steps: 'MOVE: bob; USE: bob and carol',
  }
  expect(told.map((cells) => Object.fromEntries(cells))).toMatchObject(
    [
      ...said.over.map((over) => expected.map((one) => ({ over, ...one }))),
      said.over.map((over) => ({ over, ...moved })),
    ]
      .flat()
      .map((one) => ({ ...common, ...one })),
  )
})

test('who-can --indirect: the way that is told is played in the service, and ends in a signature', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { root } = service
  const bob = await createTestUser(service, 'bob')
  const tagged = await root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'ops', userIds: [] })
  const tag = tagged.result.createUserTagResult!.userTagId
  const accounts = [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ]
  const wallet = await root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'cold', accounts })
  const [signWith] = wallet.result.createWalletResult!.addresses
  const allow = (policyName: string, consensus: string, condition: string) =>
    root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName,
      effect: 'EFFECT_ALLOW',
      consensus,
      condition,
      notes: '',
    })
  await allow('desk', `approvers.any(user, user.tags.contains('${tag}'))`, "activity.action == 'SIGN'")
  await allow(
    'tagging',
    `approvers.any(user, user.id == '${bob.userId}')`,
    "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'",
  )
  const env = environmentOf(service, testFolder(), bob.privateKey)

  const asked = await quorateShared(['who-can', 'sign', '--indirect', '--json'], { env })
  expect(asked.exit, asked.stderr).toBe(0)
  const { indirect } = readReport(asked.stdout)
  expect(indirect).toMatchObject({ roots: [], limits: [], rows: [{ power: 'sign', over: ['wallet.cold'] }] })
  expect(indirect.rows[0].paths).toMatchObject([
    {
      people: ['bob'],
      isConditional: false,
      steps: [
        { activity: 'ACTIVITY_TYPE_UPDATE_USER_TAG', people: ['bob'], policies: ['tagging'] },
        { people: ['bob'], policies: ['desk'] },
      ],
    },
  ])
  const shown = await quorateShared(['who-can', 'sign', '--indirect'], { env })
  expect(shown.stdout).toMatch(
    /sign, by moves {2}wallet\.cold\n(?: {2}[A-Z0-9_, ]+\n)+ {2}bob\n {4}1\. UPDATE_USER_TAG: bob {2}by tagging\n/,
  )
  const page = await quorateShared(['who-can', 'sign', '--indirect', '--markdown'], { env })
  expect(page.stdout).toMatch(
    /\| bob \| `ACTIVITY_TYPE_UPDATE_USER_TAG`: bob, by `tagging`; `ACTIVITY_TYPE_SIGN_[A-Z_0-9]+`: bob, by `desk` \|/,
  )

  const sign = {
    signWith: signWith!,
    payload: 'ab'.repeat(32),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  } as const
  await expect(bob.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', sign)).rejects.toThrow()
  await bob.client.submit('ACTIVITY_TYPE_UPDATE_USER_TAG', {
    userTagId: tag,
    addUserIds: [bob.userId],
    removeUserIds: [],
  })
  const signed = await bob.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', sign)
  expect(signed.status).toBe('ACTIVITY_STATUS_COMPLETED')
})

test('who-can --indirect: a step of no policy is the root quorum’s, or the right to one’s own credentials', () => {
  const step = { people: ['each of them'], policies: [] }
  const report: WhoCanView = {
    ...{ organization: { id: '', name: 'acme' }, at: '2026-01-01T00:00:00.000Z', stateDigest: 'sha256:1', unread: [] },
    rows: [],
    indirect: {
      roots: [
        {
          people: ['bob'],
          isConditional: false,
          steps: [
            { ...step, activity: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', gains: 'adds credentials of its own' },
            {
              ...step,
              activity: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
              gains: 'writes any policy that allows',
              condition: 'a == 1',
            },
          ],
        },
      ],
      rows: [],
      limits: [],
    },
  }
  const right = 'the built-in right to change one’s own credentials'
  const text = renderWhoCan(report, createStyle(false))
  expect(text).toContain(`1. CREATE_API_KEYS_V2: each of them  by ${right}\n`)
  expect(text).toContain('2. UPDATE_POLICY_V2: each of them  as the root quorum\n')
  expect(renderWhoCanMarkdown(report)).toContain(
    `\`ACTIVITY_TYPE_CREATE_API_KEYS_V2\`: each of them, by ${right}; \`ACTIVITY_TYPE_UPDATE_POLICY_V2\`: each of them, by the root quorum, under condition \`a == 1\``,
  )
  expect(renderWhoCanCsv(report)).toContain(`,"${right}; the root quorum",`)
})

test('who-can: as it was at a time, what has changed since, and what definitions would change; nothing is submitted', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey)
  const bob = await createTestUser(service, 'bob')
  const { userId } = bob
  const then = new Date(Date.now() + 1).toISOString()
  await new Promise((resolve) => setTimeout(resolve, 10))
  const consensus = `approvers.any(user, user.id == '${userId}')`
  const parameters = { policyName: 'p', effect: 'EFFECT_ALLOW', consensus, condition: "activity.resource == 'USER'" }
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', { ...parameters, notes: '' })
  const before = await countActivities(service)
  const ask = async (...args: readonly string[]) => {
    const ran = await quorateShared(['who-can', ...args], { env, cwd: folder })
    expect(ran.stderr).not.toContain('error')
    return { exit: ran.exit, stdout: ran.stdout }
  }
  const bobs = (text: string) => JSON.stringify(JSON.parse(text).rows ?? JSON.parse(text).changes).includes('"bob"')

  expect(bobs((await ask('users', '--json')).stdout)).toBe(true)
  const was = await ask('users', '--at', then, '--json')
  expect([was.exit, bobs(was.stdout), readReport(was.stdout).at]).toEqual([0, false, then])
  const since = await ask('users', '--diff', `${then}..now`)
  expect(since.stdout).toMatch(/create users[^\n]*\n[\s\S]*bob gains: alone/)
  expect((await ask('users', '--diff', `now..${then}`)).stdout).toMatch(/bob loses: alone/)

  writeFiles(folder, {
    'defs/acme.yaml': `organization: acme\nid: ${service.organizationId}\nusers: { bob: {} }\npolicies: {}\n`,
    'alone/acme.yaml': `organization: acme\nid: ${service.organizationId}\nusers: { ann: {}, ben: {} }\nrootQuorum: { threshold: 2, users: [ann, ben] }\npolicies: {}\n`,
  })
  const alone = await ask('policies', '--as-code', 'alone')
  expect([alone.exit, alone.stdout]).toEqual([0, expect.stringContaining('ann and ben')])
  const same = await ask('users', '--diff', 'now..defs', '--json')
  expect([same.exit, JSON.parse(same.stdout).changes]).toEqual([0, []])
  // Of powers that were not asked for nothing is said.
  expect((await ask('users', '--diff', 'now..defs')).stdout).toMatch(/Power\n +no change in who can change users\n$/)
  expect(await countActivities(service)).toBe(before)

  // Before the organization was made.
  const { users } = await service.root.query('list_users', {})
  const createdAt = users.find((one) => one.userId === service.rootUserId)!.createdAt
  const beganAt = new Date(fromTimestamp(createdAt)).toISOString()
  const at = '2020-01-01T00:00:00.000Z'
  const notYet = `the organization did not exist at ${at}: it began at ${beganAt}`
  const early = await ask('users', '--at', at)
  expect([early.exit, early.stdout.split('\n').slice(1)]).toEqual([0, [`${notYet}, and nobody could do anything`, '']])
  expect(readReport((await ask('--at', at, '--indirect', '--json')).stdout)).toMatchObject({ at, beganAt, rows: [] })
  expect((await ask('--at', at, '--csv')).stdout).toContain(`\n,,,nobody: ${notYet},,,,,${at},sha256:`)
  expect((await ask('--at', at, '--markdown')).stdout).toMatch(
    /\n\*\*Nobody\*\*: the organization did not exist at .*\.\n$/,
  )
  const whole = await ask('users', '--diff', `${at}..now`)
  expect(whole.exit).toBe(0)
  expect(whole.stdout).toContain(`\n${notYet}\n`)
  expect(whole.stdout).toMatch(/\n {2}\+ [^\n]*create users[^\n]*\n {4}any 1 of bob, root\n/)
  const moment = (ms: number) => new Date(fromTimestamp(createdAt) + ms).toISOString()
  expect(readReport((await ask('users', '--at', moment(0), '--json')).stdout)).not.toHaveProperty('beganAt')
  expect(readReport((await ask('users', '--at', moment(-1), '--json')).stdout)).toMatchObject({ beganAt, rows: [] })
  expect((await ask('users', '--diff', `${at}..${moment(-1)}`)).stdout).toContain(`at ${moment(-1)}: it began`)
  // Nobody is left whose making nothing has recorded: the beginning is not known.
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [userId] })
  await bob.client.submit('ACTIVITY_TYPE_DELETE_USERS', { userIds: [service.rootUserId] })
  const unsure = await quorateShared(['who-can', 'users', '--at', at], {
    env: environmentOf(service, folder, bob.privateKey),
    cwd: folder,
  })
  expect([unsure.exit, unsure.stdout]).toEqual([
    6,
    expect.stringContaining('more may be possible: nothing on record is so old'),
  ])

  for (const wrong of [
    ['--at', 'yesterday'],
    ['--at', '2999-01-01'],
    ['--diff', 'now'],
    ['--at', then, '--why'],
  ]) {
    const refused = await quorateShared(['who-can', 'users', ...wrong], { env, cwd: folder })
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('error cli/usage')])
  }
})

test('who-can --as-code: variables of the definitions are given by --var; who signs in office hours alone is told at any hour', async () => {
  const folder = join(import.meta.dirname, '../../definitions/treasury-desk')
  const asked = ['who-can', '--as-code', folder, '--var', 'ledgerUrl=https://ledger.test', '--json']
  const { exit, stdout, stderr } = await quorateShared(asked)
  expect(exit, stderr).toBe(0)
  expect(JSON.stringify(readReport(stdout))).toContain("CronSpan('0 8 * * 1-5', '10h', 'Europe/Zurich')")
})
