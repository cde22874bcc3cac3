/**
 * Logins a second: `oauth_login` through the authentication proxy, and beside it the same activity submitted directly with a
 * stamp of the proxy's own key, so that the same policy judges both. They take turns in one process; the load comes from another.
 * The aim is a proxy that costs at most 1.3 times the CPU of the direct submit.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { activities, proxyEndpoints } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startHostileIssuers } from '../service/oauth/hostile-issuer.ts'
import { makePerson, nonceOf } from '../service/oauth/stage.ts'
import { startProxyStage } from '../service/proxy/stage.ts'
import { stealProxyKey } from '../service/proxy-key.ts'
import type { Load } from './submit.ts'

const AIM = 1.3
const WARM_UP = 2
const ROUNDS = 7
const LOGINS = 200
const CONNECTIONS = 8

const TYPE = 'ACTIVITY_TYPE_OAUTH_LOGIN'

/** Runs both in turns and prints their medians. */
export async function run(): Promise<void> {
  const issuers = await startHostileIssuers()
  const stage = await startProxyStage({ privateIssuers: [issuers.url], proxy: { rate: 1_000_000 } })
  const loader = fork(new URL('./submit-load.ts', import.meta.url))
  try {
    await stage.set({ allowedAuthMethods: ['oauth'] })
    const { organizationId } = await makePerson(stage, [await issuers.sign()])
    const stamper = createApiKeyStamper({ privateKey: new Secret((await stealProxyKey(stage)).privateKey) })
    let made = 0
    const newLogin = async () => {
      const { publicKey } = generateP256KeyPair()
      return { oidcToken: await issuers.sign({ nonce: nonceOf(publicKey) }), publicKey }
    }
    const direct = async (): Promise<[string, string]> => {
      const parameters = { ...(await newLogin()), expirationSeconds: '900' }
      const timestampMs = String(Date.now() + (made++ % 100_000))
      const body = JSON.stringify({ type: TYPE, timestampMs, organizationId, parameters })
      return [body, (await stamper.stamp(encodeUtf8(body))).value]
    }
    const proxied = async (): Promise<[string, string]> => [
      JSON.stringify({ ...(await newLogin()), organizationId }),
      '',
    ]
    const contenders = [
      { name: 'direct submit', url: stage.url, path: activities[TYPE].path, make: direct, rates: [] as Rate[] },
      {
        name: 'through the proxy',
        url: stage.proxyUrl,
        path: proxyEndpoints.oauth_login.path,
        make: proxied,
        headers: { 'x-auth-proxy-config-id': stage.configId },
        rates: [] as Rate[],
      },
    ]
    for (let round = 1 - WARM_UP; round <= ROUNDS; round++) {
      for (const { name, make, rates, ...where } of contenders) {
        const requests = await Promise.all(Array.from({ length: LOGINS }, make))
        const rate = await measure(loader, { ...where, connections: CONNECTIONS, requests })
        if (round > 0) rates.push(rate)
      }
    }
    for (const { name, rates } of contenders) {
      const [perSecond, cpuMs] = [median(rates.map((rate) => rate.perSecond)), median(rates.map((rate) => rate.cpuMs))]
      console.log(
        `  ${name.padEnd(20)}${perSecond.toFixed(0).padStart(6)} logins/s  ${cpuMs.toFixed(2)} ms of CPU each`,
      )
    }
    // Each round by itself: what slows the machine slows both.
    const ratios = contenders[1]!.rates.map(({ cpuMs }, round) => cpuMs / contenders[0]!.rates[round]!.cpuMs)
    const ratio = median(ratios)
    const verdict = ratio <= AIM ? '' : ', MISSED'
    console.log(`  proxy over direct, by CPU: ${ratio.toFixed(2)} (aim at most ${AIM}${verdict})`)
    console.log(`  by round: ${ratios.map((each) => each.toFixed(2)).join(' ')}`)
  } finally {
    loader.kill()
    await stage.close()
    await issuers.close()
  }
}

interface Rate {
  readonly perSecond: number
  /** Of the serving process, which others on the machine do not change. */
  readonly cpuMs: number
}

async function measure(loader: ChildProcess, load: Load): Promise<Rate> {
  const before = process.cpuUsage()
  loader.send(load)
  const [answer] = (await once(loader, 'message')) as [{ ms: number; refused: number }]
  const { length } = load.requests
  if (answer.refused > 0) throw new Error(`${answer.refused} of ${length} logins were refused`)
  const { user, system } = process.cpuUsage(before)
  return { perSecond: length / (answer.ms / 1_000), cpuMs: (user + system) / 1_000 / length }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
