/** Batches as people send them: a file, a process, and everything real behind it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createPlanStore, type SendOrder } from '../../activities/index.ts'
import { bodyTimeOf } from '../../activities/send-times.ts'
import { makeBody } from '../../src/plan/index.ts'
import { activities } from '../../src/protocol/index.ts'
import { browserPath, openBrowser, openPageWithPasskeys } from '../browser.ts'
import { startBetween } from '../faults/between.ts'
import { complete } from '../service/handlers/steps.ts'
import { allowAlone, createTestUser, type TestUser } from '../service/harness.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { temporalOf } from '../temporal.ts'
import { ACME, countActivities, environmentOf, quorateShared as quorate, writeFiles } from './harness.ts'
import { scene } from './scene.ts'
import { startCommand } from './started.ts'

const PAYROLL = '0x00000000000000000000000000000000000000b0'
const REVERTS = '0x00000000000000000000000000000000000000fd'

const closers: (() => Promise<void>)[] = []

async function payday() {
  const anvil = await startAnvil()
  closers.push(() => anvil.kill())
  await anvil.rpc('anvil_setCode', REVERTS, '0x60006000fd')
  const { service, folder, env } = await scene({
    chains: { [SEPOLIA]: { url: anvil.url, pollMs: 50 } },
    operator: true,
    // Ten a second would be a second for each test of ten requests.
    more: { QUORATE_REQUESTS_PER_SECOND: '100' },
    atEnd: (close) => closers.push(close),
  })
  const { accounts, walletId } = await makeWallet(service.root, ETHEREUM)
  await anvil.fund(accounts[0]!.address, 100)
  const { wallet } = await service.root.query('get_wallet', { walletId })
  const definitions = `${ACME}addressBook: { payroll: "${PAYROLL}" }\n`
  writeFiles(folder, { 'defs/acme.yaml': definitions })
  const batch = (csv: string, more: readonly string[], withEnv: Readonly<Record<string, string>> = env) => {
    writeFiles(folder, { 'pay.csv': csv })
    return quorate(['send', 'defs', '--batch', 'pay.csv', ...more], { env: withEnv, cwd: folder })
  }
  const paid = async () => BigInt(await anvil.rpc<string>('eth_getBalance', PAYROLL, 'latest'))
  const file = (name: string) => readFileSync(join(folder, name), 'utf8')
  const from = wallet.walletName
  const rows = (name: string, amounts: readonly string[]) =>
    `ref,from,to,amount,chain\n${amounts.map((amount, row) => `${name}-${row},${from},payroll,${amount},${SEPOLIA}\n`).join('')}`
  return { service, folder, env, batch, paid, file, from, address: accounts[0]!.address, rows }
}

let day: Awaited<ReturnType<typeof payday>>
beforeAll(async () => {
  day = await payday()
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

describe('send --batch: a file is read as a whole first', () => {
  test('everything that is wrong is said at its place, and nothing is submitted', async () => {
    const before = await countActivities(day.service)
    const { from } = day
    const csv = [
      '\uFEFFref,from,to,amount,chain',
      `A-1,${from},payrol,1eth,${SEPOLIA}`,
      `A-2, ${from} ,"payroll",1.5,${SEPOLIA}`,
      `A-3,${from},0x52908400098527886E0F7030069857D2E4169ee7,1eth,${SEPOLIA}`,
      '',
      `A-1,tresury,payroll,1eth,${SEPOLIA}`,
      `A-4,${from},payroll,1eth,eip155:10`,
      `A-5,${from},payroll,1eth,ethereum`,
      `A-6,${from},payroll,1eth`,
      `,${from},payroll,1eth,${SEPOLIA}`,
      // The name of who pays stands in what is said of who is paid.
      `A-7,${from},wallet.${from}/nobody,1eth,${SEPOLIA}`,
      '',
    ].join('\r\n')
    const { exit, stderr } = await day.batch(csv, ['--yes'])
    expect(exit).toBe(1)
    const said = stderr.split('\n').filter((line) => line.startsWith('pay.csv:'))
    const column = (row: string, cell: string) => row.indexOf(cell) + 1
    const lines = csv.replace('\uFEFF', '').split('\r\n')
    expect(said).toEqual([
      `pay.csv:2:${column(lines[1]!, 'payrol,')}: error cli/unknown-name: there is no receiver \`payrol\``,
      `pay.csv:3:${column(lines[2]!, '1.5')}: error cli/usage: expected an amount with its unit, got \`1.5\``,
      `pay.csv:4:${column(lines[3]!, '0x52')}: error cli/usage: \`0x52908400098527886E0F7030069857D2E4169ee7\` does not have the checksum of its digits`,
      'pay.csv:6:1: error cli/reference-twice: reference `A-1` is there twice, first at 2:1',
      `pay.csv:6:5: error cli/unknown-name: there is no wallet \`tresury\``,
      `pay.csv:7:${column(lines[6]!, 'eip155:10')}: error cli/unknown-chain: the API does not send to chain \`eip155:10\``,
      `pay.csv:8:${column(lines[7]!, 'ethereum')}: error cli/usage: expected \`chain\` in CAIP-2 form, got \`ethereum\``,
      'pay.csv:9:1: error cli/csv-row: expected 5 cells, as the first line has, got 4',
      'pay.csv:10:1: error cli/usage: expected `ref`',
      `pay.csv:11:${column(lines[10]!, 'wallet.')}: error cli/usage: wallet \`${from}\` has no Ethereum account \`nobody\`; it has ${day.address}`,
    ])
    expect(stderr).toContain('did you mean `payroll`?')
    expect(stderr).toContain('10 faults; nothing was submitted.')
    expect(await countActivities(day.service)).toBe(before)
  })

  test('a dry run says what each row does, what they come to, and what who pays has; nothing is submitted', async () => {
    const before = await countActivities(day.service)
    const { exit, stdout } = await day.batch(day.rows('DRY', ['1.5eth', '98eth', '1eth']), ['--dry-run'])
    const each = (row: number, amount: string, wei: string) =>
      `  line ${row + 2}    DRY-${row}  ${amount} ETH, ${wei} wei  ${day.from} to payroll (${PAYROLL}) on ${SEPOLIA}  allow: the root quorum has approved, and policies are not asked`
    expect([exit, stdout.split('\n').slice(1)]).toEqual([
      0,
      [
        each(0, '1.5', '1500000000000000000'),
        each(1, '98', '98000000000000000000'),
        each(2, '1', '1000000000000000000'),
        `  total     100.5 ETH from ${day.from} on ${SEPOLIA} in 3 rows, of 100 ETH: too little`,
        `  sender    ${day.from} (${day.address}): 100 ETH now, as reported by the API  too little by the API: it takes at least 100.5105 ETH`,
        `  simulated nothing: QUORATE_CHAINS names no node of ${SEPOLIA}`,
        '',
      ],
    ])
    expect(stdout).toMatch(/^pay\.csv: 3 rows, batch [0-9a-f]{12}\n/)
    expect(await countActivities(day.service)).toBe(before)
  })

  test('options of one send, and a report in no known form, are refused beside it', async () => {
    for (const more of [
      ['--ref', 'A'],
      ['--report', 'paid.txt'],
    ]) {
      const { exit, stderr } = await day.batch(day.rows('X', ['1wei']), ['--yes', ...more])
      expect([exit, stderr]).toEqual([1, expect.stringContaining(more[0]!)])
    }
  })
})

describe('send --batch: a file is sent row by row', () => {
  test('each row once, however often; the report says what came of each', async () => {
    const paid = await day.paid()
    const csv = `${day.rows('PAY', ['1gwei', '2gwei', '3gwei'])}`.replace('payroll,2gwei', `${REVERTS},2gwei`)
    const withGas = csv.replace('chain\n', 'chain,gas\n').replaceAll(`${SEPOLIA}\n`, `${SEPOLIA},60000\n`)
    const report = ['--yes', '--report', 'paid.csv', '--json']
    // As from two terminals at once.
    const both = await Promise.all([day.batch(withGas, report), day.batch(withGas, report)])
    const [first, second] = both.map(({ stdout }) => JSON.parse(stdout))
    expect([both.map(({ exit }) => exit), first.counts]).toEqual([[6, 6], { included: 2, reverted: 1 }])
    expect(second.rows).toEqual(first.rows)
    expect(await day.paid()).toBe(paid + 4_000_000_000n)
    const [head, ...rows] = day.file('paid.csv').trim().split('\r\n')
    expect(head).toBe(
      'row,reference,from,to,amount,state,transactionHash,reason,activityId,block,fee,confirmations,reportedBy,nonce,next,replacedBy,recordedAt,nodes',
    )
    expect(rows.map((row) => row.split(',').slice(0, 6).join())).toEqual([
      `2,PAY-0,${day.from},payroll,1 gwei,included`,
      `3,PAY-1,${day.from},${REVERTS},2 gwei,reverted`,
      `4,PAY-2,${day.from},payroll,3 gwei,included`,
    ])
    expect(rows[1]).toContain('execution reverted')

    const before = await countActivities(day.service)
    const again = await day.batch(withGas, ['--yes', '--events'])
    const events = again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; state?: string })
    expect([again.exit, events[0]]).toEqual([6, expect.objectContaining({ version: 'quorate.events/1' })])
    expect(events.flatMap(({ state }) => state ?? [])).toEqual(['included', 'reverted', 'included'])
    expect(await countActivities(day.service)).toBe(before)

    const { stdout } = await quorate(['sends', '--batch', first.batchId.slice(0, 8), '--csv'], {
      env: day.env,
      cwd: day.folder,
    })
    expect(stdout).toBe(day.file('paid.csv'))

    const other = await day.batch(withGas.replace('3gwei', '4gwei'), ['--yes'])
    expect([other.exit, other.stderr]).toEqual([
      1,
      expect.stringMatching(/pay\.csv:4:1: error cli\/reference-taken: reference `PAY-2` stands for another send/),
    ])
  })

  test('what would be denied stops it, unless it is to be left out', async () => {
    const { privateKey } = (await createTestUser(day.service, 'carol')).client
    const env = environmentOf(day.service, writeFiles(join(day.folder, 'carol'), { none: '' }), privateKey, {
      ...temporalOf(day.env),
      QUORATE_DATA_DIR: day.env['QUORATE_DATA_DIR']!,
    })
    const before = await countActivities(day.service)
    const stopped = await day.batch(day.rows('NO', ['1wei', '2wei']), ['--yes'], env)
    expect([stopped.exit, stopped.stderr]).toEqual([4, expect.stringContaining('2 of 2 rows would be denied')])
    const left = await day.batch(day.rows('NO', ['1wei', '2wei']), ['--yes', '--skip-denied'], env)
    expect([left.exit, left.stdout]).toEqual([
      6,
      expect.stringContaining('pay.csv:2  NO-0  left out  no policy allows this send'),
    ])
    expect(await countActivities(day.service)).toBe(before)
  })

  test('--skip-denied: totals are of what is sent; what is left out has a line and a sum of its own', async () => {
    const dora = await createTestUser(day.service, 'dora')
    const env = environmentOf(day.service, writeFiles(join(day.folder, 'some'), { none: '' }), dora.client.privateKey, {
      ...temporalOf(day.env),
      QUORATE_DATA_DIR: day.env['QUORATE_DATA_DIR']!,
    })
    await allowAlone(day.service, dora, "activity.kind == 'ETH_SEND_TRANSACTION' && eth.tx.value < 10")
    const csv = day.rows('SOME', ['3wei', '20wei', '4wei', '31wei'])
    const sum = (wei: number) => `0.${String(wei).padStart(18, '0')} ETH from ${day.from} on ${SEPOLIA} in 2 rows`
    const linesOf = (text: string, word: string) => text.split('\n').filter((one) => one.startsWith(`  ${word} `))
    for (const more of [['--dry-run', '--skip-denied'], ['--skip-denied']]) {
      const { stdout, stderr, exit } = await day.batch(csv, more, env)
      const shown = more.includes('--dry-run') ? stdout : stderr
      expect(exit).toBe(more.includes('--dry-run') ? 0 : 1)
      expect(linesOf(shown, 'total')).toEqual([expect.stringMatching(`^  total     ${sum(7)}, of `)])
      expect(linesOf(shown, 'left out')).toEqual([`  left out  ${sum(51)}: denied`])
    }
    const dry = await day.batch(csv, ['--dry-run'], env)
    expect(linesOf(dry.stdout, 'denied')).toEqual([
      `  denied    ${sum(51)}: nothing is sent unless --skip-denied leaves it out`,
    ])
    const { totals, deniedTotals } = JSON.parse((await day.batch(csv, ['--dry-run', '--json'], env)).stdout)
    expect([totals, deniedTotals]).toMatchObject([
      [{ rows: 2, amount: { atomic: '7' } }],
      [{ rows: 2, amount: { atomic: '51' } }],
    ])
  })

  test('references of one file that look alike are told with both lines; where both pay the same, nothing is sent without --not', async () => {
    const before = await countActivities(day.service)
    const paid = await day.paid()
    const row = (reference: string, amount: string) => `${reference},${day.from},payroll,${amount},${SEPOLIA}\n`
    const csv = (...rows: readonly string[]) => `ref,from,to,amount,chain\n${rows.join('')}`
    const equal = csv(row('BILL-7', '5wei'), row('OTHER', '6wei'), row('bill\u20137', '5wei'))
    const words = 'line 4: reference bill\u20137 looks like BILL-7 of line 2, which is 5 wei to payroll'
    const dry = await day.batch(equal, ['--dry-run'])
    expect([dry.exit, dry.stdout]).toEqual([0, expect.stringContaining(`  beware    ${words}, as this one is`)])
    const json = await day.batch(equal, ['--dry-run', '--json'])
    expect(JSON.parse(json.stdout).alike).toEqual([
      { row: 4, reference: 'bill\u20137', like: { row: 2, reference: 'BILL-7' }, isEqual: true },
    ])
    const refused = await day.batch(equal, ['--yes'])
    expect([refused.exit, refused.stderr]).toEqual([4, expect.stringContaining(`error cli/reference-alike: ${words}`)])
    expect(await countActivities(day.service)).toBe(before)
    // Where they pay something else it is said, and sent.
    const differs = await day.batch(csv(row('NOTE-1', '7wei'), row('NOTE 1', '8wei')), ['--yes'])
    expect(differs.stderr).toContain('looks like')
    const meant = await day.batch(equal, ['--yes', '--not', 'BILL-7', '--json'])
    expect([meant.exit, JSON.parse(meant.stdout).counts]).toEqual([0, { included: 3 }])
    expect(await day.paid()).toBe(paid + 31n)
    // The same file again is only looked at.
    const again = await day.batch(equal, ['--yes', '--json'])
    expect([again.exit, JSON.parse(again.stdout).counts]).toEqual([0, { included: 3 }])
  })

  test('stopped, it submits nothing more, says what was not submitted, and goes on only when asked to', async () => {
    const { env, folder, service } = day
    const run = (...args: readonly string[]) => quorate(args, { env, cwd: folder })
    const fault = (...args: readonly string[]) => quorate(['fault', ...args, '--folder', service.dataDir])
    const before = await countActivities(service)
    const submits = ['--path', '/public/v1/submit/eth_send_transaction']
    expect((await fault('add', ...submits, '--status', '429', '--retry-after', '1')).exit).toBe(0)
    const csv = day.rows('HALT', Array(6).fill('1wei'))
    const sending = day.batch(csv, ['--yes'])
    const { batches } = createPlanStore(join(env['QUORATE_DATA_DIR']!, 'plans'))
    const begun = async () => {
      const all = await Promise.all((await batches.ids()).map((id) => batches.get(id)))
      const mine = all.find(({ rows }) => rows[0]!.order.reference === 'HALT-0')
      return mine && (await batches.survey(mine)).every(({ state }) => state === 'submitting') ? mine : undefined
    }
    await expect.poll(begun).toBeDefined()
    const { batchId } = (await begun())!

    const stopped = await run('sends', 'stop', batchId.slice(0, 8))
    expect([stopped.exit, stopped.stdout, stopped.stderr]).toEqual([
      0,
      [
        `Stopped batch ${batchId.slice(0, 12)} of pay.csv.`,
        '  not submitted  6 rows, lines 2 to 7; none of them will be',
        '  next           correct pay.csv and send it, or send it as it is with --resume',
        '',
      ].join('\n'),
      '',
    ])
    const { exit, stdout } = await sending
    expect([exit, stdout]).toEqual([6, expect.stringMatching(/: 6 rows not submitted, lines 2 to 7; --resume/)])
    await fault('clear')
    const again = await run('sends', 'stop', batchId, '--json')
    expect([again.exit, JSON.parse(again.stdout).counts]).toEqual([0, { stopped: 6 }])
    const refused = await day.batch(csv, ['--yes'])
    expect([refused.exit, refused.stderr]).toEqual([4, expect.stringContaining('6 of 6 rows were not submitted')])
    expect(await countActivities(service)).toBe(before)

    const resumed = await day.batch(csv, ['--yes', '--resume', '--json'])
    expect([resumed.exit, JSON.parse(resumed.stdout).counts]).toEqual([0, { included: 6 }])
    expect(await countActivities(service)).toBe(before + 6)
  })
})

describe('send --batch: people vote by the file', () => {
  let bob: TestUser & { readonly privateKey: string }
  let alice: string | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    bob = await createTestUser(day.service, 'bob')
    if (browserPath) {
      browser = await openBrowser()
      alice = await addPasskeyUser()
    }
    await complete(day.service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
      threshold: 2,
      userIds: [day.service.rootUserId, bob.userId],
    })
  })
  afterAll(async () => {
    await browser?.close()
  })

  /** Somebody without an API key, whose approval is enough. */
  async function addPasskeyUser(): Promise<string> {
    page = await openPageWithPasskeys(browser!)
    const making = startCommand(['login', '--new-passkey', 'laptop', '--json'], { env: day.env, home: day.folder })
    await press(await making.says(/http:\/\/localhost:\S+/))
    const { challenge, credentialId, attestation } = JSON.parse((await making.ended).stdout)
    const { clientDataJson, attestationObject } = attestation
    const transports = ['AUTHENTICATOR_TRANSPORT_INTERNAL']
    const made = { credentialId, clientDataJson, attestationObject, transports }
    const authenticators = [{ authenticatorName: 'laptop', challenge, attestation: made }]
    const user = { userName: 'alice', apiKeys: [], authenticators, oauthProviders: [], userTags: [] }
    const { userIds } = await complete(day.service.root, 'ACTIVITY_TYPE_CREATE_USERS_V3', { users: [user] })
    await allowAlone(day.service, { userId: userIds[0]! }, "activity.action == 'SIGN'")
    return userIds[0]!
  }
  let page: Page
  const press = async (url: string) => {
    await page.goto(url)
    const about = await page.locator('#about').textContent()
    await page.getByRole('button').click()
    await page.getByText('Return to the terminal').waitFor()
    return about
  }

  /** Bob has a machine and a copy of the file of their own. */
  function approver(files: Readonly<Record<string, string>>) {
    const folder = writeFiles(join(day.folder, `bob-${people++}`), {
      'defs/acme.yaml': day.file('defs/acme.yaml'),
      ...files,
    })
    const env = environmentOf(day.service, folder, bob.client.privateKey)
    const vote = (
      file: string,
      more: readonly string[] = ['--yes'],
      withEnv: Readonly<Record<string, string>> = {},
      choice: 'approve' | 'reject' = 'approve',
    ) =>
      quorate([choice, '--batch', file, '--definitions', 'defs', ...more], { env: { ...env, ...withEnv }, cwd: folder })
    return Object.assign(vote, { env, folder })
  }
  let people = 0
  const sends = async (...statuses: readonly string[]) => {
    const { activities: found } = await day.service.root.query('list_activities', {
      filterByStatus: statuses.map((status) => `ACTIVITY_STATUS_${status}`),
      filterByType: ['ACTIVITY_TYPE_ETH_SEND_TRANSACTION'],
    })
    return found
  }
  const votes = async () => {
    const all = await sends('CONSENSUS_NEEDED', 'COMPLETED', 'REJECTED')
    return all.flatMap(({ votes }) => votes.filter(({ userId }) => userId === bob.userId)).length
  }
  /** What was ordered under a reference on the sender's machine. */
  const orderOf = async (reference: string) => {
    const { batches } = createPlanStore(join(day.env['QUORATE_DATA_DIR']!, 'plans'))
    const all = await Promise.all((await batches.ids()).map((id) => batches.get(id)))
    const rows = all.flatMap(({ rows }) => rows)
    return rows.find(({ order }) => order.reference === reference)!.order
  }
  /** Submits what an order says once more, or something else, as another machine could under its reference. */
  const submitAgain = async (order: SendOrder, shift: number) => {
    const { type, parameters, organization } = order
    const body = {
      type,
      organizationId: organization.id,
      parameters,
      timestampMs: bodyTimeOf(order, Date.now(), shift),
    }
    const { status } = await day.service.root.send({ path: activities[type].path, text: makeBody(body) })
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  }

  test('it waits for approvals, which an approver gives by the same file; then it goes on', async () => {
    const csv = day.rows('WAIT', ['1wei', '2wei'])
    const waiting = await day.batch(csv, ['--yes'])
    expect([waiting.exit, waiting.stdout]).toEqual([3, expect.stringContaining('2 rows: 2 waiting;')])
    expect(waiting.stderr).toContain(
      '`quorate approve --batch pay.csv --definitions defs`; the same command goes on then',
    )
    const approve = approver({
      'march.csv': csv,
      'edited.csv': csv.replace('payroll,2wei', 'payroll,3wei'),
      'more.csv': day.rows('WAIT', ['1wei', '2wei', '5wei']),
    })
    const before = await votes()
    const edited = await approve('edited.csv')
    expect([edited.exit, edited.stderr]).toEqual([4, expect.stringContaining('1 of 2 rows are not what waits')])
    expect(edited.stderr).toContain('WAIT-1: value is 2, and the row says 3')
    const dear = await approve('march.csv', ['--yes'], { QUORATE_FEE_CAPS: `${SEPOLIA}=40` })
    expect([dear.exit, dear.stderr]).toEqual([
      4,
      expect.stringContaining('maxFeePerGas is 500000000000, and the row says 40000000000'),
    ])
    const unasked = await approve('march.csv', [])
    expect([unasked.exit, unasked.stderr]).toEqual([1, expect.stringContaining('nothing was voted')])
    expect(await votes()).toBe(before)
    const row = (line: number, wei: number) =>
      new RegExp(
        `^ {2}line ${line} {4}[0-9a-f]{4}-[0-9a-f]{4} {2}WAIT-${line - 2} {2}\\S+ ETH, ${wei} wei {2}${day.from} to payroll \\(${PAYROLL}\\) on ${SEPOLIA} {2}fee at most 500 gwei a unit of gas$`,
        'm',
      )
    expect(unasked.stdout).toMatch(row(2, 1))
    expect(unasked.stdout).toMatch(row(3, 2))
    const total = `  total     0.000000000000000003 ETH from ${day.from} on ${SEPOLIA} in 2 rows`
    expect(unasked.stdout.split('\n').filter((one) => one.includes('total'))).toEqual([total])

    const more = await approve('more.csv')
    expect([more.exit, more.stdout]).toEqual([6, expect.stringMatching(/^3 rows: 2 approved, 1 not submitted$/m)])
    expect(more.stdout).not.toContain('absent')
    expect(more.stderr).toContain('ask the payer whether `quorate send --batch` has been run with this very file')
    expect(await votes()).toBe(before + 2)
    const again = await approve('march.csv', ['--yes', '--json'])
    const { rows } = JSON.parse(again.stdout) as { rows: readonly { outcome: string; reference: string }[] }
    expect([again.exit, rows.map(({ reference, outcome }) => [reference, outcome])]).toEqual([
      0,
      [
        ['WAIT-0', 'ended'],
        ['WAIT-1', 'ended'],
      ],
    ])
    expect(await votes()).toBe(before + 2)
    const done = await day.batch(csv, ['--yes', '--json'])
    expect([done.exit, JSON.parse(done.stdout).counts]).toEqual([0, { included: 2 }])
  })

  test('approvals: of what waits, payee, amount and reference; of a batch the first rows and how many there are', async () => {
    const csv = day.rows('LIST', ['201wei', '202wei', '203wei', '204wei'])
    expect((await day.batch(csv, ['--yes'])).exit).toBe(3)
    const { env, folder } = approver({ 'march.csv': csv })
    const pays = (wei: number) => `pays      0.000000000000000${wei} ETH (${wei} wei) to payroll (${PAYROLL})`
    // Who has the ledger is told references and batches, too; anybody else what each pays.
    const shared = { ...env, QUORATE_DATA_DIR: day.env['QUORATE_DATA_DIR']! }
    const list = async (withEnv: typeof env, ...more: readonly string[]) =>
      (await quorate([...more, '--definitions', 'defs'], { env: withEnv, cwd: folder })).stdout
    const own = await list(shared, 'approvals')
    expect(own).toMatch(/^batch {6}[0-9a-f]{12} of pay\.csv: 4 of 4 rows; `quorate approve --batch FILE` votes on/m)
    for (const wei of [201, 202, 203]) expect(own).toContain(`           ${pays(wei)}\n`)
    expect(own.match(/^ {11}reference .*/gm)).toEqual(
      ['LIST-0', 'LIST-1', 'LIST-2'].map((name) => `           reference ${name}`),
    )
    expect(own).not.toContain(pays(204))
    // The ledger here has asked for them.
    expect(own.match(/^ {11}plan .*/gm)).toBeNull()
    expect(own.match(/^ {11}order +a payment that `quorate send` of this data folder asks for$/gm)).toHaveLength(3)
    expect(own).toContain(
      '           and       1 more of this batch: `quorate activities --waiting --limit 4` lists all\n',
    )
    const other = await list(env, 'approvals')
    expect(other.match(/^ {11}pays .*/gm)?.toSorted()).toEqual(
      [201, 202, 203, 204].map((wei) => `           ${pays(wei).replace('      ', '   ')}`),
    )
    expect(other).not.toContain('reference')
    expect(other).toContain('unknown: no plan is known here')
    const { approvals } = JSON.parse(await list(shared, 'approvals', '--json')) as {
      approvals: readonly { reference: string }[]
    }
    expect(approvals.toSorted((a, b) => (a.reference < b.reference ? -1 : 1))).toMatchObject(
      [201, 202, 203, 204].map((wei, row) => ({
        reference: `LIST-${row}`,
        batch: { file: 'pay.csv', line: row + 2, rows: 4 },
        sends: [{ receiver: { name: 'payroll', address: PAYROLL }, amount: { atomic: `${wei}`, atomicUnit: 'wei' } }],
      })),
    )
    const listed = await list(shared, 'activities', '--waiting')
    for (const row of [0, 1, 2, 3]) {
      expect(listed).toContain(`    reference LIST-${row}\n`)
      expect(listed).toContain(`    ${pays(201 + row).replace('      ', ' ')}\n`)
    }
    await quorate(['reject', '--batch', 'march.csv', '--definitions', 'defs', '--yes'], { env, cwd: folder })
  })

  test('approve --batch: a vote whose answer is lost is said as perhaps approved, and the same command again tells', async () => {
    const csv = day.rows('LOST', ['121wei', '122wei'])
    expect((await day.batch(csv, ['--yes'])).exit).toBe(3)
    const approve = approver({ 'march.csv': csv })
    let sent = 0
    const between = await startBetween(day.service.url, ({ submits }) =>
      submits && sent++ === 0 ? { kind: 'cut after' } : undefined,
    )
    onTestFinished(() => between.close())
    const before = await votes()
    const lost = await approve('march.csv', ['--yes'], { QUORATE_BASE_URL: between.url })
    expect([lost.exit, lost.stdout]).toEqual([6, expect.stringMatching(/^2 rows: 1 perhaps approved, 1 approved$/m)])
    expect(await votes()).toBe(before + 2)
    expect((await approve('march.csv')).stdout).toMatch(/^2 rows: 2 ended$/m)
  })

  test('nothing is approved where two wait for one reference, one has no fee ceiling, or references look alike', async () => {
    const csv = day.rows('TWIN', ['101wei'])
    expect((await day.batch(csv, ['--yes'])).exit).toBe(3)
    const order = await orderOf('TWIN-0')
    await submitAgain(order, 1)
    const { maxFeePerGas: _, ...rest } = order.parameters as Readonly<Record<string, string>>
    await submitAgain({ ...order, reference: 'DEAR-0', parameters: { ...rest, value: '102' } }, 0)
    const alike = day.rows('ALIKE-O', ['103wei']) + day.rows('ALIKE-0', ['104wei']).split('\n')[1]
    expect((await day.batch(alike, ['--yes'])).exit).toBe(3)
    const vote = approver({ 'twin.csv': csv, 'dear.csv': day.rows('DEAR', ['102wei']), 'alike.csv': alike })
    const before = await votes()

    const twin = await vote('twin.csv')
    expect([twin.exit, twin.stderr]).toEqual([4, expect.stringContaining('1 of 1 rows are not what waits')])
    expect(twin.stderr).toContain('TWIN-0: 2 activities wait under this reference: both would pay')
    const unbounded = await vote('dear.csv')
    expect([unbounded.exit, unbounded.stderr]).toEqual([
      4,
      expect.stringContaining('DEAR-0: it has no fee ceiling: the service would choose the price of a unit of gas'),
    ])
    const similar = await vote('alike.csv')
    expect([similar.exit, similar.stderr]).toEqual([
      4,
      expect.stringContaining('reference ALIKE-0-0 looks like ALIKE-O-0'),
    ])
    expect(await votes()).toBe(before)
    const meant = await vote('alike.csv', ['--yes', '--despite-mismatch'])
    expect([meant.exit, meant.stdout]).toEqual([0, expect.stringMatching(/^2 rows: 2 approved$/m)])
    expect(await votes()).toBe(before + 2)
  })

  test('reject --batch: everything that waits under the references is rejected after one question, and pays nothing', async () => {
    const csv = day.rows('NAY', ['111wei', '112wei'])
    expect((await day.batch(csv, ['--yes'])).exit).toBe(3)
    await submitAgain(await orderOf('NAY-0'), 1)
    const paid = await day.paid()
    // In the approver's file one row is another payment, and one was never submitted.
    const file = day.rows('NAY', ['111wei', '999wei', '1wei'])
    const vote = approver({ 'march.csv': file, 'two.csv': csv })
    const before = await votes()
    const unasked = await vote('march.csv', [], {}, 'reject')
    expect([unasked.exit, unasked.stderr]).toEqual([1, expect.stringContaining('nothing was voted')])
    expect(unasked.stdout).toContain('2 activities wait under this reference: both would pay')
    expect(unasked.stdout).toContain('value is 112, and the row says 999')
    expect(await votes()).toBe(before)
    const rejected = await vote('march.csv', ['--yes', '--reason', 'not agreed'], {}, 'reject')
    expect([rejected.exit, rejected.stdout]).toEqual([
      6,
      expect.stringMatching(/^3 rows: 3 rejected, 1 not submitted$/m),
    ])
    expect(await votes()).toBe(before + 3)
    const again = await vote('two.csv', ['--yes', '--json'], {}, 'reject')
    const { rows } = JSON.parse(again.stdout) as { rows: readonly { outcome: string; status: string }[] }
    const ended = { outcome: 'ended', status: 'ACTIVITY_STATUS_REJECTED' }
    expect([again.exit, rows]).toEqual([0, [expect.objectContaining(ended), expect.objectContaining(ended)]])
    const sent = await day.batch(csv, ['--yes', '--json'])
    expect([sent.exit, JSON.parse(sent.stdout).counts]).toEqual([6, { rejected: 2 }])
    expect(await day.paid()).toBe(paid)
    const late = await vote('two.csv', ['--yes'])
    expect([late.exit, late.stdout]).toEqual([6, expect.stringMatching(/^2 rows: 2 ended$/m)])
  })

  test('other ways to prove who somebody is are refused beside it', async () => {
    const vote = approver({ 'march.csv': day.rows('ANY', ['1wei']) })
    for (const choice of ['approve', 'reject'] as const) {
      const refused = await vote('march.csv', ['--email', 'bob@example.com'], {}, choice)
      expect([refused.exit, refused.stderr]).toEqual([
        1,
        expect.stringContaining('with the key in use, or with --passkey'),
      ])
    }
  })

  test.skipIf(!browserPath)(
    'a passkey votes for each row, and its page says which payment it is',
    {
      timeout: 120_000,
    },
    async () => {
      const csv = day.rows('TOUCH', ['121wei', '122wei'])
      expect((await day.batch(csv, ['--yes'])).exit).toBe(3)
      const { env, folder } = approver({ 'march.csv': csv })
      const args = ['approve', '--batch', 'march.csv', '--definitions', 'defs', '--yes', '--passkey']
      const voting = startCommand(args, { env, home: day.folder, cwd: folder })
      const url = /http:\/\/localhost:\S+/
      const pages = [await press(await voting.says(url))]
      pages.push(await press(await voting.says(new RegExp(`${url.source}[^]*?(${url.source})`))))
      expect(pages).toEqual([
        expect.stringMatching(/approves [0-9a-f]{4}-[0-9a-f]{4}: \S+ ETH to payroll under TOUCH-0/),
        expect.stringMatching(/approves [0-9a-f]{4}-[0-9a-f]{4}: \S+ ETH to payroll under TOUCH-1/),
      ])
      expect(await voting.ended).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^2 rows: 2 approved$/m) })
      const all = await sends('COMPLETED')
      const voted = all.filter(({ votes }) => votes.some(({ userId }) => userId === alice))
      expect(voted.map(({ intent }) => intent.ethSendTransactionIntent!.value).sort()).toEqual(['121', '122'])
    },
  )
})
