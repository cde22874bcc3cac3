/** Mistakes of people, told with the right next step; what each says stands in the table. `mistakes.long.ts` has each as a process. */
import { describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { environmentOf, quorate, quorateShared, testFolder } from './harness.ts'
import { MAY_BE_DENIED, MISTAKES, mistakeScene } from './mistake-table.ts'

/** Started as processes, which is what the long test is for; one of each kind of fault is enough here. */
const isBrief = ({ args: [command], code }: (typeof MISTAKES)[number]) =>
  !['serve', 'proxy', 'worker', 'codec-server', 'webhooks', 'up', 'help'].includes(command!) ||
  code.startsWith('local/')

describe('mistakes', () => {
  const check = mistakeScene(quorateShared)

  test('there are at least sixty', () => {
    expect(MISTAKES.filter(isBrief).length).toBeGreaterThanOrEqual(60)
  })

  test.each(MISTAKES.filter(isBrief))('$name', async (row) => {
    if (!row.isUnprivileged || MAY_BE_DENIED) await check(row)
  })

  test('the key in use is no reason, also for a process that has met no key before', async () => {
    const own = generateP256KeyPair().privateKey
    const env = environmentOf({ url: 'http://127.0.0.1:9', organizationId: ID }, testFolder(), own)
    const { exit, stdout, stderr } = await quorate(['approve', '7f3a-19c2', '--reason', own], { env })
    expect([exit, stderr]).toEqual([1, expect.stringContaining('cli/key-in-file')])
    expect(`${stdout}${stderr}`).not.toContain(own.slice(0, 32))
  })
})

const ID = '7c244a54-083f-4745-98d0-7111fa0c8852'
