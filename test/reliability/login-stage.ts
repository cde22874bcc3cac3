/** A service and its authentication proxy, each a process of its own on one data folder, that can be killed and come back. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { type ActivityType, activities, type JsonObject, queries } from '../../src/protocol/index.ts'
import type { Bootstrap } from '../../src/service/index.ts'
import { listWrittenMessages } from '../../src/service/messages/index.ts'
import { createApiKeyStamper, type StampHeader } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { commandFile } from '../programs.ts'
import { type HostileIssuers, startHostileIssuers } from '../service/oauth/hostile-issuer.ts'
import { codeIn } from '../service/one-time-passcodes/outbox.ts'
import { readClient, type ServingProcess, startProcess } from '../service/process.ts'

/** What the proxy, or the service, answered; undefined when nobody did. */
export type Reply = { readonly status: number; readonly body: JsonObject } | undefined

/** Stamps a text with what logs somebody in. */
export type StampText = (text: string) => Promise<Pick<StampHeader, 'name' | 'value'>>

export interface LoginStage {
  readonly issuers: HostileIssuers
  readonly tlsFetcherPublicKey: string
  /** Asks the proxy, as from an address of its own. */
  post(endpoint: string, body: object): Promise<Reply>
  /** Makes a request to the service itself, which sends the same bytes each time that it is called. */
  submit(
    type: ActivityType,
    organizationId: string,
    parameters: object,
    stamp: StampText,
  ): Promise<() => Promise<Reply>>
  /** Kills a process and starts it anew. */
  kill(victim: 'service' | 'proxy'): Promise<void>
  /** The codes that were sent to an address. */
  codesTo(contact: string): readonly string[]
  /** The codes that came after so many, once there are some; none where none come. */
  nextCodes(contact: string, had: number): Promise<readonly string[]>
  isSession(session: { readonly privateKey: string; readonly organizationId: string }): Promise<boolean>
  /** Ends both, and counts in what is kept. */
  examine(): Promise<{ readonly unsent: number; readonly twice: number; readonly integrity: string }>
  close(): Promise<void>
}

/** Far more than a message waits for a service that has just started. */
const MOST_WAITING_MS = 20_000
/** Sessions outlive a soak, however slow the machine. */
export const SESSION_S = '86400'
const SETTINGS = {
  allowedAuthMethods: ['email', 'sms', 'oauth', 'passkey', 'wallet'],
  sessionExpirationSeconds: SESSION_S,
}

export async function openLoginStage(): Promise<LoginStage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-logins-'))
  const issuers = await startHostileIssuers()
  const settings = { privateIssuers: [issuers.url] }
  let service: ServingProcess = await startProcess(dataDir, settings)
  const port = Number(new URL(service.url).port)
  const client = readClient(dataDir)
  const configure = async (type: 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY' | 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG') =>
    client.send(service.url, client.body(type, type.includes('UPDATE') ? SETTINGS : {}))
  await configure('ACTIVITY_TYPE_ENABLE_AUTH_PROXY')
  const updated = await configure('ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG')
  const configId = updated!.result.updateAuthProxyConfigResult!.configId!
  let proxy = await startProxy(dataDir, service.url)
  let addresses = 0

  const codesTo = (contact: string) =>
    listWrittenMessages(dataDir).flatMap(({ message }) => (message.to === contact ? [codeIn(message)] : []))
  const { tlsFetcherPublicKey } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Bootstrap
  return {
    issuers,
    tlsFetcherPublicKey,
    codesTo,
    post(endpoint, body) {
      addresses++
      const from = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`
      const headers = { 'x-auth-proxy-config-id': configId, 'x-forwarded-for': from }
      return ask(`${proxy.url}/v1/${endpoint}`, JSON.stringify(body), headers)
    },
    async submit(type, organizationId, parameters, stamp) {
      const text = JSON.stringify({ type, timestampMs: String(Date.now()), organizationId, parameters })
      const { name, value } = await stamp(text)
      return () => ask(`${service.url}${activities[type].path}`, text, { [name]: value })
    },
    async kill(victim) {
      if (victim === 'service') {
        await service.end('SIGKILL')
        // The proxy knows it by its port.
        service = await startProcess(dataDir, { ...settings, port })
      } else {
        await proxy.kill()
        proxy = await startProxy(dataDir, service.url)
      }
    },
    async nextCodes(contact, had) {
      const end = Date.now() + MOST_WAITING_MS
      for (;;) {
        const codes = codesTo(contact).slice(had)
        if (codes.length > 0 || Date.now() > end) return codes
        await pause(20)
      }
    },
    async isSession({ privateKey, organizationId }) {
      const body = JSON.stringify({ organizationId })
      const stamp = await createApiKeyStamper({ privateKey: new Secret(privateKey) }).stamp(encodeUtf8(body))
      const headers = { [stamp.name]: stamp.value }
      return (await fetch(`${service.url}${queries.whoami.path}`, { method: 'POST', headers, body })).status === 200
    },
    async examine() {
      await proxy.kill()
      await service.end('SIGTERM')
      return examine(dataDir)
    },
    async close() {
      await proxy.kill()
      await service.end('SIGKILL')
      await issuers.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function ask(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  try {
    const answer = await fetch(url, { method: 'POST', headers, body })
    return { status: answer.status, body: (await answer.json()) as JsonObject }
  } catch (error) {
    // The socket broke.
    if (error instanceof TypeError || (error instanceof Error && 'code' in error)) return undefined
    throw error
  }
}

async function startProxy(dataDir: string, baseUrl: string): Promise<{ readonly url: string; kill(): Promise<void> }> {
  const line = [
    commandFile(),
    'proxy',
    '--json',
    '--folder',
    dataDir,
    '--base-url',
    baseUrl,
    '--trusted-proxy',
    '127.0.0.1',
  ]
  const child: ChildProcess = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'ignore'] })
  const gone = once(child, 'exit')
  const [first] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), gone])
  if (typeof first !== 'string') throw new Error(`the proxy did not start: exit code ${first}`)
  return {
    url: (JSON.parse(first) as { authProxyUrl: string }).authProxyUrl,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** What the rows say: what was asked for and not sent, and what came twice of one code, one sign-up, one token. */
function examine(dataDir: string) {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  const done = (type: string) =>
    database.prepare("select intent from activities where type = ? and status = 'ACTIVITY_STATUS_COMPLETED'").all(type)
  const [asked, verified] = [done('ACTIVITY_TYPE_INIT_OTP_V3'), done('ACTIVITY_TYPE_VERIFY_OTP_V2')]
  const codes = verified.map(({ intent }) => (JSON.parse(String(intent)) as { otpId: string }).otpId)
  const homes = database.prepare('select name from organizations where parent_id is not null').all()
  // The sessions of one home, beside those that a refresh has ended: of one proof there is one.
  const logins =
    "select 1 from api_keys where credential_type = 'CREDENTIAL_TYPE_LOGIN' group by organization_id having count(*) > 1"
  const tooMany = database.prepare(logins).all()
  const integrity = String(database.prepare('pragma integrity_check').get()?.['integrity_check'])
  database.close()
  const again = (all: readonly unknown[]) => all.length - new Set(all).size
  return {
    unsent: asked.length - listWrittenMessages(dataDir).length,
    twice: again(codes) + again(homes.map(({ name }) => name)) + tooMany.length,
    integrity,
  }
}
