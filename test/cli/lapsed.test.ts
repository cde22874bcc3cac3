/** What is said of approvals that will lapse or have lapsed, by the clock of an API that is not this machine's. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shortCode } from '../../src/plan/index.ts'
import { createTestUser, startTestService, type TestUser } from '../service/harness.ts'
import { environmentOf, keyFile, quorateShared as quorate, testFolder } from './harness.ts'

const HOUR_MS = 3_600_000

/** A service whose root quorum is all of root, bob and dana, and whose clock is moved; bob's and dana's commands there. */
async function threeOfThree() {
  let aheadMs = 0
  const service = await startTestService({ clock: () => Date.now() + aheadMs })
  onTestFinished(() => service.close())
  const [bob, dana] = [await createTestUser(service, 'bob'), await createTestUser(service, 'dana')]
  const userIds = [service.rootUserId, bob.userId, dana.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 3, userIds })
  const waiting = await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'cold', accounts: [] })
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey)
  const as = (name: string, { client }: TestUser) => {
    const options = ['--key-file', keyFile(folder, name, client.privateKey), '--data-dir', join(folder, name)]
    return (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      quorate([...args, ...options], { env: { ...env, ...more } })
  }
  return {
    service,
    code: shortCode(waiting.fingerprint),
    bob: as('bob', bob),
    dana: as('dana', dana),
    move: (hours: number) => {
      aheadMs += hours * HOUR_MS
    },
  }
}

test('lapsed approvals: a vote says who is still needed, and a review whose approvals lapse when, and whose have lapsed', async () => {
  const { code, bob, dana, move } = await threeOfThree()
  const voted = await bob(['approve', code, '--yes'])
  expect([voted.exit, voted.stdout]).toEqual([0, expect.stringContaining(`Approved ${code}: it still needs dana\n`)])
  expect(voted.stdout).not.toContain('now ')

  // By the clock of the service: this machine's is ten hours behind it. A `Date` names whole seconds, so a little more.
  move(10.01)
  const early = await dana(['review', code])
  expect(early.stdout).toMatch(/ requested +by root, 10 hours ago\n/)
  expect(early.stdout).toMatch(/ votes +lapse in 13 hours unless the activity completes first\n/)
  expect(early.stdout).not.toMatch(/ lapsed +/)
  expect((await dana(['approvals'])).stdout).toMatch(/ votes +lapse in 13 hours unless the activity completes first\n/)

  move(15)
  const late = await dana(['review', code])
  expect(late.exit, late.stderr).toBe(0)
  expect(late.stdout).toMatch(/ approved +by nobody\n/)
  expect(late.stdout).toMatch(/ needs +bob and dana and root; your approval counts\n/)
  expect(late.stdout).toMatch(/ lapsed +root, bob: these approvals count no more, until they approve again\n/)
  expect(late.stdout).not.toContain('unless the activity completes first')
  expect((await dana(['approvals'])).stdout).toMatch(/ lapsed +root, bob: these approvals count no more/)
  const { activity } = JSON.parse((await dana(['review', code, '--json'])).stdout)
  expect(activity).toMatchObject({ approvedBy: [], lapsedApprovals: ['root', 'bob'] })

  // A vote is dated by that clock too, or the service would refuse it.
  const again = await bob(['approve', code, '--yes'])
  expect([again.exit, again.stdout]).toEqual([0, expect.stringMatching(/: it still needs .*dana/)])
})

test('lapsed approvals: where an API does not tell its time, it is said that this machine’s clock is meant', async () => {
  const { service, code, dana } = await threeOfThree()
  const untimed = createServer((asked, answer) => {
    const headers = { ...asked.headers } as Record<string, string>
    delete headers['host']
    void (async () => {
      const body = await new Response(asked as unknown as ReadableStream).text()
      const given = await fetch(`${service.url}${asked.url}`, { method: 'POST', headers, body })
      answer.sendDate = false
      answer.writeHead(given.status, { 'content-type': 'application/json' }).end(await given.text())
    })()
  })
  await new Promise<void>((resolve) => untimed.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    untimed.closeAllConnections()
    untimed.close()
  })
  const at = `http://127.0.0.1:${(untimed.address() as AddressInfo).port}`
  const told = 'The API does not tell its time'
  expect((await dana(['review', code], { QUORATE_BASE_URL: at })).stderr).toContain(told)
  expect((await dana(['approvals'], { QUORATE_BASE_URL: at })).stderr).toContain(told)
  expect((await dana(['review', code])).stderr).not.toContain(told)
})
