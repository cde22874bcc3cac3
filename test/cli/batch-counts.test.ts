/** While a batch is followed its rows are counted as its report counts them, whatever the node of its chain says. */
import { afterAll, expect, test } from 'vitest'
import { type FaultNode, NONCE_TOO_LOW, startFaultNode } from '../faults/fault-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { payday } from './payday.ts'
import { startCommand } from './started.ts'

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

type Counts = Readonly<Record<string, number>>

test('send --batch: who follows and who asks for the report are told the same counts, also of what is unknown or stuck', async () => {
  let node!: FaultNode
  const day = await payday(
    (close) => closers.push(close),
    async (url) => {
      node = await startFaultNode(url)
      closers.push(() => node.close())
      return node.url
    },
  )
  const rows = [1, 2, 3].map((n) => `COUNT-${n},${day.walletName},payroll,${n}gwei,${SEPOLIA}\n`)
  writeFiles(day.folder, { 'count.csv': `ref,from,to,amount,chain\n${rows.join('')}` })
  node.fault = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)
  const words = ['send', 'defs', '--batch', 'count.csv', '--yes', '--events']
  const following = startCommand(words, { env: day.env, home: day.folder, cwd: day.folder })
  const batchId = await following.says(/"batchId":"(\w+)"/)
  const agree = (state: string) =>
    expect
      .poll(
        async () => {
          const { stdout } = await quorate(['sends', '--batch', batchId, '--json'], { env: day.env, cwd: day.folder })
          const told = [...following.said.stdout.matchAll(/"event":"progress".*?"counts":(\{[^}]*\})/g)].at(-1)
          const live = JSON.parse(told?.[1] ?? '{}') as Counts
          return { isThere: live[state] !== undefined, live, report: (JSON.parse(stdout) as { counts: Counts }).counts }
        },
        { timeout: 40_000, interval: 300 },
      )
      .toSatisfy(
        ({ isThere, live, report }) => isThere && JSON.stringify(sorted(live)) === JSON.stringify(sorted(report)),
      )
  await agree('unknown')
  node.fault = ({ method }) => (method === 'eth_sendRawTransaction' ? NONCE_TOO_LOW : undefined)
  await agree('stuck')
  node.fault = () => undefined
  await agree('included')
  expect((await following.ended).exit).toBe(0)
  expect(await day.paid()).toBe(6_000_000_000n)
})

const sorted = (counts: Counts) => Object.entries(counts).sort()
