/** How long a leaked key takes to be cut off in many sub-organizations, and whether the rate is kept meanwhile. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { environmentOf, keyFile } from '../cli/harness.ts'
import { keepsRate, mostIn, watchHoldUps, watchRequests } from '../reliability/door.ts'
import { line } from '../reliability/figures.ts'
import { createTestUser, startTestService } from '../service/harness.ts'

/** The highest published rate (docs/protocol/limits.md#requests-a-second). */
const PER_SECOND = 60

/** Most seconds from the first request of the command to the last that cuts something off, at that rate. */
const WHOLE_SECONDS = 120
/** Most seconds from the first request of the command to the first that cuts something off. */
const FIRST_SECONDS = 5

const apiKey = (apiKeyName: string, publicKey: string) => ({ apiKeyName, publicKey, curveType: 'API_KEY_CURVE_P256' })
const member = (userName: string, ...publicKeys: readonly string[]) => ({
  userName,
  apiKeys: publicKeys.map((one, index) => apiKey(`key ${index}`, one)),
  authenticators: [],
  oauthProviders: [],
})

/**
 * Registers one key in so many sub-organizations, each with somebody else who may delete it, and contains it. The bounds are of
 * requests, each of which takes its part of a second at the rate: a slow machine has as many of them as a fast one. Throws where one is
 * passed.
 */
export async function containFleet({ count }: { readonly count: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-fleet-'))
  const service = await startTestService()
  const door = await watchRequests(service.url)
  const holdUps = watchHoldUps()
  try {
    const keys = join(folder, 'keys')
    mkdirSync(keys)
    const { client } = await createTestUser(service, 'ci-bot')
    for (let at = 0; at < count; at++) {
      const ops = generateP256KeyPair()
      await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
        subOrganizationName: `c${at}`,
        rootUsers: [member('ops', ops.publicKey), member('ci', client.publicKey, generateP256KeyPair().publicKey)],
        rootQuorumThreshold: 1,
      })
      keyFile(keys, `c${at}`, ops.privateKey)
    }
    const rate = { QUORATE_BASE_URL: door.url, QUORATE_REQUESTS_PER_SECOND: String(PER_SECOND) }
    const env = environmentOf(service, folder, service.root.privateKey, rate)
    holdUps.reset()
    const { organizations } = await contain(client.publicKey, { keys, env })
    const { seen } = door
    const times = seen.map(({ at }) => at)
    const heldUpMs = holdUps.mostMs()
    const submits = seen.filter(({ path }) => path.includes('/submit/'))
    const [first, last] = [submits[0]!.at, submits.at(-1)!.at]
    const seconds = (ms: number) => (ms / 1000).toFixed(1)
    const requestsUntil = (until: number) => seen.filter(({ at }) => at <= until).length
    const firstAtRate = requestsUntil(first) / PER_SECOND
    const wholeAtRate = requestsUntil(last) / PER_SECOND
    const figures = {
      count,
      firstAtRate: firstAtRate.toFixed(1),
      wholeAtRate: wholeAtRate.toFixed(1),
      firstSeconds: seconds(first - seen[0]!.at),
      containSeconds: seconds(last - seen[0]!.at),
      wholeSeconds: seconds(seen.at(-1)!.at - seen[0]!.at),
      requests: seen.length,
      mostInASecond: mostIn(1_000, times),
      heldUpMs,
      left: organizations.slice(1).filter(({ proof }) => proof !== 'not registered').length,
    }
    if (organizations.length !== count + 1 || figures.left > 0) throw new RangeError(`not cut off: ${line(figures)}`)
    if (firstAtRate > FIRST_SECONDS || wholeAtRate > WHOLE_SECONDS) throw new RangeError(`too slow: ${line(figures)}`)
    if (!keepsRate(times, PER_SECOND, heldUpMs)) throw new RangeError(`the rate was passed: ${line(figures)}`)
    return figures
  } finally {
    holdUps.close()
    await door.close()
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the command, and gives its JSON. Exit 6 is no fault: in the organization itself the key is its user's last. */
function contain(
  publicKey: string,
  { keys, env }: { readonly keys: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly organizations: readonly { readonly proof: string }[] }> {
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const args = ['incident', 'key', publicKey, '--contain', '--yes', '--json', '--sub-organization-keys', keys]
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit) => (exit === 6 ? resolve(JSON.parse(text)) : reject(new Error(`exit ${exit}: ${text}`))))
  })
}
